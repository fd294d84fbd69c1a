package ml_test

import (
	"reflect"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// Every field of a report is explained, once, under its JSON name.
func TestQuantitiesCoverTheReport(t *testing.T) {
	t.Parallel()
	explained := map[string]int{}
	for _, q := range ml.Quantities {
		explained[q.Name]++
		require.Check(t, q.Label != "" && strings.HasSuffix(q.Help, "."),
			"%s: label %q, help %q", q.Name, q.Label, q.Help)
	}
	for i := range reflect.TypeFor[ml.Report]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[ml.Report]().Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue // the values: below
		}
		require.Equal(t, explained[name], 1, "%s is explained … times", name)
		delete(explained, name)
	}
	for _, p := range ml.Params {
		if p.Telling && p.Kind != param.Switch {
			require.Equal(t, explained[p.Name], 1, "%s is explained … times", p.Name)
			delete(explained, p.Name)
		}
	}
	require.Check(t, len(explained) == 0, "explained, but not in the report: %v", explained)
}

// A value that does not apply is nil, not a typed nil.
func TestQuantitiesOfAnEmptyReport(t *testing.T) {
	t.Parallel()
	for _, q := range ml.Quantities {
		v := q.Value(&ml.Report{})
		if v == nil {
			continue
		}
		k := reflect.ValueOf(v).Kind()
		require.Check(t, k != reflect.Pointer && k != reflect.Slice, "%s: %T", q.Name, v)
	}
}
