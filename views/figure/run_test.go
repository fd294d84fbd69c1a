package figure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/ridge"
)

// trainedRun is a run on a data set that comes with the program.
func trainedRun(t *testing.T, slug string, settings ...string) Run {
	t.Helper()
	return runOn(t, mltest.Builtin(t, slug), settings...)
}

// words are strings of two classes: with ab, and with ba.
func words() *dataset.Data {
	s := &dataset.Strings{Name: "word"}
	d := &dataset.Data{Objects: s, Label: "has", Classes: []string{"ab", "ba"}}
	for i := range 40 {
		s.Values = append(s.Values, strings.Repeat("c", i%7)+[]string{"ab", "ba"}[i%2]+strings.Repeat("d", i%5)+[]string{"ab", "", "ba"}[i%3])
		d.Y = append(d.Y, i%2)
	}
	return d
}

// valued are the words with numbers in place of their classes.
func valued() *dataset.Data {
	d := words()
	d.Classes = nil
	for i := range d.Y {
		d.Classes = append(d.Classes, strconv.Itoa(100-i))
		d.Y[i] = i
	}
	return d
}

// molecules are graphs of two classes: rings and chains.
func molecules() *dataset.Data {
	s := &dataset.Graphs{Name: "molecule"}
	d := &dataset.Data{Objects: s, Label: "is", Classes: []string{"chain", "ring"}}
	for i := range 24 {
		g := dataset.Graph{N: 4 + i%5, Labels: make([]string, 4+i%5)}
		for v := range g.N {
			g.Labels[v] = []string{"C", "N"}[v*i%3%2]
			if v > 0 {
				g.Edges = append(g.Edges, [2]int{v - 1, v})
			}
		}
		if i%2 == 1 {
			g.Edges = slices.Insert(g.Edges, 1, [2]int{0, g.N - 1})
		}
		s.Values, d.Y = append(s.Values, g), append(d.Y, i%2)
	}
	return d
}

func runOn(t *testing.T, d *dataset.Data, settings ...string) Run {
	t.Helper()
	spec := ml.DefaultSpec()
	for i := 0; i+1 < len(settings); i += 2 {
		require.NoError(t, spec.Set(settings[i], settings[i+1]))
	}
	res := require.Value(ml.Train(t.Context(), d, spec, nil))(t)
	return Run{Data: d, Spec: spec, Result: res, Look: Scene{Grid: 20, Format: Format{Width: 200, Height: 160}}}
}

// The errors along lambda are, at the lambda of the run, those of its report.
func TestPathMeetsTheReport(t *testing.T) {
	t.Parallel()
	for _, lambda := range []string{"0.01", "1", "1e-9", "1e6"} {
		r := trainedRun(t, "moons", "learner", "ridge", "lambda", lambda, "test_fraction", "0.3")
		pic := require.Value(r.Draw(t.Context(), "path"))(t)
		rep := r.Result.Report
		want := fmt.Sprintf(" At λ = %s: %s in training, %s left out,", short(r.Spec.Values.Number("lambda")), short(*rep.MSE), short(*rep.LOOError))
		require.Check(t, strings.Contains(pic.Caption, want), "lambda %s: %q, want %q", lambda, pic.Caption, want)
	}
	large := trainedRun(t, "moons", "learner", "ridge")
	large.Result.Report.TrainN = ridge.MaxPath + 1
	for name, r := range map[string]Run{"another learner": trainedRun(t, "moons"), "too many rows": large} {
		require.Is(t, require.Err(r.Draw(t.Context(), "path")), ErrNoFigure, "%s", name)
	}
}

// If every point has a weight none is ringed; what there is in place of a margin has no slack.
func TestTargetsHaveNoRingsAndNoSlack(t *testing.T) {
	t.Parallel()
	for learner, rings := range map[string]bool{"svm": true, "mcm": true, "ridge": false} {
		r := trainedRun(t, "moons", "learner", learner)
		r.Look.Slack, r.Look.Width, r.Look.Height = true, 640, 520
		pic := require.Value(r.Draw(t.Context(), "boundary"))(t)
		b := require.Drawn(t, pic.SVG)
		ringed := strings.Contains(b, "SV on margin") || strings.Contains(b, "support vector")
		slack := strings.Contains(b, ">slack<")
		require.Check(t, ringed == rings && slack == rings, "%s: support vectors in the legend %t, slack %t, want both %t", learner, ringed, slack, rings)
		require.Check(t, strings.Contains(pic.Caption, "support vector") == rings && strings.Contains(pic.Caption, "Every training point has a weight.") != rings,
			"%s: caption %q", learner, pic.Caption)
	}
}

// Whatever the table lists for a run can be drawn by its name, and nothing else.
func TestRunFigures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		run  Run
		want []string
	}{
		"svm":                         {trainedRun(t, "moons"), []string{"boundary"}},
		"mcm":                         {trainedRun(t, "moons", "learner", "mcm"), []string{"boundary"}},
		"ridge":                       {trainedRun(t, "moons", "learner", "ridge"), []string{"boundary", "path"}},
		"ridge, a map":                {trainedRun(t, "moons", "learner", "ridge", "conformal", "amari"), []string{"before", "boundary", "map"}},
		"conformal":                   {trainedRun(t, "moons", "conformal", "eigen"), []string{"before", "boundary", "map"}},
		"strings":                     {runOn(t, words(), "kernel", "spectrum", "test_fraction", "0.3"), []string{"boundary", "objects", "weights", "parts", "components", "kernel", "roc", "precision"}},
		"graphs":                      {runOn(t, molecules(), "kernel", "wl", "test_fraction", "0.3"), []string{"boundary", "objects", "weights", "parts", "components", "kernel", "roc", "precision"}},
		"graphs by walks":             {runOn(t, molecules(), "kernel", "random-walk", "walk_weight", "0.05"), []string{"boundary", "objects", "components", "kernel"}},
		"values of strings":           {runOn(t, valued(), "kernel", "spectrum", "learner", "ridge", "target", "value", "test_fraction", "0.2"), []string{"fit", "objects", "weights", "parts", "components", "kernel", "path"}},
		"nothing held out of a class": {oneSided(t), []string{"boundary"}},
		"three classes":               {trainedRun(t, "iris", "test_fraction", "0.3"), []string{"boundary", "machine", "machine-2", "machine-3"}},
		"four features":               {trainedRun(t, "iris", "positive", "virginica"), []string{"boundary"}},
	} {
		var names []string
		for _, f := range tc.run.Figures() {
			names = append(names, f.Name)
			require.Check(t, f.Title != "", "%s: %s has no title", name, f.Name)
			pic, err := tc.run.Draw(t.Context(), f.Name)
			require.Must(t, err == nil, "%s: %s: %v", name, f.Name, err)
			var b strings.Builder
			err = pic.SVG(t.Context(), &b)
			require.Check(t, err == nil && strings.Contains(b.String(), "<svg"), "%s: %s: %v", name, f.Name, err)
		}
		require.Check(t, slices.Equal(names, tc.want), "%s shows %q, want %q", name, names, tc.want)
		for _, row := range runFigures {
			_, err := tc.run.Draw(t.Context(), row.Name)
			require.Check(t, slices.Contains(names, row.Name) || errors.Is(err, ErrNoFigure), "%s: %s: %v", name, row.Name, err)
		}
		for _, wrong := range []string{"", "map-2", "boundary-2", "before-1", "points"} {
			require.Is(t, require.Err(tc.run.Draw(t.Context(), wrong)), ErrNoFigure, "%s: %q", name, wrong)
		}
	}
}

// The picture of two classes of three shows each in its colour among all.
func TestPairKeepsColours(t *testing.T) {
	t.Parallel()
	r := trainedRun(t, "iris", "test_fraction", "0.3")
	for machine, classes := range [][]int{{0, 1}, {0, 2}, {1, 2}} {
		for _, dark := range []bool{false, true} {
			r.Look.Dark = dark
			p := require.Value(drawMachine(t.Context(), r, machine))(t)
			svg := require.Written(t, func(w io.Writer) error { return p.SVG(t.Context(), w) })
			theme := themeOf(dark, false)
			for i := range 3 {
				require.Check(t, strings.Contains(svg, Hex(theme.class(i))) == slices.Contains(classes, i), "machine %d, dark %t: class %d", machine, dark, i)
			}
		}
	}
}

// oneSided is a run whose held-out points are all of one class.
func oneSided(t *testing.T) Run {
	r := trainedRun(t, "moons", "test_fraction", "0.3")
	r.Result.Report.TestConfusion[0].N = 0
	return r
}

// A legend of long names names everything: the classes are shortened while they differ, and the marks are not.
func TestLegendShortensNames(t *testing.T) {
	t.Parallel()
	marks := []string{"boundary", "votes are tied (3.5 %)", "support vector (15)", "misclassified (67)"}
	for _, c := range []struct {
		classes []string
		rows    int
	}{
		{[]string{"another quite long class name", "the first of the long class names", "the second of the long class names"}, 4},
		{[]string{"the values of the class A", "the values of the class B", "the values of the class C"}, 5},
		{[]string{"a", "b"}, 3},
	} {
		s := &sheet{legend: unseen(slices.Concat(c.classes, marks)), own: len(c.classes)}
		var names []string
		rows := s.rows(276, 4)
		for _, row := range rows {
			names = append(names, lists.Map(row, func(e entry) string { return e.name })...)
		}
		require.Equal(t, len(rows), c.rows, "%v: rows", c.classes)
		require.Equal(t, strings.Join(names[min(len(names), len(c.classes)):], ", "), strings.Join(marks, ", "), "%v: marks", c.classes)
		slices.Sort(names)
		require.Equal(t, len(slices.Compact(names)), len(c.classes)+len(marks), "%v: different names", c.classes)
	}
}

// Pictures that stand side by side have frames of one height, whatever their legends name.
func TestLegendsSideBySide(t *testing.T) {
	t.Parallel()
	r := trainedRun(t, "moons", "conformal", "eigen", "test_fraction", "0.3", "calibration", "platt")
	r.Look = Scene{Cores: true, Format: Format{Width: 400, Height: 330, LegendRows: 4}}
	sliced := trainedRun(t, "iris", "positive", "virginica", "conformal", "eigen", "test_fraction", "0.3", "calibration", "platt")
	sliced.Look = r.Look
	together := r
	together.Look.Noted = true // beside the slice, which has a remark
	for name, side := range map[string][]Run{"moons": {r}, "a slice": {sliced}, "both": {together, sliced}} {
		var first Frame
		n := 0
		for _, r := range side {
			for _, f := range r.Figures() {
				p := require.Value(r.Draw(t.Context(), f.Name))(t)
				if n++; n == 1 {
					first = p.Frame
				}
				require.Check(t, p.Frame.Top == first.Top && p.Frame.Height == first.Height,
					"%s: the frame of %s is at %g and %g high, that of the first %g and %g", name, f.Name, p.Frame.Top, p.Frame.Height, first.Top, first.Height)
			}
		}
		require.Check(t, n >= 6*len(side), "%s: %d pictures", name, n)
	}
}

// The frame stays where it is, whatever marks the points take.
func TestLegendKeepsRoom(t *testing.T) {
	t.Parallel()
	places := map[Frame]string{}
	for _, c := range []string{"0.001", "1", "100000"} {
		r := trainedRun(t, "iris-versicolor-virginica", "C", c, "features", "petal_length,petal_width")
		r.Look = Scene{Format: Format{Width: 760, Height: 600, LegendRows: RowsForAll}}
		p := require.Value(r.Draw(t.Context(), "boundary"))(t)
		places[p.Frame] = c
	}
	require.Check(t, len(places) == 1, "frames at %v", places)

	// Nor as classes come and go while somebody draws.
	for _, heat := range []bool{false, true} {
		places := map[Frame]string{}
		for _, labels := range []string{"A", "AB", "ABC"} {
			rng, d := rand.New(rand.NewPCG(1, 2)), &dataset.Data{Features: []string{"x1", "x2"}, Label: "label", Classes: strings.Split(labels, "")}
			x := make([]float64, 0, 120)
			for i := range 60 {
				x = append(x, rng.NormFloat64()+float64(i%len(labels)), rng.NormFloat64())
				d.Y = append(d.Y, i%len(labels))
			}
			d.X = mat.NewDense(60, 2, x)
			look := Scene{Limits: Limits{-3, 4, -3, 3}, Heat: heat, Format: Format{Width: 760, Height: 600, LegendRows: RowsForAll}}
			var p *Picture
			var err error
			if len(labels) == 1 {
				v, failed := ViewOf(d, "", "")
				require.NoError(t, failed)
				s := DataScene(d, v)
				s.Width, s.Height, s.LegendRows, s.Limits, s.Heat = look.Width, look.Height, look.LegendRows, look.Limits, look.Heat
				p, err = Scatter(t.Context(), s)
			} else {
				r := runOn(t, d, "test_fraction", "0.3")
				r.Look = look
				p, err = r.Draw(t.Context(), "boundary")
			}
			require.NoError(t, err)
			places[p.Frame] = labels
		}
		require.Check(t, len(places) == 1, "heat map %v: frames at %v", heat, places)
	}
}

// Axes that are not there give way to the first ones; limits that were asked for are kept,
// also where points lie outside, and without any all points are seen.
func TestRunView(t *testing.T) {
	t.Parallel()
	r := trainedRun(t, "iris", "positive", "virginica")
	first, second := r.Data.Features[0], r.Data.Features[1]
	for _, tc := range []struct{ x, y, wantX, wantY string }{
		{"", "", first, second},
		{second, "", second, first},
		{second, second, second, first},
		{"no such", r.Data.Features[2], first, r.Data.Features[2]},
	} {
		r.X, r.Y = tc.x, tc.y
		s, err := r.Scene(t.Context(), r.Result.Model)
		require.Check(t, err == nil && s.View.Labels == [2]string{tc.wantX, tc.wantY},
			"%q, %q: %v, %v", tc.x, tc.y, s.View.Labels, err)
	}
	r.X = "pca"
	for _, asked := range []Limits{{-100, 100, -100, 100}, {-1e-3, 1e-3, -1e-3, 1e-3}} {
		r.Look.Limits = asked
		s, err := r.Scene(t.Context(), r.Result.Model)
		require.Check(t, err == nil && s.Limits == asked && !s.View.Exact, "components: limits %v, exact %v, %v", s.Limits, s.View.Exact, err)
	}
	r.Look.Limits = Limits{}
	s, err := r.Scene(t.Context(), r.Result.Model)
	for _, p := range s.Points {
		if x, y := s.View.Point(p.X); x < s.Limits.XMin || x > s.Limits.XMax || y < s.Limits.YMin || y > s.Limits.YMax {
			t.Fatalf("%v: the point at %g, %g lies outside of %v", err, x, y, s.Limits)
		}
	}
}

// Who leaves stops the work on a kernel; what was kept of the training is drawn without any.
func TestDrawHeedsTheContext(t *testing.T) {
	t.Parallel()
	over := mltest.Ended()
	r := runOn(t, words(), "kernel", "gap-subsequence", "test_fraction", "0.3")
	for _, name := range []string{"weights", "parts", "components", "kernel"} {
		require.Is(t, require.Err(r.Draw(over, name)), context.Canceled, "%s", name)
	}
	_, err := r.Draw(over, "boundary")
	require.Check(t, err == nil, "%v", err)
	r.Result.Scores = nil
	require.Is(t, require.Err(r.Draw(over, "boundary")), context.Canceled, "without scores")
}

func TestOneObject(t *testing.T) {
	t.Parallel()
	for _, d := range []*dataset.Data{words(), molecules()} {
		kernel := map[dataset.Kind]string{dataset.KindStrings: "spectrum", dataset.KindGraphs: "wl"}[d.Kind()]
		r := runOn(t, d, "kernel", kernel)
		for object, want := range map[int]string{3: "row 3 ·", 24: "row 24 ·"} {
			r.Object = object
			pic, err := r.Draw(t.Context(), "parts")
			require.Check(t, err == nil && strings.Count(pic.Caption, " · f = ") == 1 && strings.Contains(pic.Caption, want),
				"%s: %v, %v", want, pic, err)
		}
		for _, none := range []int{0, -1, 1000} {
			r.Object = none
			pic, err := r.Draw(t.Context(), "parts")
			require.Check(t, err == nil && strings.Count(pic.Caption, " · f = ") >= 3, "%d: %v, %v", none, pic, err)
		}
	}
}
