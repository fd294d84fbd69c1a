package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/lists"
	apiview "marginlab/views/api"
	"marginlab/views/manual"
	"marginlab/web"
)

// Docs shows the description as a page, with code for every operation.
func (a *Handler) Docs(w http.ResponseWriter, r *http.Request) error {
	doc, err := a.description()
	if err != nil {
		return err
	}
	p := apiview.Docs{Page: a.Frame("JSON API", "manual"), Groups: documented(doc)}
	kinds := web.Kinds()
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		p.Problems = append(p.Problems, apiview.Field{Name: kind, Kind: fmt.Sprint(kinds[kind], " ", http.StatusText(kinds[kind]))})
	}
	return a.Render(w, r, apiview.Page(p))
}

// methods is the order of operations on a path.
var methods = []string{"get", "post", "put", "patch", "delete"}

// documented returns the operations of a description by their first tag.
func documented(doc object) (groups []apiview.Group) {
	by := map[string][]apiview.Operation{}
	paths := doc["paths"].(object)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := paths[path].(object)
		for _, method := range methods {
			operation, ok := item[method].(object)
			if !ok {
				continue
			}
			tag := list(operation["tags"])[0].(string)
			by[tag] = append(by[tag], documentedOperation(doc, path, method, item, operation))
		}
	}
	for _, t := range list(doc["tags"]) {
		tag := t.(object)
		name := text(tag["name"])
		groups = append(groups, apiview.Group{Name: name, Title: text(tag["x-displayName"]), Help: help(tag["description"]), Operations: by[name]})
	}
	return groups
}

// help converts a Markdown description to HTML.
func help(description any) string {
	html, err := manual.Fragment(text(description))
	if err != nil {
		return ""
	}
	return html
}

func documentedOperation(doc object, path, method string, item, operation object) apiview.Operation {
	o := apiview.Operation{ID: text(operation["operationId"]), Method: strings.ToUpper(method), Path: path, Summary: text(operation["summary"]), Help: help(operation["description"])}
	address, mark := path, "?"
	for _, p := range append(slices.Clone(list(item["parameters"])), list(operation["parameters"])...) {
		p := resolved(doc, p)
		if name := text(p["name"]); p["required"] == true && p["in"] == "query" {
			address += mark + name + "={" + name + "}"
			mark = "&"
		}
		o.Parameters = append(o.Parameters, apiview.Field{Name: text(p["name"]), Kind: kindOf(doc, p["schema"]), Help: help(p["description"]), Required: p["required"] == true})
	}
	body, isJSON := any(nil), false
	if request := resolved(doc, operation["requestBody"]); request != nil {
		if of, ok := request["content"].(object)["application/json"].(object); ok {
			schema := resolved(doc, of["schema"])
			body, isJSON = sample(doc, schema, 0), true
			properties, _ := schema["properties"].(object)
			for _, name := range slices.Sorted(maps.Keys(properties)) {
				field := resolved(doc, properties[name])
				o.Fields = append(o.Fields, apiview.Field{Name: name, Kind: kindOf(doc, properties[name]), Help: help(field["description"]), Required: required(schema, name)})
			}
		} else {
			body = "file"
		}
	}
	responses := operation["responses"].(object)
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		answer := resolved(doc, responses[status])
		o.Answers = append(o.Answers, apiview.Field{Name: status, Help: help(answer["description"])})
	}
	answer, _ := resolved(doc, responses["200"])["content"].(object)
	o.Curl, o.Python = examples(address, method, body, isJSON, answer["application/json"] != nil)
	if o.ID == "createDataset" {
		o.Python = `lab.upload("file")`
	}
	return o
}

// examples returns a request for curl and for the single-file client; isJSON and answersJSON
// describe its body and response. Names in braces in the path become variables.
func examples(path, method string, body any, isJSON, answersJSON bool) (curl, python string) {
	inShell, inPython := path, strconv.Quote(path)
	for {
		before, after, ok := strings.Cut(inShell, "{")
		if !ok {
			break
		}
		name, rest, _ := strings.Cut(after, "}")
		inShell = before + "$" + strings.ToUpper(name) + rest
		inPython = "f" + strings.TrimPrefix(inPython, "f")
	}
	curl = `curl -H "Authorization: Bearer $KEY"`
	if method != "get" && (method != "post" || body == nil) {
		curl += " -X " + strings.ToUpper(method)
	}
	curl += ` "$LAB` + inShell + `"`
	switch {
	case isJSON:
		asText, _ := json.Marshal(body) // from the description, so it encodes
		curl += " \\\n  -H 'Content-Type: application/json' -d '" + strings.ReplaceAll(string(asText), "'", `'\''`) + "'"
		if method == "post" {
			return curl, "lab.post(" + inPython + ", " + literal(body) + ")"
		}
		return curl, "lab.request(\"" + strings.ToUpper(method) + "\", " + inPython + ", json.dumps(" + literal(body) + ").encode())"
	case body != nil:
		curl += " \\\n  --data-binary @file"
		return curl, "lab.request(\"" + strings.ToUpper(method) + "\", " + inPython + ", open(\"file\", \"rb\").read(), \"application/octet-stream\")"
	case method == "get" && answersJSON:
		return curl, "lab.get(" + inPython + ")"
	case method == "get":
		return curl, "body, headers = lab.request(\"GET\", " + inPython + ")"
	}
	return curl, "lab.request(\"" + strings.ToUpper(method) + "\", " + inPython + ")"
}

// literal writes a value as Python does.
func literal(v any) string {
	switch v := v.(type) {
	case object:
		parts := lists.Map(slices.Sorted(maps.Keys(v)), func(name string) string { return strconv.Quote(name) + ": " + literal(v[name]) })
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		return "[" + strings.Join(lists.Map(v, literal), ", ") + "]"
	case bool:
		return map[bool]string{false: "False", true: "True"}[v]
	case nil:
		return "None"
	}
	b, _ := json.Marshal(v) // a string or number, so it encodes
	return string(b)
}

// sample returns a minimal value of a schema: its example or default, or an object of its required
// fields.
func sample(doc object, schema any, depth int) any {
	s := resolved(doc, schema)
	if s == nil || depth > 4 {
		return object{}
	}
	for _, name := range []string{"examples", "enum"} {
		if all := list(s[name]); len(all) > 0 {
			return all[0]
		}
	}
	if v, ok := s["example"]; ok {
		return v
	}
	if v, ok := s["default"]; ok {
		return v
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if all := list(s[name]); len(all) > 0 {
			return sample(doc, all[0], depth+1)
		}
	}
	kind := s["type"]
	if all := list(kind); len(all) > 0 {
		kind = all[0]
	}
	switch kind {
	case "string":
		return "…"
	case "number", "integer":
		return 1
	case "boolean":
		return true
	case "array":
		return []any{sample(doc, s["items"], depth+1)}
	}
	properties, _ := s["properties"].(object)
	v := object{}
	for name, of := range properties {
		if required(s, name) {
			v[name] = sample(doc, of, depth+1)
		}
	}
	return v
}

// kindOf names the kind of value a schema describes in a word or two.
func kindOf(doc object, schema any) string {
	s := resolved(doc, schema)
	if s == nil {
		return ""
	}
	if all := list(s["enum"]); len(all) > 0 && len(all) <= 8 {
		return strings.Join(lists.Map(all, func(v any) string { return fmt.Sprint(v) }), " | ")
	}
	if kinds := list(s["type"]); len(kinds) > 0 {
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(kinds), "[]"), " ", " | ")
	}
	return text(s["type"])
}

func required(schema object, name string) bool {
	return slices.Contains(list(schema["required"]), any(name))
}

// resolved follows a reference in the description; it returns nil for anything but an object.
func resolved(doc object, v any) object {
	o, _ := v.(object)
	ref, ok := o["$ref"].(string)
	if !ok {
		return o
	}
	at := doc
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at, _ = at[part].(object)
	}
	return at
}

func list(v any) []any {
	all, _ := v.([]any)
	return all
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
