package ml

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Platt maps a decision value f(x) to the probability of the positive class,
// p = 1/(1 + exp(A f + B)).
type Platt struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// Probability returns the probability of the positive class at a decision value f.
func (p Platt) Probability(f float64) float64 {
	// Written so that exp does not overflow.
	if z := p.A*f + p.B; z >= 0 {
		return math.Exp(-z) / (1 + math.Exp(-z))
	} else {
		return 1 / (1 + math.Exp(z))
	}
}

// FitPlatt returns the maximum likelihood A and B for points with decision values f. The points
// must not have been used to train the machine. Instead of 1 and 0 the targets are
// (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2), so that separated classes do not get probabilities of 0 and 1.
// (Platt: "Probabilistic outputs for support vector machines and comparisons
// to regularized likelihood methods", 1999; Newton's method with backtracking, without
// cancellation: Lin, Lin, Weng: "A note on Platt's probabilistic outputs for
// support vector machines", Machine Learning 68, 2007.)
//
// Errors are *param.Refusal: a single class, or values that are not finite.
func FitPlatt(f []float64, positive []bool) (Platt, error) {
	var size, plus float64
	for i, v := range f {
		if finite(v) == nil {
			return Platt{}, param.Refuse("use a smaller C, or standardise the features", "the decision value %g cannot be turned into a probability", v)
		}
		size = max(size, math.Abs(v))
		if positive[i] {
			plus++
		}
	}
	minus := float64(len(f)) - plus
	if plus == 0 || minus == 0 {
		return Platt{}, param.Refuse("add points of the other class", "calibration needs points of two classes")
	}
	size = cmp.Or(size, 1)
	// The problem is convex. Scaling by the largest |f| makes the Hessian independent of units.
	g, target := make([]float64, len(f)), make([]float64, len(f))
	for i, v := range f {
		g[i], target[i] = v/size, 1/(minus+2)
		if positive[i] {
			target[i] = (plus + 1) / (plus + 2)
		}
	}
	// loss is Σ −t log p − (1 − t) log(1 − p), written without differences of large numbers.
	loss := func(a, b float64) (sum float64) {
		for i, v := range g {
			if z := a*v + b; z >= 0 {
				sum += target[i]*z + math.Log1p(math.Exp(-z))
			} else {
				sum += (target[i]-1)*z + math.Log1p(math.Exp(z))
			}
		}
		return sum
	}
	const (
		ridge = 1e-12 // keeps the Hessian of equal values invertible
		small = 1e-10 // gradient per point
	)
	a, b := 0.0, math.Log((minus+1)/(plus+1))
	value := loss(a, b)
	for range 200 {
		haa, hbb, hab, da, db := ridge, ridge, 0.0, 0.0, 0.0
		for i, v := range g {
			p := Platt{a, b}.Probability(v)
			w, miss := p*(1-p), target[i]-p
			haa, hbb, hab = haa+v*v*w, hbb+w, hab+v*w
			da, db = da+v*miss, db+miss
		}
		if max(math.Abs(da), math.Abs(db)) < small*float64(len(g)) {
			break
		}
		det := haa*hbb - hab*hab
		stepA, stepB := -(hbb*da-hab*db)/det, -(haa*db-hab*da)/det
		slope := da*stepA + db*stepB
		share := 1.0
		for ; share >= 1e-10; share /= 2 {
			if next := loss(a+share*stepA, b+share*stepB); next < value+1e-4*share*slope {
				a, b, value = a+share*stepA, b+share*stepB, next
				break
			}
		}
		if share < 1e-10 {
			break // the loss no longer decreases beyond rounding: optimum
		}
	}
	return Platt{a / size, b}, nil
}

// calibrationFolds is the number of cross-validation folds of the training set used to fit
// Platt's sigmoid; fewer if a class has fewer rows.
const calibrationFolds = 5

// calibrationStream makes these folds independent of other draws with the same seed.
const calibrationStream = 0xca11b

// uncalibrated returns s without calibration.
func (s Spec) uncalibrated() Spec {
	if !s.Calibrated() {
		return s
	}
	p, _ := Param("calibration")
	return s.With(p.Name, p.Read(p.Default))
}

// Calibrated reports whether the model gives probabilities.
func (s Spec) Calibrated() bool {
	return s.Values.Text("calibration") == "platt" && s.Applies("calibration")
}

// splitFold splits rows into those outside and inside a fold, given as ascending indices into rows.
func splitFold(rows, fold []int) (in, out []int) {
	for k, i := range rows {
		if _, held := slices.BinarySearch(fold, k); held {
			out = append(out, i)
		} else {
			in = append(in, i)
		}
	}
	return in, out
}

// platt fits the sigmoid, for each C of cs, to cross-validated decision values on the rows of train.
func (t *Trainer) platt(ctx context.Context, train []int, cs []float64) ([]Platt, []error, error) {
	target := t.p.target
	if target.Rule != Sign {
		return nil, nil, param.Problems{{Field: "calibration", Message: "calibration: probabilities need two classes; choose a positive class"}}
	}
	class, number := make([]float64, len(train)), [2]int{}
	for k, i := range train {
		class[k] = float64(target.Class[i])
		number[target.Class[i]]++
	}
	folds, err := dataset.Deal(class, max(2, min(calibrationFolds, number[0], number[1])), rand.New(rand.NewPCG(t.spec.Seed, calibrationStream)))
	if err != nil {
		return nil, nil, param.Refuse("switch calibration off, or use more points", "calibration holds out points of each class, but one class has only %d", min(number[0], number[1]))
	}
	f := make([][]float64, len(cs)) // by C, in the order of the folds
	faults := make([]error, len(cs))
	var positive []bool
	plain := &Trainer{p: t.p, spec: t.spec.uncalibrated()}
	for _, fold := range folds {
		in, out := splitFold(train, fold)
		positive = append(positive, positives(lists.At(target.Class, out))...)
		judged, err := plain.Judge(ctx, in, out, cs)
		if err != nil {
			return nil, nil, err
		}
		for a, j := range judged {
			if j.Fault != nil {
				faults[a] = j.Fault
				continue
			}
			f[a] = slices.Concat(f[a], mat.Col(nil, 0, j.Scores))
		}
	}
	fitted := make([]Platt, len(cs))
	for a := range cs {
		if faults[a] == nil {
			fitted[a], faults[a] = FitPlatt(f[a], positive)
		}
	}
	return fitted, faults, nil
}

// calibrate fits the sigmoid for a machine trained on the whole training set.
func (p *problem) calibrate(ctx context.Context, spec Spec) (*Platt, error) {
	fitted, faults, err := (&Trainer{p: p, spec: spec}).platt(ctx, p.rows, []float64{spec.Values.Number("C")})
	if err == nil {
		err = faults[0]
	}
	if err != nil {
		return nil, err
	}
	return &fitted[0], nil
}

// losses returns the mean log loss −log p, with p the probability of the right class clipped to
// at least 2⁻⁵², and the Brier score, the mean of (1 − p)².
func (p Platt) losses(f []float64, positive []bool) (logLoss, brier float64) {
	const least = 0x1p-52
	for i, v := range f {
		right := p.Probability(v)
		if !positive[i] {
			right = 1 - right
		}
		logLoss -= math.Log(max(right, least))
		brier += (1 - right) * (1 - right)
	}
	n := float64(len(f))
	return logLoss / n, brier / n
}
