package ml_test

import (
	"reflect"
	"strings"
	"testing"

	"marginlab/ml"
)

// Every field of a report is explained, once, under its JSON name.
func TestQuantitiesCoverTheReport(t *testing.T) {
	t.Parallel()
	explained := map[string]int{}
	for _, q := range ml.Quantities {
		explained[q.Name]++
		if q.Label == "" || !strings.HasSuffix(q.Help, ".") {
			t.Errorf("%s: label %q, help %q", q.Name, q.Label, q.Help)
		}
	}
	for i := range reflect.TypeFor[ml.Report]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[ml.Report]().Field(i).Tag.Get("json"), ",")
		if explained[name] != 1 {
			t.Errorf("%s is explained %d times", name, explained[name])
		}
		delete(explained, name)
	}
	if len(explained) > 0 {
		t.Errorf("explained, but not in the report: %v", explained)
	}
}

// A value that does not apply is nil, not a typed nil.
func TestQuantitiesOfAnEmptyReport(t *testing.T) {
	t.Parallel()
	for _, q := range ml.Quantities {
		v := q.Value(&ml.Report{})
		if v == nil {
			continue
		}
		if k := reflect.ValueOf(v).Kind(); k == reflect.Pointer || k == reflect.Slice {
			t.Errorf("%s: %T", q.Name, v)
		}
	}
}
