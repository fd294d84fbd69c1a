// Package ml trains classifiers: given labelled points and a Spec it returns a
// Model and a Report of all measurements. It is independent of the web and the
// database and can be used as a library:
//
//	data, err := dataset.Read(file, "points.csv", dataset.Mapping{}, dataset.DefaultLimits)
//	spec := ml.DefaultSpec()
//	err = spec.Set("C", "10")
//	result, err := ml.Train(ctx, data, spec, nil)
//	label := result.Model.Predict([]float64{0.2, 0.7})
package ml

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// Report holds the measurements of a training, with the JSON names of `marginlab fit --json`.
// Quantities that do not apply are omitted from the JSON.
type Report struct {
	N        int      `json:"n"`                  // rows of the data, including held-out ones
	D        int      `json:"d,omitempty"`        // features
	Classes  []string `json:"classes,omitempty"`  // none under Value
	Positive string   `json:"positive,omitempty"` // under Sign
	Rule     Rule     `json:"rule,omitempty"`     // of the model; empty in old reports, meaning Sign
	Learner  string   `json:"learner"`
	Kernel   string   `json:"kernel"`

	// Values holds the reported parameters as used, with auto and scale resolved. In JSON
	// they appear beside the other fields under their own names.
	Values param.Values `json:"-"`

	Status          trace.Status `json:"status"`
	Objective       *float64     `json:"objective,omitempty"` // svm: the dual, maximised; mcm, ridge, ww, cs: the minimum
	DualObjective   *float64     `json:"dual_objective,omitempty"`
	PrimalObjective *float64     `json:"primal_objective,omitempty"`
	Gap             *float64     `json:"gap,omitempty"`          // (primal - dual) / max(1, |primal|)
	RelativeGap     *float64     `json:"relative_gap,omitempty"` // (primal - dual) / |primal|: at most max(tol, 1e-6) if converged with a finite C and a positive semidefinite kernel
	Local           *bool        `json:"local,omitempty"`        // svm: the kernel is not positive semidefinite, so the optimum may be local
	B               *float64     `json:"b,omitempty"`            // bias of f in the preprocessed space

	SupportVectors       int  `json:"support_vectors"`
	Free                 *int `json:"free,omitempty"`
	BoundedInside        *int `json:"bounded_inside,omitempty"`
	BoundedMisclassified *int `json:"bounded_misclassified,omitempty"`

	H        *float64 `json:"h,omitempty"`
	SlackSum *float64 `json:"slack_sum,omitempty"`
	L1       *float64 `json:"l1,omitempty"`
	Rank     *int     `json:"rank,omitempty"`

	LogLikelihood *float64 `json:"log_likelihood,omitempty"` // of the training rows under the mixture of a Fisher kernel
	AtFloor       *int     `json:"at_floor,omitempty"`       // its components at the lowest variance allowed
	LeftOut       *int     `json:"left_out,omitempty"`       // its components that lost all rows

	MSE         *float64 `json:"mse,omitempty"`          // mean squared error on the training rows
	R2          *float64 `json:"r2,omitempty"`           // under Value: 1 − MSE over the variance of the values; nil if that is 0
	TestMSE     *float64 `json:"test_mse,omitempty"`     // under Value, of the rows held out
	TestR2      *float64 `json:"test_r2,omitempty"`      // under Value, of the rows held out
	LOOError    *float64 `json:"loo_error,omitempty"`    // leave-one-out mean squared error
	LOOAccuracy *float64 `json:"loo_accuracy,omitempty"` // leave-one-out accuracy
	Condition   *float64 `json:"condition,omitempty"`    // of the linear system

	Iterations   int      `json:"iterations"`
	KKTViolation *float64 `json:"kkt_violation,omitempty"`
	WNorm        *float64 `json:"w_norm,omitempty"`
	Margin       *float64 `json:"margin,omitempty"`

	Weights   []float64 `json:"w,omitempty"`          // linear kernel: weights in original units
	BOriginal *float64  `json:"b_original,omitempty"` // and the matching bias

	Cores      *int     `json:"cores,omitempty"`
	JBefore    *float64 `json:"j_before,omitempty"`
	JAfter     *float64 `json:"j_after,omitempty"`
	Eigenvalue *float64 `json:"eigenvalue,omitempty"`
	SignChange *bool    `json:"sign_change,omitempty"` // c(x) changes sign

	Machines []MachineReport `json:"machines,omitempty"` // of several machines, in the model's order

	TrainN        int      `json:"train_n"`
	TestN         int      `json:"test_n,omitempty"`
	TrainAccuracy *float64 `json:"train_accuracy,omitempty"` // nil under Value
	// Tied counts training rows with tied scores: f is 0 but for rounding, or the largest scores, or
	// sums of margins, are equal to within 2^-32 of them.
	Tied         int      `json:"tied,omitempty"`
	TestAccuracy *float64 `json:"test_accuracy,omitempty"`

	// On the test set, for classification:
	TestInterval         *Interval `json:"test_interval,omitempty"` // 95 % confidence interval of the accuracy on new points
	TestBalancedAccuracy *float64  `json:"test_balanced_accuracy,omitempty"`
	TestF1               *float64  `json:"test_f1,omitempty"`  // mean over the classes
	TestMCC              *float64  `json:"test_mcc,omitempty"` // Matthews' correlation coefficient
	TestAUC              *float64  `json:"test_auc,omitempty"` // under Sign, if both classes are held out: area under the ROC curve

	// On the test set, if the machine is calibrated:
	TestLogLoss *float64 `json:"test_log_loss,omitempty"` // mean of −log p of the right class
	TestBrier   *float64 `json:"test_brier,omitempty"`    // mean of (1 − p)² of the right class

	Confusion     []ClassReport `json:"confusion,omitempty"`      // of the rows trained on
	TestConfusion []ClassReport `json:"test_confusion,omitempty"` // of those held out

	Preprocessing string  `json:"preprocessing"`
	FitSeconds    float64 `json:"fit_seconds"` // training time, without reading and drawing
}

// Result holds the result of Train.
type Result struct {
	Report Report
	Model  *Model
	Before *Model // with a conformal map: the first fit, with the original kernel

	// Scores and ScoresBefore hold the scores of Model and Before at every row of data other than
	// vectors, whose kernels may be too slow to evaluate again; nil for vectors.
	Scores, ScoresBefore *mat.Dense
}

// Points returns m.Points for m, a model of the result. d and spec must be those of the training.
func (r *Result) Points(ctx context.Context, m *Model, d *dataset.Data, spec Spec) ([]Point, error) {
	var scores *mat.Dense
	switch m {
	case r.Model:
		scores = r.Scores
	case r.Before:
		scores = r.ScoresBefore
	}
	if scores == nil {
		var err error
		if scores, err = m.scoresOn(ctx, d); err != nil {
			return nil, err
		}
	}
	return m.points(ctx, d, spec, scores)
}

// Train fits spec to d: it selects columns, splits, scales on the training set, solves,
// applies a conformal map and solves again if spec has one, and evaluates. The result
// depends only on d and spec. recorder may be nil. Train returns param.Problems for an
// invalid spec, and *dataset.Error or the solvers' errors for unsuitable data. If ctx ends,
// it returns a Result with status "cancelled" if a feasible iterate exists, otherwise
// ctx.Err().
func Train(ctx context.Context, d *dataset.Data, spec Spec, recorder trace.Recorder) (*Result, error) {
	p, err := prepare(d, spec)
	if err != nil {
		return nil, err
	}
	return p.train(ctx, spec, recorder.InTurn())
}

func (p *problem) train(ctx context.Context, spec Spec, recorder trace.Recorder) (*Result, error) {
	learner, err := lookup(spec.Learner)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	gram, err := p.trainingGram(ctx, recorder)
	if err != nil {
		return nil, err
	}
	firsts, lasts, err := p.fitAll(ctx, learner, gram, spec, recorder)
	if err != nil {
		return nil, err
	}
	res := &Result{Model: p.model(lasts)}
	if firsts != nil {
		res.Before = p.model(firsts)
	}
	rep := reportOf(res.Model, lasts)
	if spec.Calibrated() && rep.Status != trace.Cancelled {
		if res.Model.Platt, err = p.calibrate(ctx, spec); err != nil {
			return nil, err
		}
	}
	rep.FitSeconds = time.Since(start).Seconds()

	p.describe(&rep, spec, res.Model)
	if c := lasts[0].cmap; c != nil {
		rep.Values = rep.Values.With("core_gamma", param.Of(c.Gamma))
	}
	if w, b, ok := res.Model.Linear(); ok {
		rep.Weights, rep.BOriginal = w, &b
	}
	ctx = trace.Follow(ctx, trace.Scoring, recorder)
	trained, held, err := p.scored(ctx, gram, res.Model, lasts)
	if err != nil {
		return nil, err
	}
	if p.target.Rule == Value {
		if err := p.measure(&rep, trained, held); err != nil {
			return nil, err
		}
	} else {
		p.count(&rep, res.Model, trained, held)
	}
	res.Report = rep
	if p.objects == nil {
		return res, nil
	}
	res.Scores = p.mergeScores(trained, held)
	if res.Before != nil {
		if trained, held, err = p.scored(ctx, gram, res.Before, firsts); err != nil {
			return nil, err
		}
		res.ScoresBefore = p.mergeScores(trained, held)
	}
	return res, nil
}

// count sets the accuracies and confusion matrices from the scores of m on the training set and on
// the test set, nil if there is none.
func (p *problem) count(r *Report, m *Model, trained, held *mat.Dense) {
	predicted := m.predicted(trained)
	right := p.target.right(predicted, p.rows)
	r.Tied = len(lists.Where(len(p.rows), func(i int) bool {
		return !m.Rule.settled(p.target.Class[p.rows[i]], len(m.Classes), trained.RawRowView(i), 0)
	}))
	r.TrainAccuracy, r.Confusion = &right, p.target.confusion(predicted, p.rows)
	p.target.countSupportVectors(r.Confusion, m.Supports.Rows)
	if held != nil {
		r.Judge(m, lists.At(p.target.Class, p.test), held)
	}
}

// measure sets the regression errors from the scores on the training set and on the test set.
func (p *problem) measure(r *Report, trained, held *mat.Dense) error {
	e, err := errorsOf(trained.RawMatrix().Data, lists.At(p.target.Values, p.rows))
	r.MSE, r.R2 = &e.MSE, e.R2
	if held == nil || err != nil {
		return err
	}
	unseen, err := errorsOf(held.RawMatrix().Data, lists.At(p.target.Values, p.test))
	r.TestMSE, r.TestR2 = &unseen.MSE, unseen.R2
	return err
}

// scored returns the scores of m on the training set and on the test set, nil if there is none.
// gram is the kernel matrix of the training set.
func (p *problem) scored(ctx context.Context, gram kernel.Matrix, m *Model, machines []*fitted) (trained, held *mat.Dense, err error) {
	if p.objects == nil && ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx) // a cancelled training has a result as well
	}
	switch {
	case p.objects != nil && m.Rule == OneVsOne: // all are kept
		trained, err = expanded(ctx, gram, machines)
	default:
		trained, err = p.trainingScores(ctx, m, machines)
	}
	if err == nil {
		err = p.resolveTies(ctx, gram, m, machines, trained)
	}
	if err != nil || len(p.test) == 0 {
		return trained, nil, err
	}
	held, err = p.scores(ctx, m, p.test)
	return trained, held, err
}

// trainingScores returns scores of m on the training set that suffice for its predictions. The
// solvers provide f on the rows of each machine. With one-vs-one, scores on the rows of other
// classes are missing. A class that wins all its pairs has the most votes regardless of them, so
// they are computed only for rows whose right class loses a pair, and are 0 elsewhere.
func (p *problem) trainingScores(ctx context.Context, m *Model, machines []*fitted) (*mat.Dense, error) {
	scores := mat.NewDense(len(p.rows), len(machines), nil)
	for k, machine := range machines {
		for a, f := range machine.f {
			scores.Set(machine.row(a), k, f)
		}
	}
	if m.Rule != OneVsOne {
		return scores, nil
	}
	sides := m.Rule.entry().sides(len(m.Classes))
	side := func(k, row int) float64 { return sides[k].of(p.target.Class[p.rows[row]]) }
	lost := make([]bool, len(p.rows))
	for k, machine := range machines {
		for a, f := range machine.f {
			row := machine.row(a)
			lost[row] = lost[row] || (f >= 0) != (side(k, row) > 0)
		}
	}
	for k := range machines {
		open := lists.Where(len(lost), func(row int) bool { return lost[row] && side(k, row) == 0 })
		if len(open) == 0 {
			continue
		}
		f, err := p.scores(ctx, m.Alone(k), lists.At(p.rows, open))
		if err != nil {
			return nil, err
		}
		for a, row := range open {
			scores.Set(row, k, f.At(a, 0))
		}
	}
	return scores, nil
}

// scoreError bounds the difference between the scores of a solver and of its model, relative to the
// sum of the magnitudes of their terms. It is generous, since checking a row needlessly costs little.
const scoreError = 1.0 / (1 << 40)

// resolveTies replaces scores that are so close to a tie that the order of summation decides by the
// scores of the model, so that reports agree with predictions.
func (p *problem) resolveTies(ctx context.Context, gram kernel.Matrix, m *Model, machines []*fitted, scores *mat.Dense) error {
	// The norm of every row in feature space, without a conformal map.
	length := lists.Make(len(p.rows), func(i int) float64 { return math.Sqrt(math.Abs(gram.Diag(i))) })
	by := 0.0
	for _, f := range machines {
		terms, longest := 0.0, 0.0
		for i, u := range f.u {
			l := length[i]
			if f.cmap != nil {
				l *= math.Abs(f.c[i])
			}
			terms, longest = terms+math.Abs(u)*l, max(longest, l)
		}
		by = max(by, scoreError*(terms*longest+math.Abs(f.b)))
	}
	if !p.kernel.Definite() {
		by = math.Inf(1) // kernel values may exceed the product of the norms
	}
	var open []int // indices into p.rows
	for i, row := range p.rows {
		right := noClass
		if p.target.Rule != Value {
			right = p.target.Class[row]
		}
		if !m.Rule.settled(right, len(m.Classes), scores.RawRowView(i), by) {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return nil
	}
	own, err := p.scores(ctx, m, lists.At(p.rows, open))
	if err != nil {
		return err
	}
	for a, i := range open {
		scores.SetRow(i, own.RawRowView(a))
	}
	return nil
}

// mergeScores merges the scores of training and held-out rows into the order of the data.
func (p *problem) mergeScores(trained, held *mat.Dense) *mat.Dense {
	_, machines := trained.Dims()
	all := mat.NewDense(p.data.Len(), machines, nil)
	for k, i := range p.rows {
		all.SetRow(i, trained.RawRowView(k))
	}
	for k, i := range p.test {
		all.SetRow(i, held.RawRowView(k))
	}
	return all
}

// fitted is a trained machine. Its coefficients cover all training rows and are 0 for the rows of
// other classes.
type fitted struct {
	*solution
	cmap  *conformal.Map
	cores []int     // training rows
	c     []float64 // of cmap at the training rows
}

// fit trains one machine on the part q of the training rows. whole is the kernel matrix of all
// training rows, memory is shared with the other machines, and width is the gamma of the core
// kernel. first is the machine before its conformal map, nil without a map.
func (p *problem) fit(ctx context.Context, learner Learner, spec Spec, memory *svm.Memory, whole kernel.Matrix, q part, width float64, recorder trace.Recorder) (first, last *fitted, err error) {
	gram := q.of(whole)
	solve := lists.Either(p.following == nil, learner.solve, p.following)
	sol, err := solve(ctx, gram, q.y, spec, memory, recorder)
	if err != nil {
		return nil, nil, err
	}
	cores := p.cores(spec, sol.u)
	last = &fitted{solution: sol.expand(q.at, len(p.rows))}
	if spec.Conformal == "none" || sol.report.Status == trace.Cancelled {
		return nil, last, nil
	}
	first, last = last, &fitted{cores: lists.At(q.at, cores)}
	x := dataset.PickRows(p.x, q.at)
	var stats conformal.Stats
	last.cmap, stats, err = conformal.Fit(ctx, spec.Conformal, gram, x, q.y, cores, conformal.Settings{
		Gamma: width, Ridge: spec.Values.Number("core_ridge"),
	})
	if err != nil {
		return nil, nil, err
	}
	if last.c, err = p.factors(ctx, last); err != nil {
		return nil, nil, err
	}
	if sol, err = learner.solve(ctx, kernel.Scaled(gram, lists.At(last.c, q.at)), q.y, spec, memory, recorder); err != nil {
		return nil, nil, err
	}
	last.solution = sol.expand(q.at, len(p.rows))
	last.report.addMap(len(last.cores), stats)
	return first, last, nil
}

func (r *Report) addMap(cores int, stats conformal.Stats) {
	r.Cores, r.JBefore, r.JAfter, r.SignChange = &cores, finite(stats.JBefore), finite(stats.JAfter), &stats.SignChange
	if stats.Spectrum != nil {
		r.Eigenvalue = finite(stats.Eigenvalue)
	}
}

// Check returns the errors of Train that need no training: values of spec out of range, columns or
// classes missing from d.
func Check(d *dataset.Data, spec Spec) error {
	_, err := prepare(d, spec)
	return err
}

// problem is a training problem, prepared for the solvers.
type problem struct {
	data       *dataset.Data // selected columns; after split, imputed with the fill of the training set
	target     Target
	rows, test []int // training set, test set
	fill       dataset.Fill
	scaler     *dataset.Scaler
	project    *Projection
	kernel     kernel.Kernel
	x          *mat.Dense      // preprocessed training rows; nil: not vectors
	objects    dataset.Objects // training rows other than vectors

	following solver // warm-started solver for successive C; nil: the learner's own
}

func prepare(d *dataset.Data, spec Spec) (*problem, error) {
	p, err := selectColumns(d, spec)
	if err != nil {
		return nil, err
	}
	train, test := dataset.Split(p.target.Strata(), spec.TestFraction, spec.Seed)
	return p.split(spec, train, test)
}

// selectColumns validates spec and selects columns and labels.
func selectColumns(d *dataset.Data, spec Spec) (*problem, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if spec.Label != "" && spec.Label != d.Label {
		return nil, param.Problems{{Field: "label", Message: fmt.Sprintf("label: the label column of this data set is %q, not %q", d.Label, spec.Label)}}
	}
	takes, err := spec.kernel().Takes()
	if err != nil {
		return nil, param.Problems{{Field: "kernel", Message: err.Error()}}
	}
	if takes != d.Kind() {
		return nil, param.Problems{{Field: "kernel", Message: mismatch(spec.Kernel, takes, d.Kind())}}
	}
	p := &problem{data: d}
	if len(spec.Features) > 0 && spec.Applies("features") {
		if p.data, err = d.Columns(spec.Features); err != nil {
			return nil, param.Problems{{Field: "features", Message: err.Error()}}
		}
	}
	p.target, err = TargetOf(d, spec)
	return p, err
}

// mismatch returns the message for a kernel that does not take the objects of a data set. It names
// the kernels that do.
func mismatch(name string, takes, kind dataset.Kind) string {
	var names []string
	for _, r := range kernel.Table {
		if r.Takes == kind {
			names = append(names, r.Name)
		}
	}
	return fmt.Sprintf("kernel: %s compares %s, but these data are %s; use %s", name, takes.Words(), kind.Words(), strings.Join(names, ", "))
}

// split returns p with this split, and with scaling and imputation fitted to the training set.
func (p *problem) split(spec Spec, train, test []int) (*problem, error) {
	q := *p
	p = &q
	p.rows, p.test = train, test
	if p.data.Objects != nil {
		p.objects, p.kernel = p.data.Objects.Subset(p.rows), kernel.New(spec.Kernel, spec.Values, nil)
		return p, nil
	}
	p.fill = p.data.FitFill(p.rows)
	p.data = p.data.Filled(p.fill)
	p.x = dataset.PickRows(p.data.X, p.rows)
	if spec.Standardize {
		p.scaler = dataset.FitScaler(p.x)
		p.x = p.scaler.Apply(p.x)
	}
	if spec.Project == "pca" {
		var err error
		if p.project, err = fitProjection(p.x); err != nil {
			return nil, param.Problems{{Field: "project", Message: err.Error()}}
		}
		p.x = p.project.apply(p.x)
	}
	p.kernel = kernel.New(spec.Kernel, spec.Values, p.x)
	return p, nil
}

// cores returns every N-th training row, or the support vectors of the first fit.
func (p *problem) cores(spec Spec, u []float64) (cores []int) {
	if step := spec.Values.Int("core_step"); step > 0 {
		for i := 0; i < len(u); i += step {
			cores = append(cores, i)
		}
		return cores
	}
	return supports(u)
}

// fitKernel fits the kernel to the training set unless it is fitted already.
func (p *problem) fitKernel(ctx context.Context, recorder trace.Recorder) (err error) {
	if len(p.kernel.Fitted) == 0 {
		p.kernel, err = p.kernel.Fit(ctx, p.x, recorder)
	}
	return err
}

func (p *problem) trainingGram(ctx context.Context, recorder trace.Recorder) (kernel.Matrix, error) {
	if err := p.fitKernel(ctx, recorder); err != nil {
		return nil, err
	}
	if p.objects != nil {
		return kernel.GramOf(ctx, p.kernel, p.objects, recorder)
	}
	return kernel.NewGram(p.kernel, p.x), nil
}

// gram returns the kernel matrix of all rows of d, which has the columns of p's data.
func (p *problem) gram(ctx context.Context, d *dataset.Data) (kernel.Matrix, error) {
	if err := p.fitKernel(ctx, nil); err != nil {
		return nil, err
	}
	if d.Objects != nil {
		return kernel.GramOf(ctx, p.kernel, d.Objects, nil)
	}
	x := d.X
	if p.scaler != nil {
		x = p.scaler.Apply(x)
	}
	if p.project != nil {
		x = p.project.apply(x)
	}
	return kernel.NewGram(p.kernel, x), nil
}

// scores returns the scores of m at the given rows of the data.
func (p *problem) scores(ctx context.Context, m *Model, some []int) (*mat.Dense, error) {
	if p.data.Objects == nil {
		return m.scores(ctx, dataset.PickRows(p.data.X, some))
	}
	return m.ScoresOf(ctx, p.data.Objects.Subset(some))
}

// factors returns c of the conformal map of f at the training rows.
func (p *problem) factors(ctx context.Context, f *fitted) ([]float64, error) {
	if p.objects == nil {
		return f.cmap.Factors(p.x), nil
	}
	return factorsOf(ctx, p.kernel, f.cmap, p.objects, p.objects.Subset(f.cores))
}

// coreGamma resolves the gamma of the core kernel. auto is the gamma of an RBF kernel and otherwise
// as in kernel.Width. For objects other than vectors, both words mean 1 over the variance of the
// objects in feature space, which for standardised points and the linear kernel would be 1/d.
func (p *problem) coreGamma(spec Spec, k kernel.Matrix) float64 {
	width := spec.Values["core_gamma"]
	if p.objects != nil {
		if width.IsNumber() {
			return width.Number()
		}
		return 1 / featureVariance(k)
	}
	if width.Text() == "auto" && p.kernel.Name == "rbf" {
		width = p.kernel.Values["gamma"]
	}
	return kernel.Width(width, p.x)
}

// featureVariance returns the variance of the objects in feature space, mean K_ii - mean K_ij, or 1
// if that is not positive, as for an indefinite kernel.
func featureVariance(k kernel.Matrix) float64 {
	m := k.Len()
	row := make([]float64, m)
	var own, all float64
	for i := range m {
		k.Row(row, i)
		own += k.Diag(i) / float64(m)
		all += floats.Sum(row) / float64(m) / float64(m)
	}
	if v := own - all; v > 0 && !math.IsInf(v, 1) {
		return v
	}
	return 1
}

// supports returns the support vectors: the points with nonzero coefficients.
func supports(u []float64) []int {
	return lists.Where(len(u), func(i int) bool { return u[i] != 0 })
}

// model returns the model of the machines. Its supports are the training rows used by any of them.
func (p *problem) model(machines []*fitted) *Model {
	m := &Model{
		Features: p.data.Features, Label: p.data.Label, Classes: p.target.Classes, Objects: p.data.Kind(),
		Fill: p.fill, Scaler: p.scaler, Projection: p.project, Kernel: p.kernel,
		Machines: make([]Machine, len(machines)), Rule: p.target.Rule,
	}
	used := lists.Where(len(p.rows), func(i int) bool { // training rows
		return slices.ContainsFunc(machines, func(f *fitted) bool { return f.u[i] != 0 })
	})
	if len(used) > 0 {
		m.Supports.Rows = lists.At(p.rows, used)
	}
	switch {
	case p.objects != nil:
		m.Supports.Objects = p.objects.Keep(used)
	case len(used) > 0:
		m.Supports.Vectors = make([][]float64, len(used))
		x, at := p.x, used
		if 2*len(used) < len(p.rows) { // the model need not keep the others
			x, at = dataset.PickRows(x, used), dataset.Indices(len(used))
		}
		for a, i := range at {
			m.Supports.Vectors[a] = x.RawRowView(i)
		}
	}
	for k, f := range machines {
		m.Machines[k].B, m.Machines[k].Map = f.b, f.cmap
		if len(used) > 0 {
			m.Machines[k].Coef = lists.At(f.u, used)
		}
		if len(used) > 0 && p.objects != nil && f.cmap != nil {
			m.Machines[k].Factors = lists.At(f.c, used)
		}
		for _, i := range f.cores {
			m.Machines[k].CoreRows = append(m.Machines[k].CoreRows, p.rows[i])
		}
		if p.objects != nil && f.cmap != nil {
			m.Machines[k].Cores = p.objects.Keep(f.cores)
		}
	}
	return m
}

func (p *problem) describe(r *Report, spec Spec, m *Model) {
	r.N, r.D = p.data.Len(), len(p.data.Features)
	r.Rule = m.Rule
	r.Positive = p.target.Positive()
	if r.Rule != Value {
		r.Classes = p.data.Classes
	}
	r.Learner, r.Kernel = spec.Learner, spec.Kernel
	r.SupportVectors = len(m.Supports.Rows)
	for _, p := range Params {
		if v := spec.Value(p.Name); p.Telling && v.IsNumber() && spec.Applies(p.Name) {
			r.Values = r.Values.With(p.Name, v)
		}
	}
	for name, v := range p.kernel.Values {
		if q, _ := Param(name); q.Telling {
			r.Values = r.Values.With(name, v)
		}
	}
	if learnt := p.kernel.Fitted; len(learnt) == 1 {
		r.LogLikelihood, r.AtFloor, r.LeftOut = &learnt[0].LogLikelihood, &learnt[0].AtFloor, &learnt[0].LeftOut
	}
	r.TrainN, r.TestN = len(p.rows), len(p.test)
	r.Preprocessing = p.data.Kind().Prepared()
	if p.objects != nil {
		return
	}
	if spec.Standardize {
		r.Preprocessing = "standardised: mean 0 and population standard deviation 1 over the training rows"
	}
	if spec.Project == "pca" {
		r.Preprocessing += "; projected to two principal components of the training rows"
	}
	if p.fill != nil {
		r.Preprocessing = "missing values filled with the median (or most common word) of the training rows; " + r.Preprocessing
	}
}

// accuracy returns the fraction of f whose sign agrees with y; f = 0 counts as +1.
func accuracy(f, y []float64) float64 {
	right := lists.Where(len(f), func(i int) bool { return (f[i] >= 0) == (y[i] > 0) })
	return float64(len(right)) / float64(len(y))
}
