package handlerstest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"marginlab/handlers/api"
)

// Object is a JSON object.
type Object = map[string]any

// description is read once for all clients.
var description = sync.OnceValues(api.Description)

// Description returns the OpenAPI document, which callers must not change.
func Description(t testing.TB) Object {
	t.Helper()
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// conforms returns the reason why the OpenAPI document does not allow an answer, or nil.
func conforms(doc Object, method, path string, a Answer) error {
	for pattern, item := range doc["paths"].(Object) {
		op, ok := item.(Object)[strings.ToLower(method)].(Object)
		if !ok || !matches(pattern, path) {
			continue
		}
		responses := op["responses"].(Object)
		described := cmp.Or(responses[fmt.Sprint(a.Status)], responses["default"])
		if described == nil {
			return fmt.Errorf("status %d is not described", a.Status)
		}
		content, _ := Deref(doc, described)["content"].(Object)
		if content == nil {
			if len(a.Body) > 0 {
				return fmt.Errorf("a body is not described")
			}
			return nil
		}
		kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
		media, ok := content[kind].(Object)
		if !ok {
			return fmt.Errorf("content type %q is not described", kind)
		}
		if !strings.HasSuffix(kind, "json") {
			return nil
		}
		var v any
		if err := json.Unmarshal(a.Body, &v); err != nil {
			return err
		}
		return Validate(doc, media["schema"], v, "answer")
	}
	if a.Status == http.StatusNotFound || a.Status == http.StatusMethodNotAllowed {
		return nil
	}
	return fmt.Errorf("not described")
}

// matches reports whether a path matches a pattern. Ids contain no dots.
func matches(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(w, g string) bool {
		before, rest, variable := strings.Cut(w, "{")
		if !variable {
			return w == g
		}
		_, after, _ := strings.Cut(rest, "}")
		// An id has no dot: {id}.csv and {id} are different paths.
		inner, ok := strings.CutPrefix(g, before)
		inner, ends := strings.CutSuffix(inner, after)
		return ok && ends && inner != "" && (rest != "id}" || !strings.Contains(inner, "."))
	})
}

// Resolve returns the part of the document that a reference names.
func Resolve(doc Object, ref string) any {
	var v any = doc
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		o, _ := v.(Object)
		v = o[part]
	}
	return v
}

// Deref returns an object of the document, following a reference.
func Deref(doc Object, v any) Object {
	o := v.(Object)
	if ref, ok := o["$ref"].(string); ok {
		return Deref(doc, Resolve(doc, ref))
	}
	return o
}

// Validate checks a value against a schema, with the part of JSON Schema that the document uses.
func Validate(doc Object, schema, v any, at string) error {
	s := Deref(doc, schema)
	if values, ok := s["enum"].([]any); ok && !slices.Contains(values, v) {
		return fmt.Errorf("%s: %v is none of %v", at, v, values)
	}
	if anyOf, ok := s["anyOf"].([]any); ok && !slices.ContainsFunc(anyOf, func(x any) bool { return Validate(doc, x, v, at) == nil }) {
		return fmt.Errorf("%s: %v is none of %v", at, v, anyOf)
	}
	fits := true
	switch s["type"] {
	case "object":
		_, fits = v.(Object)
	case "array":
		_, fits = v.([]any)
	case "string":
		_, fits = v.(string)
	case "boolean":
		_, fits = v.(bool)
	case "number":
		_, fits = v.(float64)
	case "integer":
		f, ok := v.(float64)
		fits = ok && f == math.Trunc(f)
	}
	if !fits {
		return fmt.Errorf("%s: %v is not of type %v", at, v, s["type"])
	}
	switch v := v.(type) {
	case float64:
		low, hasLow := s["minimum"].(float64)
		above, hasAbove := s["exclusiveMinimum"].(float64)
		high, hasHigh := s["maximum"].(float64)
		if hasLow && v < low || hasAbove && v <= above || hasHigh && v > high {
			return fmt.Errorf("%s: %v is out of range", at, v)
		}
	case []any:
		if s["items"] == nil {
			return nil
		}
		for i, x := range v {
			if err := Validate(doc, s["items"], x, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case Object:
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				return fmt.Errorf("%s: %v is missing", at, name)
			}
		}
		properties, _ := s["properties"].(Object)
		for name, x := range v {
			p, ok := properties[name]
			if !ok {
				if s["additionalProperties"] == false {
					return fmt.Errorf("%s: %s is not described", at, name)
				}
				continue
			}
			if err := Validate(doc, p, x, at+"."+name); err != nil {
				return err
			}
		}
	}
	return nil
}
