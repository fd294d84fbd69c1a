package figure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Run is the source of a run's figures: a trained model with its data, and the user's choices.
type Run struct {
	Data   *dataset.Data // on which Result was trained
	Spec   ml.Spec       // of the training
	Result *ml.Result
	X, Y   string // columns on the axes; "pca" on x: principal components; default: the first two
	// Object is the row, from 1, of the object shown in pictures of single objects; 0: some of
	// every side.
	Object int
	// Compare returns the result of ml.Compare, possibly cached; nil: ml.Compare itself.
	Compare func(context.Context, kernel.Kernel, *dataset.Data) (*ml.Compared, error)
	// Look holds size, theme, marks and the minimum limits. The figures fill in the parts of a
	// Scene that describe model and points.
	Look Scene
}

// runFigure describes a kind of figure of a run.
type runFigure struct {
	Name string // in URLs
	// Machines returns the machines with their own figure, {0} for a single figure of the run, none
	// if it does not apply.
	Machines func(Run) []int
	Title    func(r Run, machine int) string
	Draw     func(ctx context.Context, r Run, machine int) (*Picture, error)
}

// runFigures lists the kinds of figures in the order on pages.
var runFigures = []runFigure{
	{"before", func(r Run) []int { return when(r.Result.Before != nil) }, beforeTitle, func(ctx context.Context, r Run, _ int) (*Picture, error) { return r.decision(ctx, r.Result.Before) }},
	{"boundary", mainly("boundary"), boundaryTitle, drawBoundary},
	{"curve", mainly("curve"), always("The curve f(x) and its residuals"), drawBoundary},
	{"surface", mainly("surface"), always("The surface f(x)"), drawBoundary},
	// A curve shows every residual itself.
	{"fit", func(r Run) []int { return when(r.Main() == "surface" || r.Main() == "fit") }, always("f(x) against the value of every point"), drawFit},
	{"map", mappedMachines, mapTitle, drawMap},
	{"machine", ownMachines, machineTitle, drawMachine},
	{"objects", hasObjects, func(r Run, _ int) string { return "Some of the " + r.Data.Kind().Words() }, drawObjects},
	{"weights", weighed, func(r Run, k int) string { return "Largest feature weights" + ofMachine(r, k) }, drawWeights},
	{"parts", weighed, partsTitle, drawParts},
	{"components", hasMatrix, always("The objects where the kernel sees them, by its two largest principal components"), drawComponents},
	{"kernel", hasMatrix, matrixTitle, drawMatrix},
	{"path", hasPath, always("The error along λ, in training and with each point left out"), drawPath},
	{"roc", hasROC, rocTitle, drawROC},
	{"precision", hasROC, always("Precision and recall on held-out points"), drawPrecision},
	{"calibration", hasCalibration, always("Predicted probability and observed frequency on held-out points"), drawCalibration},
}

// Shown is a figure that applies to a run.
type Shown struct {
	Name  string // for Draw; that of a machine other than the first ends in its number: "map-2"
	Title string

	row     runFigure
	machine int
}

// Figures lists the figures that apply to the run, in the order on pages.
func (r Run) Figures() (list []Shown) {
	for _, row := range runFigures {
		for _, k := range row.Machines(r) {
			name := row.Name
			if k > 0 {
				name += "-" + strconv.Itoa(k+1)
			}
			list = append(list, Shown{name, row.Title(r, k), row, k})
		}
	}
	return list
}

// Parts reports whether the figure shows single objects, selectable by Run.Object.
func (s Shown) Parts() bool { return s.row.Name == "parts" }

// Judges reports whether the figure shows the quality of the model rather than the model itself;
// it is not needed during a drag.
func (s Shown) Judges() bool {
	return slices.Contains([]string{"roc", "precision", "calibration"}, s.row.Name)
}

// ErrNoFigure is returned for the name of a figure that the run does not have.
var ErrNoFigure = errors.New("there is no such figure")

// Draw draws the named figure. Errors: ErrNoFigure, a user-facing error if the figure cannot be
// drawn, and ctx.Err().
func (r Run) Draw(ctx context.Context, name string) (*Picture, error) {
	figures := r.Figures()
	i := slices.IndexFunc(figures, func(f Shown) bool { return f.Name == name })
	if i < 0 {
		names := lists.Map(figures, func(f Shown) string { return f.Name })
		return nil, fmt.Errorf("%w %q: expected one of %s", ErrNoFigure, name, strings.Join(names, ", "))
	}
	r.Look.Noted = r.Look.Noted || Noted(r.Result.Model.Rule, len(r.Result.Model.Features), r.Data.Len())
	return figures[i].row.Draw(ctx, r, figures[i].machine)
}

// Noted reports whether pictures of a run of this size may have a note below the legend that they
// do not show everything.
func Noted(rule ml.Rule, features, points int) bool {
	return rule != ml.Value && features > 2 || points > mostMarks
}

// Main returns the name of the figure that shows a model: its boundary or, for a regression,
// depending on the number of features, the curve, the surface, or the fitted values.
func Main(rule ml.Rule, features int) string {
	switch {
	case rule != ml.Value:
		return "boundary"
	case features == 0:
		return "fit"
	case features == 1:
		return "curve"
	}
	return "surface"
}

// Main returns the name of the figure that shows the run's model.
func (r Run) Main() string { return Main(r.Result.Model.Rule, len(r.Result.Model.Features)) }

// when returns the Machines of a figure of the whole run.
func when(there bool) []int {
	if !there {
		return nil
	}
	return []int{0}
}

// mainly returns the Machines of a figure that is the Main figure of some runs.
func mainly(name string) func(Run) []int {
	return func(r Run) []int { return when(r.Main() == name) }
}

// always returns the Title of a figure that is the same for all runs.
func always(title string) func(Run, int) string { return func(Run, int) string { return title } }

// mappedMachines returns the machines with a conformal map and a plane to show it on.
func mappedMachines(r Run) []int {
	machines := r.Result.Model.Machines
	return lists.Where(len(machines), func(k int) bool { return machines[k].Map != nil && machines[k].Map.Cores != nil })
}

func hasMatrix(r Run) []int {
	return when(r.Data.Kind() != dataset.KindVectors && ml.Comparable(r.Result.Model.Kernel, r.Data) == nil)
}

func beforeTitle(r Run, _ int) string {
	return "Before: the kernel as it was" + scalar(r.Result.Report.JBefore)
}

func boundaryTitle(r Run, _ int) string {
	switch {
	case r.Result.Before != nil:
		return "After: the kernel reshaped by c(x)" + scalar(r.Result.Report.JAfter)
	case r.Data.Kind() != dataset.KindVectors:
		return "The decision values, class by class"
	}
	return "The boundary"
}

func mapTitle(r Run, machine int) string {
	whose := ""
	if names := r.Result.Model.ScoreNames(); len(names) > 1 {
		whose = " of " + names[machine]
	}
	return "c(x), the factor of the conformal map" + whose + ", with its cores"
}

func matrixTitle(r Run, _ int) string {
	if r.Result.Model.Rule == ml.Value {
		return "The values of the kernel, objects by rising " + r.Data.Label
	}
	return "The values of the kernel, class by class"
}

// scalar returns a Fisher scalar to append to a title, if any.
func scalar(j *float64) string {
	if j == nil {
		return ""
	}
	return ", J = " + param.Digits(*j, 4)
}

func drawBoundary(ctx context.Context, r Run, _ int) (*Picture, error) {
	return r.decision(ctx, r.Result.Model)
}

// decision draws the main picture of a model.
func (r Run) decision(ctx context.Context, m *ml.Model) (*Picture, error) {
	s, err := r.Scene(ctx, m)
	if err != nil {
		return nil, err
	}
	return r.Decision(ctx, s)
}

// Decision draws a scene of the run: the boundary or, without a plane, the decision
// values; for a regression the figure named by Main.
func (r Run) Decision(ctx context.Context, s Scene) (*Picture, error) {
	switch Main(s.Model.Rule, len(s.Model.Features)) {
	case "curve":
		return ValueCurve(s)
	case "surface":
		return ValueSurface(ctx, s)
	case "fit":
		return ValueFit(s)
	}
	if r.Data.Kind() != dataset.KindVectors {
		return Decisions(s)
	}
	return Boundary(ctx, s)
}

// drawFit draws the predictions of a regression for every point.
func drawFit(ctx context.Context, r Run, _ int) (*Picture, error) {
	m := r.Result.Model
	points, err := r.Result.Points(ctx, m, r.Data, r.Spec)
	if err != nil {
		return nil, err
	}
	r.Look.Limits = Limits{} // they belong to the main figure
	return ValueFit(r.looked(FitScene(m, points, r.Data.Label)))
}

func (r Run) looked(s Scene) Scene {
	if r.Look.Limits != (Limits{}) {
		s.Limits = r.Look.Limits
	}
	s.Dark, s.Grey, s.Width, s.Height, s.LegendRows, s.Noted = r.Look.Dark, r.Look.Grey, r.Look.Width, r.Look.Height, r.Look.LegendRows, r.Look.Noted
	return s
}

func drawMap(ctx context.Context, r Run, machine int) (*Picture, error) {
	s, err := r.Scene(ctx, r.Result.Model)
	if err != nil {
		return nil, err
	}
	s.Machine = machine
	return Conformal(ctx, s)
}

// mostOwn is the maximum number of machines with a picture each: enough for three classes, or four
// one-vs-one.
const mostOwn = 6

// ownMachines returns those of several machines that were trained separately between two sides and
// have a plane to draw on.
func ownMachines(r Run) []int {
	m := r.Result.Model
	if m.Rule != ml.OneVsOne && m.Rule != ml.OneVsRest || len(m.Machines) > mostOwn || r.Data.Kind() != dataset.KindVectors {
		return nil
	}
	return dataset.Indices(len(m.Machines))
}

func machineTitle(r Run, machine int) string {
	return ml.Versus(r.Result.Model.Sides(machine)) + ": one machine, its margin and its support vectors"
}

// drawMachine draws one machine of several with the points of its two sides.
func drawMachine(ctx context.Context, r Run, machine int) (*Picture, error) {
	one := r.Result.Model.Alone(machine)
	s, err := r.Scene(ctx, one)
	if err != nil {
		return nil, err
	}
	positive, negative := r.Result.Model.Sides(machine)
	if negative != "" {
		s.Points = slices.DeleteFunc(s.Points, func(p ml.Point) bool { return p.Label != positive && p.Label != negative })
		s.Numbers = lists.Map(one.Classes, func(name string) int { return max(slices.Index(s.Classes, name), 0) })
		s.Classes = one.Classes
	}
	return Boundary(ctx, s)
}

func drawMatrix(ctx context.Context, r Run, _ int) (*Picture, error) {
	c, err := r.compared(ctx)
	if err != nil {
		return nil, err
	}
	look := r.Look
	look.Values = r.Result.Model.Rule == ml.Value
	return KernelMatrix(c, r.Data, look)
}

// compared returns the run's objects compared by its kernel.
func (r Run) compared(ctx context.Context) (*ml.Compared, error) {
	compare := r.Compare
	if compare == nil {
		compare = ml.Compare
	}
	return compare(ctx, r.Result.Model.Kernel, r.Data)
}

// Scene returns the common scene of the figures of one of the run's models.
func (r Run) Scene(ctx context.Context, m *ml.Model) (Scene, error) {
	points, err := r.Result.Points(ctx, m, r.Data, r.Spec)
	if err != nil {
		return Scene{}, err
	}
	switch Main(m.Rule, len(m.Features)) {
	case "curve":
		return r.looked(CurveScene(m, points, m.Features[0], r.Data.Label)), nil
	case "fit":
		return r.looked(FitScene(m, points, r.Data.Label)), nil
	}
	s := r.Look
	s.Values, s.Label = m.Rule == ml.Value, r.Data.Label
	s.Model, s.Points, s.Classes, s.Targets = m, points, r.Data.Classes, r.Spec.Targets()
	s.Slack = s.Slack && !s.Targets
	if r.Data.Kind() != dataset.KindVectors {
		laid := DecisionScene(m, points, r.Data.Classes)
		s.Points, s.View, s.Limits = laid.Points, laid.View, laid.Limits
		if l := r.Look.Limits; l.YMin == laid.Limits.YMin && l.YMax == laid.Limits.YMax { // limits from such a scene
			s.Limits = laid.Limits.Union(l)
		}
		return s, nil
	}
	if s.View, err = r.view(m); err != nil {
		return Scene{}, err
	}
	if s.Limits == (Limits{}) {
		s.Limits = LimitsOf(points, s.View)
	}
	return s, nil
}

// view returns the plane that pictures of the model show.
func (r Run) view(m *ml.Model) (dataset.View, error) {
	if v, ok := r.Result.Model.View(); ok {
		return v, nil
	}
	cols, err := r.Data.Columns(m.Features)
	if err != nil {
		return dataset.View{}, err
	}
	return ViewOf(cols, r.X, r.Y)
}

// ViewOf returns the plane of two columns or, if x is "pca", of the first two principal components.
func ViewOf(d *dataset.Data, x, y string) (dataset.View, error) {
	if x, y = Axes(d.Features, x, y); x == "pca" {
		return dataset.PCAView(d), nil
	}
	return dataset.ColumnView(d, x, y)
}

// Axes returns the columns that a picture shows when asked for x and y: unknown ones are replaced by
// the first ones, and both are "pca" if x is.
func Axes(features []string, x, y string) (string, string) {
	if x == "pca" {
		return x, x
	}
	if !slices.Contains(features, x) {
		x = features[0]
	}
	if !slices.Contains(features, y) || y == x {
		y = ""
		for _, f := range features {
			if f != x {
				y = f
				break
			}
		}
	}
	return x, y
}

// At returns the scores of the run's machines at a place in its main picture, nil if that does not
// show inputs.
func (r Run) At(ctx context.Context, s, t float64) ([]float64, error) {
	m := r.Result.Model
	if r.Data.Kind() != dataset.KindVectors || len(m.Features) == 0 {
		return nil, nil
	}
	switch Main(m.Rule, len(m.Features)) {
	case "curve":
		return m.Scores(mat.NewDense(1, 1, []float64{s})).RawRowView(0), nil
	case "fit":
		return nil, nil
	}
	v, err := r.view(m)
	if err != nil {
		return nil, err
	}
	scores, _, err := m.Surface(ctx, v, []float64{s}, []float64{t})
	if err != nil {
		return nil, err
	}
	return lists.Map(scores, func(s []float64) float64 { return s[0] }), nil
}

// Meets reports whether the boundary of the scene's model is visible in its plane, judged by some
// hundred places, or ctx.Err().
func (s Scene) Meets(ctx context.Context) (bool, error) {
	s, err := s.onPlane()
	if err != nil || s.Model == nil {
		return false, nil
	}
	const cells = 24
	surf, err := newSurface(ctx, s.Model, s.View, s.Limits, cells)
	if err != nil {
		return false, err
	}
	if s.sides() {
		lo, hi, _ := extent(surf.f)
		return lo < 0 && hi >= 0, nil
	}
	class := newRegions(surf, s.Model).class
	return slices.ContainsFunc(class, func(c int) bool { return c != class[0] }), nil
}
