package ml_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

func fixture(t testing.TB, name string) string {
	t.Helper()
	return string(require.Value(os.ReadFile(filepath.Join("testdata", name)))(t))
}

// TestFormat1IsReadForEver reads models as they were written before the format had a number. Their
// decisions equal the sum as it was then, bit for bit, and the recorded decisions: bit for bit on
// a processor with the same vector instructions, elsewhere to rounding.
func TestFormat1IsReadForEver(t *testing.T) {
	t.Parallel()
	recorded := require.JSON[map[string]struct {
		X [][]float64
		F []float64
	}](t, fixture(t, "model_format1_decisions.json"))
	require.Must(t, len(recorded) == 5, "%d models", len(recorded))
	exact, all := 0, 0
	for name, rec := range recorded {
		text := fixture(t, "model_format1_"+name+".json")
		m := require.Value(ml.ReadModel(strings.NewReader(text)))(t, "%s", name)
		require.Check(t, m.Rule == ml.Sign && len(m.Machines) == 1 && m.Objects == dataset.KindVectors,
			"%s: %d machines over %s under the rule %s", name, len(m.Machines), m.Objects, m.Rule)
		positive, negative := m.Sides(0)
		require.Check(t, positive == "b" && negative == "a", "%s: %s against %s", name, positive, negative)
		stored, err := ml.ReadStoredModel([]byte(text))
		require.Must(t, err == nil, "%s: %v", name, err)
		again := require.JSON[*ml.Model](t, asJSON(t, m), "%s", name)
		then := format1(t, text)
		for i, x := range rec.X {
			f := m.Decision(x)
			for what, want := range map[string]float64{"by the sum as it was": then(x), "as stored": stored.Decision(x), "in the new format": again.Decision(x)} {
				require.Check(t, math.Float64bits(f) == math.Float64bits(want),
					"%s: row %d: f = %v, %s %v", name, i, f, what, want)
			}
			require.Check(t, near(f, rec.F[i], 1e-14*magnitude(m, x)/math.Max(1, math.Abs(rec.F[i]))) && (f >= 0) == (rec.F[i] >= 0),
				"%s: row %d: f = %v, recorded %v", name, i, f, rec.F[i])
			all++
			if f == rec.F[i] {
				exact++
			}
		}
	}
	t.Logf("%d of %d recorded decisions to the last bit", exact, all)
}

// format1 is f of a model of format 1, evaluated as it was then.
func format1(t testing.TB, text string) func(x []float64) float64 {
	t.Helper()
	m := require.JSON[struct {
		Scaler     *dataset.Scaler
		Projection *ml.Projection
		Kernel     kernel.Kernel
		Conformal  *conformal.Map
		Vectors    [][]float64
		Coef       []float64
		B          float64
	}](t, text)
	z := mat.NewDense(len(m.Vectors), len(m.Vectors[0]), nil)
	for i, v := range m.Vectors {
		z.SetRow(i, v)
		if m.Conformal != nil {
			m.Coef[i] *= m.Conformal.At(v)
		}
	}
	sum := kernel.NewSum(m.Kernel, z, m.Coef)
	return func(x []float64) float64 {
		if m.Scaler != nil {
			x = m.Scaler.Apply(mat.NewDense(1, len(x), x)).RawRowView(0)
		}
		if p := m.Projection; p != nil {
			y := make([]float64, len(p.Components))
			for k, c := range p.Components {
				for j := range c {
					y[k] += c[j] * (x[j] - p.Mean[j])
				}
			}
			x = y
		}
		f := sum.At(x)
		if m.Conformal != nil {
			f *= m.Conformal.At(x)
		}
		return f + m.B
	}
}

func TestFormatNumbers(t *testing.T) {
	t.Parallel()
	for number, says := range map[string]string{"3": "platt", "4": "fill", "5": "directed", "6": "sparse", "7": "later", "1000000": "newer than this version", "1": "expected 2", "0": "expected 2", "-1": "expected 2", `"two"`: "not a model", "2.5": "not a model"} {
		text := strings.Replace(aModel(t), `"format":2`, `"format":`+number, 1)
		_, err := ml.ReadModel(strings.NewReader(text))
		_, lenient := ml.ReadStoredModel([]byte(text))
		for _, err := range []error{err, lenient} {
			require.Fails(t, err, says, "format %s", number)
		}
	}
}

// TestStoredModelsAreReadLeniently reads what a file may not hold.
func TestStoredModelsAreReadLeniently(t *testing.T) {
	t.Parallel()
	for _, text := range []string{aModel(t), fixture(t, "model_format1_conformal.json")} {
		for name, text := range map[string]string{
			"a field that is not known": change(t, text, "colour", `"red"`),
			"one inside another":        change(t, text, "kernel.width", "1"),
			"a bound that has narrowed": change(t, text, "kernel.gamma", "-1"),
		} {
			require.Fails(t, require.Err(ml.ReadModel(strings.NewReader(text))), "", "%s: a file may hold it", name)
			require.Check(t, json.Unmarshal([]byte(text), new(ml.Model)) != nil, "%s: a request may hold it", name)
			m, err := ml.ReadStoredModel([]byte(text))
			require.Check(t, err == nil && len(m.Scores(mat.NewDense(1, 2, nil)).RawRowView(0)) == 1,
				"%s: %v", name, err)
		}
		for name, text := range map[string]string{
			"a kernel that is not known":      change(t, text, "kernel.name", `"cubic"`),
			"lists that differ in length":     change(t, text, "features", `["x1"]`),
			"something else than an object":   "[]",
			"a scale that nothing divides by": change(t, text, "scaler.scale", "[1,0]"),
		} {
			require.Fails(t, require.Err(ml.ReadStoredModel([]byte(text))), "", "%s is read", name)
		}
	}
}

// aModel is the JSON of a small model with every part: scaler, conformal map.
func aModel(t testing.TB) string {
	return asJSON(t, train(t, toy(), spec(t, "conformal", "eigen")).Model)
}

// ofTexts returns a model of vectors with many columns, two of them other than 0.
func ofTexts(t testing.TB) *ml.Model {
	const n, d = 8, 1000
	rows, labels := make([][]float64, n), make([]string, n)
	for i := range n {
		rows[i] = make([]float64, d)
		rows[i][i], rows[i][d-1-i%2] = 1, -0.5
		labels[i] = []string{"no", "yes"}[i%2]
	}
	words := lists.Make(d, func(k int) string { return fmt.Sprint("w", k) })
	return train(t, require.Value(dataset.FromRows(words, rows, labels))(t), spec(t, "standardize", "false")).Model
}

// Models of texts are written without their zeros.
func TestSparseVectors(t *testing.T) {
	t.Parallel()
	m := ofTexts(t)
	text := asJSON(t, m)
	require.Check(t, strings.Contains(text, `"format":6`) && strings.Contains(text, `"sparse":{"columns":[[0,999],[1,998],`) && !strings.Contains(text, `"vectors":`),
		"with zeros: %s", text[strings.Index(text, `"supports"`):])
	require.Equal(t, cmp.Diff(m, require.Value(ml.ReadModel(strings.NewReader(text)))(t)), "", "written and read")
}

// change replaces a field of a model in JSON: "a.b" for one inside another, "a.0" for an element.
func change(t testing.TB, text, path, value string) string {
	t.Helper()
	m := require.JSON[any](t, text)
	in := m
	keys := strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		switch v := in.(type) {
		case map[string]any:
			in = v[k]
		case []any:
			var i int
			require.Value(fmt.Sscan(k, &i))(t)
			in = v[i]
		}
	}
	in.(map[string]any)[keys[len(keys)-1]] = json.RawMessage(value)
	return asJSON(t, m)
}

func TestReadModelRefuses(t *testing.T) {
	t.Parallel()
	type faulty map[string]struct{ text, says string }
	refuses := func(format string, cases faulty) {
		for name, c := range cases {
			m, err := ml.ReadModel(strings.NewReader(c.text))
			require.Fails(t, err, c.says, "%s: %s", format, name)
			require.Check(t, err == nil || m == nil, "%s: %s: a model beside an error", format, name)
		}
	}
	good, projected := aModel(t), asJSON(t, train(t, toy(), spec(t, "project", "pca")).Model)
	old, oldProjected := fixture(t, "model_format1_conformal.json"), fixture(t, "model_format1_projected.json")
	for _, text := range []string{good, projected, old, oldProjected} {
		require.Value(ml.ReadModel(strings.NewReader(text + "\n")))(t)
	}
	both := func(good, projected, component string) faulty {
		set := func(path, value string) string { return change(t, good, path, value) }
		return faulty{
			"nothing":             {"", "EOF"},
			"not JSON":            {"x1,x2\n1,2\n", "not a model"},
			"null":                {"null", "null"},
			"a list":              {"[]", "not a model"},
			"an empty object":     {"{}", "no features"},
			"two models":          {good + good, "unexpected data"},
			"cut":                 {good[:len(good)/2], "not a model"},
			"unknown field":       {set("colour", `"red"`), "colour"},
			"unknown inner field": {set("kernel.width", "1"), "width"},
			"no features":         {set("features", "[]"), "no features"},
			"feature twice":       {set("features", `["x1","x1"]`), "x1"},
			"more features":       {set("features", `["x1","x2","x3"]`), "expected 3"},
			"unknown kernel":      {set("kernel.name", `"cubic"`), "cubic"},
			"no gamma":            {set("kernel.gamma", "0"), "gamma"},
			"negative gamma":      {set("kernel.gamma", "-1"), "gamma"},
			"short scaler":        {set("scaler.mean", "[1]"), "scaler"},
			"zero scale":          {set("scaler.scale", "[1,0]"), "above 0"},
			"one component":       {change(t, projected, "projection.components", "["+component+"]"), "2 components"},
			"short component":     {change(t, projected, "projection.components", "[[1,0],[1]]"), "projection"},
		}
	}
	refuses("format 2", both(good, projected, "[1,0]"))
	refuses("format 1", both(old, oldProjected, "[1,0,0,0]"))

	set := func(path, value string) string { return change(t, good, path, value) }
	refuses("format 2", faulty{
		"infinite":             {set("machines.0.b", "1e999"), "not a model"},
		"unknown rule":         {set("rule", `"vote"`), "vote"},
		"no rule":              {set("rule", `""`), "rule"},
		"strings":              {set("objects", `"strings"`), "objects"},
		"one class":            {set("classes", `["yes","yes"]`), "two classes"},
		"no class":             {set("classes", `[]`), "two classes"},
		"class without a name": {set("classes", `["yes",""]`), "classes"},
		"classes of a value":   {set("rule", `"value"`), "no classes"},
		"machines":             {set("rule", `"ovr"`), "expected 2 machines"},
		"no machine":           {set("machines", "[]"), "expected 1 machines"},
		"unknown in a machine": {set("machines.0.colour", "1"), "colour"},
		"no vectors":           {set("supports.vectors", "null"), "vectors"},
		"short vector":         {change(t, change(t, set("supports.vectors", "[[1]]"), "machines.0.coef", "[1]"), "supports.rows", "[0]"), "expected 2"},
		"coefficients":         {set("machines.0.coef", "[1,2]"), "coefficients"},
		"rows":                 {set("supports.rows", "[1]"), "rows"},
		"negative rows":        {set("machines.0.core_rows", "[-1]"), "at least 0"},
		"cores":                {set("machines.0.conformal.cores", "[[1,2]]"), "conformal"},
		"core of other size":   {change(t, set("machines.0.conformal.cores", "[[1,2,3]]"), "machines.0.conformal.alpha", "[1]"), "cores"},
		"core gamma":           {set("machines.0.conformal.core_gamma", "0"), "core_gamma"},
	})
	texts := asJSON(t, ofTexts(t))
	set = func(path, value string) string { return change(t, texts, path, value) }
	second := func(columns string) string { return strings.Replace(texts, "[1,998]", columns, 1) }
	refuses("format 6", faulty{
		"vectors besides":     {set("supports.vectors", "[]"), "in place of vectors"},
		"an older format":     {set("format", "2"), "no field sparse"},
		"fewer columns":       {set("supports.sparse.columns", "[]"), "as many lists"},
		"a list too short":    {second("[2]"), "vector 1: expected as many values as columns, found 2 and 1"},
		"column out of range": {second("[3,1000]"), "from 0 to 999, found 1000"},
		"columns fall":        {second("[3,2]"), "rising"},
		"a column twice":      {second("[3,3]"), "rising"},
		"a negative column":   {second("[-1,3]"), "found -1"},
	})
	set = func(path, value string) string { return change(t, old, path, value) }
	refuses("format 1", faulty{
		"infinite":           {set("b", "1e999"), "not a model"},
		"one class":          {set("negative", `"b"`), "two classes"},
		"no vectors":         {set("vectors", "null"), "vectors"},
		"short vector":       {change(t, change(t, set("vectors", "[[1]]"), "coef", "[1]"), "rows", "[0]"), "expected 2"},
		"coefficients":       {set("coef", "[1,2]"), "coefficients"},
		"rows":               {set("rows", "[1]"), "rows"},
		"negative rows":      {set("core_rows", "[-1]"), "at least 0"},
		"cores":              {set("conformal.cores", "[[1,2]]"), "conformal"},
		"core of other size": {change(t, set("conformal.cores", "[[1,2,3]]"), "conformal.alpha", "[1]"), "cores"},
		"core gamma":         {set("conformal.core_gamma", "0"), "core_gamma"},
	})
}

func FuzzReadModel(f *testing.F) {
	f.Add(aModel(f))
	f.Add(asJSON(f, train(f, toy(), spec(f, "kernel", "poly", "project", "pca")).Model))
	f.Add(fixture(f, "model_format1_conformal.json"))
	f.Add(asJSON(f, ofTexts(f)))
	f.Add(`{"features":["x"],"positive":"a","negative":"b","kernel":{"name":"linear"},"b":1}`)
	f.Add(asJSON(f, train(f, given(toy(), kernel.Linear()), spec(f, "kernel", "precomputed", "conformal", "amari")).Model))
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ml.ReadModel(strings.NewReader(text))
		if err != nil {
			return
		}
		again := require.Value(ml.ReadModel(strings.NewReader(asJSON(t, m))))(t, "written again,")
		if m.Objects == dataset.KindPrecomputed {
			if m.Columns() < 1 || m.Columns() > 1000 {
				return
			}
			x := &dataset.Precomputed{K: mat.NewDense(2, m.Columns(), nil), Number: []int{0, 0}, Self: []float64{1, 2}}
			x.K.Set(1, 0, 0.5)
			a := require.Value(m.ScoresOf(t.Context(), x))(t)
			b, err := again.ScoresOf(t.Context(), x)
			for i, v := range a.RawMatrix().Data {
				require.Must(t, err == nil && math.Float64bits(v) == math.Float64bits(b.RawMatrix().Data[i]),
					"f = %v, read again %v, %v", v, b, err)
			}
			return
		}
		d := len(m.Features)
		x := mat.NewDense(2, d, nil)
		for j := range d {
			x.Set(1, j, float64(j)-0.5)
		}
		a, b := m.Decisions(x), again.Decisions(x)
		for i := range a {
			require.Must(t, math.Float64bits(a[i]) == math.Float64bits(b[i]), "f = %v, read again %v", a[i], b[i])
		}
		v := dataset.View{Center: make([]float64, d), To: [2][]float64{make([]float64, d), make([]float64, d)}, Axes: [2][]float64{make([]float64, d), make([]float64, d)}}
		v.Axes[0][0] = 1
		require.NoError(t, require.Err3(m.Surface(t.Context(), v, []float64{0, 1}, []float64{0})))
		m.Linear()
	})
}

// written.json holds what the first released format stored: it is read for ever.
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

// later lists what came after the fixture and is missing in its texts: parameters at their defaults.
var later = strings.NewReplacer(`"multiclass":"ovo",`, "", `"target":"class",`, "")

func TestWrittenSpecsAreRead(t *testing.T) {
	t.Parallel()
	for _, row := range written(t).Specs {
		strict := require.JSON[ml.Spec](t, row.JSON, "%s", row.JSON)
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
			require.Near(t, m.Decision(x), row.F[i], 1e-12*magnitude(m, x), "%s kernel: f(%v) and as it was", m.Kernel.Name, x)
		}

		r := require.JSON[ml.Report](t, row.Report, "%s", row.Report)
		before, after := require.JSON[map[string]any](t, row.Report), require.JSON[map[string]any](t, asJSON(t, r))
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
		data := asJSON(t, s)
		shown := require.JSON[map[string]any](t, data)
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
	r := require.JSON[ml.Report](t, `{"n":3,"kernel":"cubic","width":0.1,"colour":"red"}`)
	require.Check(t, r.N == 3 && r.Values.Number("width") == 0.1, "a report with what is no more: %+v", r)
}
