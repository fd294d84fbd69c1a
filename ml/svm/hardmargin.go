package svm

import "math"

const (
	// growth of a hard-margin objective by this factor ends a round: stretch then detects an
	// unbounded dual before numbers overflow or rounding unbalances them.
	growth = 1e6
	// separable is the smallest accepted margin, relative to the extent of the points.
	separable = 1e-6
	// untold is the rounding error of a squared distance in feature space, a difference of kernel
	// values, relative to max |K_ii|.
	untold = 0x1p-48
	// indefinite is how far a squared length must be below 0, relative to max |K_ii|, to prove
	// the kernel indefinite despite rounding.
	indefinite = 0x1p-40
)

// outgrown reports whether the objective of a hard margin has grown enough to end the round.
func (o *state) outgrown() bool {
	if !math.IsInf(o.c, 1) {
		return false
	}
	if math.IsInf(o.enough, 1) && o.Objective > 0 {
		o.enough = growth * o.Objective
	}
	return o.Objective > o.enough
}

// margin returns the error, if any, that follows from a proof that the squared hard margin is at
// most square. It compares with the extent of the points. Their distance from the origin of
// feature space is irrelevant, except for its effect on rounding.
func (o *state) margin(square float64) error {
	noise := untold * o.size
	switch {
	case square < -indefinite*o.size:
		return ErrUnbounded
	case square > max(noise, separable*separable*o.extent):
		return nil
	case noise > separable*o.extent && o.extent > 0: // not even a thousandth of the extent is visible
		return ErrRounding
	default:
		return ErrNotSeparable
	}
}

// measure sets the extent.
func (o *smo[T]) measure() error {
	row := make([]float64, o.m)
	o.k.Row(row, 0)
	for j, v := range row {
		d := o.diag[0] + o.diag[j] - 2*v
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return ErrOverflow
		}
		if v != o.diag[0] || v != o.diag[j] { // distinct points, even if rounding hides it
			d = max(d, 0x1p-53*o.size)
		}
		o.extent = max(o.extent, d)
	}
	return nil
}

// stretch goes to the maximum of the hard-margin objective along the ray through u:
// t sum alpha - t² u'Ku / 2 is largest at t = sum alpha / u'Ku. At the solution t = 1. If there is no
// solution, u grows by large factors until that is proved: every feasible alpha shows that the
// margin is at most |w| / sum alpha (half the distance of two points in the convex hulls of the
// classes). With an indefinite kernel u'Ku may be negative: the objective is then unbounded along
// the ray.
func (o *smo[T]) stretch() error {
	sum, square := o.dual()
	if sum == 0 {
		return nil
	}
	if o.margin(square/sum/sum) != nil {
		if done, err := o.refresh(); !done || err != nil {
			return err
		}
		sum, square = o.dual()
		if err := o.margin(square / sum / sum); err != nil {
			return err
		}
	}
	t := sum / square
	o.scale(t)
	o.Objective = sum * t / 2
	return nil
}
