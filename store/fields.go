package store

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// FieldKind is the type of a field's values.
type FieldKind int

// The kinds of fields.
const (
	TextField   FieldKind = iota // compared without regard to case
	NumberField                  // float64
	SwitchField                  // "true" or "false"
	TimeField                    // a time; queries give a day, which matches all its times
	ListField                    // several texts
)

// Field is an attribute by which runs are listed, filtered, sorted and grouped.
type Field struct {
	Name    string // as written in queries and URLs
	Label   string // as shown on pages
	Help    string
	Kind    FieldKind
	Values  []string        // choices of a text; nil: any
	Unit    ml.Unit         // for a number
	Better  int             // for a number: as in an ml.Quantity
	Summary bool            // summarises a run: offered first on pages
	expr    string          // SQL
	of      func(r Run) any // as Value
}

// Value returns the field's value for a run: a float64, string, bool, time.Time or []string, or
// nil if it has none.
func (f Field) Value(r Run) any { return f.of(r) }

// aliases are other names of fields.
var aliases = map[string]string{"accuracy": "test_accuracy", "dataset": "data", "tags": "tag", "saved": "created", "svs": "support_vectors"}

// LookupField finds a field by its name or an alias, ignoring case if that is unambiguous.
func LookupField(name string) (Field, bool) {
	if to, ok := aliases[strings.ToLower(name)]; ok {
		name = to
	}
	found, n := Field{}, 0
	for _, f := range Fields() {
		if f.Name == name {
			return f, true
		}
		if strings.EqualFold(f.Name, name) {
			found, n = f, n+1
		}
	}
	return found, n == 1
}

// Fields returns all fields: those that lists show first, then the parameters and the numbers of a
// report.
var Fields = sync.OnceValue(fields)

// given returns v, nil if it is zero.
func given[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

func fields() []Field {
	statuses := []string{string(Queued), string(Running), string(Done), string(Failed), string(Cancelled)}
	rules := lists.Map(ml.Rules, func(r ml.RuleEntry) string { return string(r.Name) })
	all := []Field{
		{Name: "name", Label: "name", Help: "Name of the run.", Summary: true, expr: "name", of: func(r Run) any { return given(r.Name) }},
		{Name: "data", Label: "data", Help: "Current or last name of its data set.", Summary: true, expr: "dataset_name", of: func(r Run) any { return given(r.DatasetName) }},
		{Name: "tag", Label: "tags", Help: "Its tags: = finds a whole tag, ~ a part of one.", Kind: ListField, Summary: true, expr: "tags", of: func(r Run) any {
			if len(r.Tags) == 0 {
				return nil
			}
			return r.Tags
		}},
		{Name: "note", Label: "note", Help: "Its note.", expr: "nullif(note, '')", of: func(r Run) any { return given(r.Note) }},
		{Name: "status", Label: "status", Help: "Whether it is waiting, training, done, failed or cancelled.", Values: statuses, Summary: true, expr: "status", of: func(r Run) any { return given(string(r.Status)) }},
		{Name: "created", Label: "saved", Help: "When it was saved, such as 2026-11-22, in UTC.", Kind: TimeField, Summary: true, expr: "created", of: func(r Run) any { return given(r.Created) }},
		{Name: "finished", Label: "ended", Help: "When its training ended, in UTC.", Kind: TimeField, expr: "finished", of: func(r Run) any { return given(r.Finished) }},
		{Name: "data_hash", Label: "data hash", Help: "Equal points have equal hashes.", expr: "hash", of: func(r Run) any { return given(r.Hash) }},
		{Name: "course", Label: "course", Help: "Code of the course in which it was saved.", expr: "nullif(course, '')", of: func(r Run) any { return given(r.Course) }},
		{Name: "rule", Label: "rule", Help: "How f(x) decides the prediction.", Values: rules, expr: "rule", of: func(r Run) any {
			switch {
			case r.Report == nil:
				return nil
			case r.Report.Rule == "":
				return string(ml.Sign)
			}
			return string(r.Report.Rule)
		}},
	}
	// SQL of Run.EvidenceKind and Run.estimate.
	const tested = "(test_accuracy IS NOT NULL OR report ->> '$.test_mse' IS NOT NULL)"
	const onFolds = "(json_array_length(evidence) > 0 AND (evidence ->> '$[0].optimistic' = 0 OR NOT " + tested + "))"
	estimate := "(CASE WHEN " + onFolds + " THEN iif(evidence ->> '$[0].score' = 'accuracy', evidence ->> '$[0].%s', NULL) ELSE %s END)"
	bound := func(name, label, help string, of func(r Run) any) Field {
		return Field{Name: "estimate_" + name, Label: label, Help: help, Kind: NumberField, Unit: ml.Share, of: of, expr: fmt.Sprintf(estimate, name, "report ->> '$.test_interval."+name+"'")}
	}
	all = append(all,
		Field{
			Name: "estimate", Label: "accuracy, best evidence", Help: "Accuracy by the best available evidence: nested or plain cross-validation of fixed settings, else the test set, else the folds that chose the settings.", Kind: NumberField, Unit: ml.Share, Better: 1, Summary: true,
			expr: fmt.Sprintf(estimate, "mean", "test_accuracy"), of: func(r Run) any {
				if v, _, ok := r.estimate(); ok {
					return v
				}
				return nil
			},
		},
		bound("low", "estimate, low", "Lower end of the 95 % confidence interval of estimate.", func(r Run) any {
			if _, in, ok := r.estimate(); ok && in != nil {
				return in.Low
			}
			return nil
		}),
		bound("high", "estimate, high", "Upper end of the 95 % confidence interval of estimate.", func(r Run) any {
			if _, in, ok := r.estimate(); ok && in != nil {
				return in.High
			}
			return nil
		}),
		Field{
			Name: "evidence", Label: "evidence", Help: "Where estimate comes from.", Values: evidences, Summary: true,
			expr: "(CASE WHEN " + onFolds + " THEN iif(evidence ->> '$[0].scheme.nested', '" + FromNested + "', '" + FromFolds + "') WHEN " + tested + " THEN '" + FromTestSet + "' WHEN report IS NOT NULL THEN '" + FromTraining + "' END)",
			of:   func(r Run) any { return given(r.EvidenceKind()) },
		},
	)
	for _, p := range ml.Params {
		if p.Name != "features" {
			all = append(all, paramField(p))
		}
	}
	kinds := map[string]reflect.Kind{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[ml.Report]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		t := f.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		kinds[name] = t.Kind()
	}
	for _, q := range ml.Quantities {
		taken := slices.ContainsFunc(all, func(f Field) bool { return f.Name == q.Name })
		if f, ok := reportField(q, kinds[q.Name]); ok && !taken {
			all = append(all, f)
		}
	}
	return all
}

// paramField returns the field of a parameter: the value used if the report has it, else the one
// requested.
func paramField(p param.Param) Field {
	f := Field{Name: p.Name, Label: p.Label, Help: p.Help, expr: "(spec ->> '$." + p.Name + "')"}
	switch p.Name {
	case "learner", "kernel", "conformal":
		f.expr, f.Summary = p.Name, true
	case "C":
		f.expr, f.Summary = "c", true
	}
	asked := func(r Run) (param.Value, bool) {
		if !r.Spec.Applies(p.Name) {
			return param.Value{}, false
		}
		return r.Spec.Value(p.Name), true
	}
	switch p.Kind {
	case param.Number, param.Integer:
		f.Kind = NumberField
		number := "CASE WHEN json_type(spec, '$." + p.Name + "') IN ('integer', 'real') THEN spec ->> '$." + p.Name + "' END"
		switch {
		case p.Telling:
			f.expr, f.Summary = "coalesce(report ->> '$."+p.Name+"', "+number+")", true
		case p.Name != "C":
			f.expr = "(" + number + ")"
		}
		f.of = func(r Run) any {
			if p.Telling && r.Report != nil && r.Report.Values[p.Name].IsNumber() {
				return r.Report.Values.Number(p.Name)
			}
			if v, ok := asked(r); ok && v.IsNumber() {
				return v.Number()
			}
			return nil
		}
		return f
	case param.Switch:
		f.Kind, f.Values = SwitchField, []string{"true", "false"}
		f.expr = "(CASE spec ->> '$." + p.Name + "' WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)"
	case param.Choice:
		for _, o := range p.Options {
			if o.Name != none { // "none" counts as no value
				f.Values = append(f.Values, o.Name)
			}
		}
		f.expr = "nullif(" + f.expr + ", '" + none + "')"
	}
	f.of = func(r Run) any {
		if v, ok := asked(r); ok && v.Text() != "" && v.Text() != none {
			return v.Text()
		}
		return nil
	}
	return f
}

// reportField returns the field of a number or switch of a report.
func reportField(q ml.Quantity, kind reflect.Kind) (f Field, ok bool) {
	f = Field{Name: q.Name, Label: q.Label, Help: q.Help, Unit: q.Unit, Better: q.Better, expr: "(report ->> '$." + q.Name + "')"}
	switch q.Name {
	case "test_accuracy", "train_accuracy", "support_vectors":
		f.expr, f.Summary = q.Name, true // columns of their own
	case "fit_seconds", "test_balanced_accuracy", "test_f1", "test_mcc", "test_auc", "test_r2", "test_mse":
		f.Summary = true
	}
	switch kind {
	case reflect.Int, reflect.Float64:
		f.Kind = NumberField
	case reflect.Bool:
		f.Kind, f.Values = SwitchField, []string{"true", "false"}
		f.expr = "(CASE report ->> '$." + q.Name + "' WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)"
	default:
		return f, false
	}
	f.of = func(r Run) any {
		if r.Report == nil {
			return nil
		}
		switch v := q.Value(r.Report).(type) {
		case int:
			return float64(v)
		case bool:
			return map[bool]string{true: "true", false: "false"}[v]
		case float64:
			return v
		}
		return nil
	}
	return f, true
}
