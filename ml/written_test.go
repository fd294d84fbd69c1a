package ml_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// written.json holds specs, models and reports as the first released format wrote them:
// what was stored then is read for ever.
func written(t *testing.T) (file struct {
	Specs []struct {
		JSON string
		Text map[string]string // of each parameter that applied
	}
	Models []struct {
		Model, Report string
		X             [][]float64
		F             []float64
	}
},
) {
	t.Helper()
	require.NoError(t, json.Unmarshal(require.Value(os.ReadFile("testdata/written.json"))(t), &file))
	require.Must(t, len(file.Specs) != 0 && len(file.Models) != 0, "the fixture is empty")
	return file
}

// later lists what came after the fixture and is missing in its texts: parameters at
// their defaults.
var later = strings.NewReplacer(`"multiclass":"ovo",`, "", `"target":"class",`, "")

func TestWrittenSpecsAreRead(t *testing.T) {
	t.Parallel()
	for _, row := range written(t).Specs {
		var strict ml.Spec
		if err := json.Unmarshal([]byte(row.JSON), &strict); err != nil {
			t.Errorf("%s: %v", row.JSON, err)
			continue
		}
		stored, err := ml.ReadStoredSpec([]byte(row.JSON))
		require.Equal(t, err, nil, "%s", row.JSON)
		require.Equal(t, cmp.Diff(strict, stored), "", "%s: strictly and leniently read differ", row.JSON)
		require.Equal(t, later.Replace(asJSON(t, strict)), row.JSON, "was written again")
		for _, p := range ml.Params {
			text, applied := row.Text[p.Name]
			require.Check(t, p.Name == "multiclass" || p.Name == "target" || p.Name == "calibration" || strict.Applies(p.Name) == applied,
				"%s: %s applies: %v", row.JSON, p.Name, !applied)
			got := strict.Value(p.Name)
			require.Check(t, !applied || got == p.Read(text), "%s: %s is %q, was %q", row.JSON, p.Name, got, text)
		}
	}
}

func TestWrittenModelsAndReportsAreRead(t *testing.T) {
	t.Parallel()
	for _, row := range written(t).Models {
		m := require.Value(ml.ReadModel(strings.NewReader(row.Model)))(t, "%s", row.Model)
		back, err := ml.ReadModel(strings.NewReader(asJSON(t, m))) // in the present format
		require.Must(t, err == nil, "%s written again: %v", row.Model, err)
		require.Equal(t, cmp.Diff(m, back), "", "%s was written again as another model", row.Model)
		for i, x := range row.X {
			f := m.Decision(x)
			require.Check(t, math.Abs(f-row.F[i]) <= 1e-12*magnitude(m, x), "%s kernel: f(%v) = %v, was %v", m.Kernel.Name, x, f, row.F[i])
		}

		var r ml.Report
		require.Equal(t, json.Unmarshal([]byte(row.Report), &r), nil, "%s", row.Report)
		var before, after map[string]any
		require.NoError(t, json.Unmarshal([]byte(row.Report), &before))
		require.NoError(t, json.Unmarshal([]byte(asJSON(t, r)), &after))
		delete(after, "test_interval") // which follows from the accuracy
		require.Equal(t, cmp.Diff(before, after), "", "report written again")
		for name, v := range m.Kernel.Values { // a model leaves zeros out, a report does not
			require.Check(t, r.Values[name] == v, "%s is %v in the report, %v in the model", name, r.Values[name], v)
		}
	}
}

// What was stored is shown as it was, though it could not be asked for today.
func TestStoredSpecsAreReadLeniently(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, json string
		text       map[string]string // shown
		invalid    string            // the fields that Validate names
	}{
		{"a bound that was narrowed", `{"C":1e12,"gamma":0.5}`, map[string]string{"C": "1000000000000", "gamma": "0.5", "kernel": "rbf", "tol": "0.001"}, "C"},
		{"a parameter that is no more", `{"width":0.1,"shrinking":true,"order":"second","grid":[1,2]}`, map[string]string{"width": "0.1", "shrinking": "true", "order": "second", "grid": "[1,2]", "C": "1"}, ""},
		{"a kernel that is no more", `{"kernel":"cubic","gamma":3}`, map[string]string{"kernel": "cubic", "gamma": "3", "C": "1"}, "kernel"},
		{"a learner that is no more", `{"learner":"forest","trees":100,"C":-1}`, map[string]string{"learner": "forest", "trees": "100", "C": "-1", "gamma": "auto"}, "learner"},
		{"a word that is no more", `{"gamma":"median"}`, map[string]string{"gamma": "median"}, "gamma"},
		{"values of other kinds", `{"standardize":1,"max_iter":2.5,"C":"","seed":-4}`, map[string]string{"max_iter": "2.5", "C": "", "seed": "0", "standardize": "true"}, "C max_iter"},
		{"columns that cannot be read", `{"features":"\"open","label":"y"}`, map[string]string{"features": "", "label": "y"}, ""},
	} {
		s := require.Value(ml.ReadStoredSpec([]byte(c.json)))(t, "%s", c.name)
		var shown map[string]any
		data := asJSON(t, s)
		require.NoError(t, json.Unmarshal([]byte(data), &shown))
		for name, want := range c.text {
			require.Equal(t, s.Text(name), want, "%s: %s", c.name, name)
			_, ok := shown[name]
			require.Check(t, ok || want == "", "%s: %s is not in %s", c.name, name, data)
		}
		again, err := ml.ReadStoredSpec([]byte(data))
		require.Check(t, err == nil && asJSON(t, again) == data, "%s: %s was written again as %s (%v)", c.name, data, asJSON(t, again), err)
		var fields []string
		if err := s.Validate(); err != nil {
			for _, p := range err.(param.Problems) {
				fields = append(fields, p.Field)
			}
		}
		require.Equal(t, strings.Join(fields, " "), c.invalid, "%s: Validate names", c.name)
		require.Check(t, s.Name(nil) != "", "%s: no name", c.name)
	}
	// A kernel that is not known says nothing about parameters that were not stored.
	s, _ := ml.ReadStoredSpec([]byte(`{"kernel":"cubic","gamma":3}`))
	require.Check(t, !s.Applies("coef0") && !s.Applies("degree") && s.Applies("gamma"),
		"of an unknown kernel only what was stored applies: %s", asJSON(t, s))
	for _, bad := range []string{`[]`, `null`, `"svm"`, `{`, ``} {
		require.Fails(t, require.Err(ml.ReadStoredSpec([]byte(bad))), "", "%q was read as a spec", bad)
	}
	var r ml.Report
	err := json.Unmarshal([]byte(`{"n":3,"kernel":"cubic","width":0.1,"colour":"red"}`), &r)
	require.Check(t, err == nil && r.N == 3 && r.Values.Number("width") == 0.1, "a report with what is no more: %+v, %v", r, err)
}
