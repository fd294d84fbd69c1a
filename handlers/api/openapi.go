package api

import (
	_ "embed" // the document
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/export"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/trace"
	"marginlab/web"
)

// openapiText is the description without the parts generated from the program's tables:
// settings, quantities and sort orders.
//
//go:embed openapi.json
var openapiText []byte

type object = map[string]any

// Describe sends the OpenAPI description.
func (a *Handler) Describe(w http.ResponseWriter, _ *http.Request) error {
	doc, err := a.description()
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-cache")
	return web.JSON(w, http.StatusOK, doc)
}

// Description returns the complete OpenAPI 3.1 description, as a client reads it.
func Description() (doc map[string]any, err error) {
	complete, err := built()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(complete)
	if err != nil {
		return nil, err
	}
	return doc, json.Unmarshal(text, &doc)
}

// built returns the description completed from the program's tables.
func built() (object, error) {
	var doc object
	if err := json.Unmarshal(openapiText, &doc); err != nil {
		return nil, err
	}
	schemas := doc["components"].(object)["schemas"].(object)
	schemas["Spec"] = specSchema()
	schemas["NewGenerated"] = generatorsSchema()
	schemas["Report"] = reportSchema()
	describeModels(doc["paths"].(object))
	describeRefusals(doc["paths"].(object))
	describeTags(doc["paths"].(object))
	types := lists.Map(slices.Sorted(maps.Keys(web.Kinds())), func(kind string) string { return "/api/docs#" + kind })
	schemas["Problem"].(object)["properties"].(object)["type"].(object)["enum"] = types
	asked := schemas["NewSearch"].(object)["properties"].(object)
	for _, p := range []param.Param{eval.ScoreParam, eval.DesignParam, eval.PointsParam} {
		asked[p.Name] = paramSchema(p)
	}
	cell, shares := schemas["Cell"].(object)["properties"].(object), schemas["Fold"].(object)["properties"].(object)
	for _, s := range eval.Scores {
		cell[s.Name] = object{"type": "number", "description": s.Help + " Mean over the held-out folds."}
		cell[s.Name+"_sd"] = object{"type": "number", "description": "Standard deviation over the folds."}
	}
	for _, name := range []string{"accuracy", "auc", "log_loss", "brier", "mse", "r2"} {
		shares[name] = object{"type": "number"}
	}
	nested := schemas["Search"].(object)["properties"].(object)["nested"].(object)["properties"].(object)
	for _, s := range eval.Scores {
		nested[s.Name], nested[s.Name+"_sd"] = cell[s.Name], cell[s.Name+"_sd"]
	}
	schemas["Step"] = structSchema(reflect.TypeFor[trace.Step](), "Progress of a solver.")

	schemas["Status"] = object{"enum": results.RunStatuses}
	builtins := lists.Map(dataset.Builtins, func(b dataset.Builtin) string { return b.Slug })
	schemas["NewRun"].(object)["properties"].(object)["dataset"].(object)["examples"] = builtins

	doc["components"].(object)["parameters"].(object)["kind"].(object)["schema"].(object)["enum"] = dataset.Kinds()

	schemas["Model"].(object)["properties"].(object)["rule"].(object)["enum"] = ruleNames()

	var parameters []any
	for _, path := range []string{"/api/runs", "/api/runs.csv"} {
		parameters = append(parameters, doc["paths"].(object)[path].(object)["get"].(object)["parameters"].([]any)...)
	}
	for _, p := range parameters {
		p := resolved(doc, p)
		schema := p["schema"].(object)
		switch name := p["name"].(string); name {
		case "learner", "kernel", "conformal":
			row, _ := ml.Param(name)
			schema["enum"] = row.Names()
		case "rule":
			schema["enum"] = ruleNames()
		case "sort":
			schema["enum"], schema["default"] = results.FieldNames(), "created"
		}
	}
	return doc, nil
}

// describeModels adds the model formats other than JSON.
func describeModels(paths object) {
	const below = "/api/runs/{id}/model"
	asJSON := paths[below+".json"].(object)
	for _, f := range export.Formats {
		kind, _, _ := strings.Cut(f.MediaType, ";")
		paths[below+f.Extension] = object{"parameters": asJSON["parameters"], "get": object{
			"tags": []string{"runs"}, "operationId": "downloadModel" + f.Label, "summary": "Download the model for " + f.Label,
			"description": f.Help + " A model that the format cannot express is refused; the message names a format that can.",
			"responses": object{
				"200": object{"description": "The model.", "content": object{kind: object{"schema": object{"type": "string"}}}},
				"404": object{"$ref": "#/components/responses/NotFound"}, "422": object{"$ref": "#/components/responses/Invalid"},
				"default": object{"$ref": "#/components/responses/Problem"},
			},
		}}
	}
}

// describeRefusals adds to every operation the response without a key and the other errors that
// any request may get.
func describeRefusals(paths object) {
	for _, item := range paths {
		for _, operation := range item.(object) {
			operation, ok := operation.(object)
			if !ok {
				continue
			}
			responses := operation["responses"].(object)
			if public, ok := operation["security"].([]any); !ok || len(public) > 0 {
				responses["401"] = object{"$ref": "#/components/responses/Unauthorized"}
			}
			if responses["4XX"] == nil {
				responses["4XX"] = object{"$ref": "#/components/responses/Problem"}
			}
		}
	}
}

// describeTags adds the entity tags of data sets, runs, reports and models, for caching and
// conditional changes.
func describeTags(paths object) {
	for path, item := range paths {
		item := item.(object)
		get, ok := item["get"].(object)
		tagged := path == "/api/openapi.json" || path == "/api/datasets/{id}" || path == "/api/runs/{id}" || path == "/api/reports/{id}" || strings.HasPrefix(path, "/api/runs/{id}/model")
		if !ok || !tagged {
			continue
		}
		responses := get["responses"].(object)
		ok200 := responses["200"].(object)
		ok200["headers"] = object{"ETag": object{"description": "Changes when the content changes.", "schema": object{"type": "string"}}}
		responses["304"] = object{"description": "Not changed since If-None-Match."}
		for _, method := range []string{"put", "patch", "delete"} {
			if change, ok := item[method].(object); ok {
				parameters, _ := change["parameters"].([]any)
				change["parameters"] = append(parameters, object{"name": "If-Match", "in": "header", "schema": object{"type": "string"}, "description": "Makes the change only if the ETag is still this one."})
				change["responses"].(object)["412"] = object{"$ref": "#/components/responses/Problem"}
			}
		}
	}
}

// specSchema returns the schema of a spec, with a property per parameter.
func specSchema() object {
	properties := object{}
	for _, g := range ml.Groups {
		for _, p := range g.Params {
			s := paramSchema(p)
			s["x-group"] = g.Title
			properties[p.Name] = s
		}
	}
	return object{
		"type": "object", "additionalProperties": false, "properties": properties,
		"description": "Settings of a training. Omitted fields have their defaults; fields that do not apply under the other choices are ignored, and omitted from responses.",
	}
}

func generatorsSchema() object {
	var each []any
	for _, g := range dataset.Generators {
		properties := object{}
		for _, p := range g.Params {
			properties[p.Name] = paramSchema(p)
		}
		each = append(each, object{
			"type": "object", "additionalProperties": false, "required": []string{"generator"}, "description": g.Help,
			"properties": object{
				"generator":  object{"enum": []string{g.Name}},
				"parameters": object{"type": "object", "additionalProperties": false, "properties": properties, "description": "Omitted fields have their defaults."},
				"name":       object{"type": "string", "maxLength": 120, "description": "Default: made from the generator and the number of objects."},
			},
		})
	}
	return object{"anyOf": each}
}

func paramSchema(p param.Param) object {
	s := object{"title": p.Label, "description": p.Help}
	switch p.Kind {
	case param.Number, param.Integer:
		number := object{"type": "number"}
		if p.Kind == param.Integer {
			number["type"] = "integer"
		}
		if p.Min != 0 || p.Max != 0 {
			number["maximum"] = p.Max
			if p.OpenMin {
				number["exclusiveMinimum"] = p.Min
			} else {
				number["minimum"] = p.Min
			}
		}
		if len(p.Words) > 0 {
			s["anyOf"] = []any{number, object{"enum": p.Words}}
		} else {
			maps.Copy(s, number)
		}
		s["default"] = p.Default
		if v, err := strconv.ParseFloat(p.Default, 64); err == nil {
			s["default"] = v
		}
	case param.Switch:
		s["type"], s["default"] = "boolean", p.Default == "true"
	case param.Choice:
		help := lists.Map(p.Options, func(o param.Option) string { return "\n- `" + o.Name + "`: " + o.Help })
		s["type"], s["enum"], s["default"] = "string", p.Names(), p.Default
		s["description"] = p.Help + "\n" + strings.Join(help, "")
	case param.Text:
		s["type"], s["default"] = "string", p.Default
		if p.Name == "features" { // the one list; its text form is a line of CSV
			delete(s, "type")
			s["anyOf"] = []any{object{"type": "array", "items": object{"type": "string"}}, object{"type": "string"}}
		}
	}
	return s
}

func ruleNames() []ml.Rule {
	return lists.Map(ml.Rules, func(r ml.RuleEntry) ml.Rule { return r.Name })
}

// reportSchema returns the schema of a report, including the parameters it repeats.
func reportSchema() object {
	s := structSchema(reflect.TypeFor[ml.Report](), "Results of a training. Fields that do not apply are omitted.")
	for _, p := range ml.Params {
		if p.Telling && (p.Kind == param.Number || p.Kind == param.Integer) {
			kind := map[param.Kind]string{param.Number: "number", param.Integer: "integer"}[p.Kind]
			s["properties"].(object)[p.Name] = object{"type": kind, "description": p.Help}
		}
	}
	return s
}

// structSchema derives the schema of a flat struct from its JSON names, with the
// descriptions used on pages.
func structSchema(t reflect.Type, about string) object {
	help := map[string]string{}
	for _, q := range ml.Quantities {
		help[q.Name] = q.Help
	}
	properties, required := object{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		s := typeSchema(f.Type)
		if help[name] != "" {
			s["description"] = help[name]
		}
		properties[name] = s
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	return object{"type": "object", "additionalProperties": false, "required": required, "properties": properties, "description": about}
}

func typeSchema(t reflect.Type) object {
	if t == reflect.TypeFor[trace.Status]() {
		return object{"enum": []trace.Status{trace.Converged, trace.IterationLimit, trace.Cancelled, trace.Numerical}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": typeSchema(t.Elem())}
	case reflect.Struct:
		return structSchema(t, "")
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	}
	return object{"type": "string"}
}
