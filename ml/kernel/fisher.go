package kernel

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/mixture"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// fisher compares points by their Fisher scores under a mixture of Gaussians: the direction in
// which each would change the parameters. The mixture is fitted to the training set without
// labels.
//
// Sources: Jaakkola and Haussler, NIPS 11 (1998); lecture notes (001), section 21.
var fisher = Entry{
	Name: "fisher", Label: "Fisher", Formula: "k(x, z) = U(x)ᵀ F⁻¹ U(z),  U(x) = ∇ log p(x) of a mixture of Gaussians", Takes: dataset.KindVectors, PSD: true,
	Help: "Two points are similar if they would push the parameters of a mixture of Gaussians in the same direction. The mixture is fitted to the training rows by EM, without their labels.",
	Params: []param.Param{
		{
			Name: "components", Label: "components", Symbol: "K", Kind: param.Integer, Default: "2",
			Min: 1, Max: 100, Low: 1, High: 10, Telling: true, Help: "Number of Gaussians in the mixture, each with its own mean and variances.",
		},
		{
			Name: "information", Label: "inverse Fisher matrix", Off: "no inverse Fisher matrix", Kind: param.Switch, Default: "true", Telling: true,
			Help: "Divide every score by its root mean square over the training rows: the inverse of the diagonal Fisher matrix. Without it, the scores of narrow components outweigh all others.",
		},
		{
			Name: "starts", Label: "starts of EM", Kind: param.Integer, Default: "5",
			Min: 1, Max: 100, Low: 1, High: 20, Folded: true, Help: "Number of EM starts, each from other rows; the mixture with the largest likelihood is kept.",
		},
		{
			Name: "variance_floor", Label: "lowest variance", Kind: param.Number, Default: "0.001",
			Min: 0, OpenMin: true, Max: 1, Low: 1e-6, High: 0.1, Log: true, Folded: true, Help: "Lowest variance of a component, as a fraction of the feature's variance: keeps it from collapsing onto a single point.",
		},
		{
			Name: "start_seed", Label: "seed of EM", Kind: param.Integer, Default: "1",
			Min: 1, Max: 1 << 53, Low: 1, High: 100, Folded: true, Help: "Random seed of the EM starts: same seed, same mixture.",
		},
	},
	fit: fitFisher,
	bind: func(k Kernel) function {
		s := scores{density: k.Fitted[0].Density()}
		for _, square := range k.Fitted[0].Information {
			scale := 0.0 // for a score that is 0 at all training rows
			if square > 0 {
				scale = 1 / math.Sqrt(square)
			}
			s.scale = append(s.scale, scale)
		}
		return s
	},
}

// maxScores bounds the number of scores of all rows: two copies of 256 MB are held.
const maxScores = 1 << 25

// Fitted is the fitted state of a Fisher kernel.
type Fitted struct {
	mixture.Mixture
	// Information is the diagonal of the empirical Fisher matrix: the mean square of each
	// score over the training rows. nil: the kernel is linear in the scores.
	Information []float64 `json:"information,omitempty"`

	LogLikelihood float64 `json:"log_likelihood"`     // of the training rows
	AtFloor       int     `json:"at_floor,omitempty"` // components at the lowest variance
	LeftOut       int     `json:"left_out,omitempty"` // components removed because they lost all rows
}

func fitFisher(ctx context.Context, v param.Values, x *mat.Dense, recorder trace.Recorder) (Fitted, error) {
	m, err := mixture.Fit(ctx, x, mixture.Settings{
		Components: v.Int("components"), Starts: v.Int("starts"), Floor: v.Number("variance_floor"), Seed: uint64(v.Number("start_seed")), Recorder: recorder,
	})
	if err != nil {
		return Fitted{}, err
	}
	f := Fitted{Mixture: m.Mixture, LogLikelihood: m.LogLikelihood, AtFloor: len(m.AtFloor), LeftOut: m.LeftOut}
	if !v.Switch("information") {
		return f, nil
	}
	p := f.Density()
	score := make([]float64, p.Scores())
	f.Information = make([]float64, len(score))
	n, _ := x.Dims()
	for i := range n {
		if i%1024 == 0 && ctx.Err() != nil {
			return Fitted{}, ctx.Err()
		}
		p.Score(score, x.RawRowView(i))
		for a, u := range score {
			f.Information[a] += u * u / float64(n)
		}
	}
	if !finite(f.Information) {
		return Fitted{}, param.Refuse("standardise the features", "the Fisher matrix of these rows overflows")
	}
	return f, nil
}

// check returns an error if f cannot be evaluated at points with d coordinates.
func (f *Fitted) check(d int) error {
	if err := f.Mixture.Check(d); err != nil {
		return err
	}
	if n := f.Len() * (1 + 2*d); f.Information != nil && len(f.Information) != n {
		return errors.New("information: expected one number for each score")
	}
	if !finite(f.Information) {
		return errors.New("information: expected finite numbers of at least 0")
	}
	return nil
}

// finite reports whether all squares are finite and nonnegative.
func finite(squares []float64) bool {
	return !slices.ContainsFunc(squares, func(v float64) bool { return !(v >= 0) || math.IsInf(v, 1) })
}

// scores is the inner product of scaled Fisher scores.
type scores struct {
	density *mixture.Density
	scale   []float64 // empty: all ones
}

func (k scores) size(int) int { return k.density.Scores() }

func (k scores) image(dst, x []float64) {
	k.density.Score(dst, x)
	for a, s := range k.scale {
		dst[a] *= s
	}
}

func (scores) width() float64 { return 0 }

func (k scores) row(dst []float64, x packed, z []float64) { productRow(dst, x, z) }
