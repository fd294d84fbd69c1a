package kernel

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/param"
)

// Reduce folds the expression of k into a value of type T: part converts a kernel of the table,
// number converts a constant, and sum and product combine two values. A kernel that is not combined
// is a single part.
func Reduce[T any](k Kernel, part func(Kernel) T, number func(float64) T, sum, product func(a, b T) T) (T, error) {
	e, err := k.expression()
	if err != nil {
		var none T
		return none, err
	}
	var value func(n node) T
	value = func(n node) T {
		join := sum
		switch n.kind {
		case isPart:
			return part(e.parts[n.part].Kernel)
		case isNumber:
			return number(n.number)
		case isProduct:
			join = product
		}
		all := value(n.of[0])
		for _, m := range n.of[1:] {
			all = join(all, value(m))
		}
		return all
	}
	return value(e.root), nil
}

// Magnitudes returns sum_j |w_j| m(z_j, x_i) for the rows x_i of x and z_j of z, where m is k with all
// products of coordinates, and all constants, replaced by their absolute values. Rounding errors of
// sum_j w_j k(z_j, x_i) are proportional to it.
func Magnitudes(k Kernel, z *mat.Dense, w []float64, x *mat.Dense) []float64 {
	type values = func(dst, x []float64)
	join := func(with func(dst, b []float64)) func(a, b values) values {
		return func(a, b values) values {
			return func(dst, x []float64) {
				a(dst, x)
				other := make([]float64, len(dst))
				b(other, x)
				with(dst, other)
			}
		}
	}
	if len(w) == 0 {
		return make([]float64, x.RawMatrix().Rows)
	}
	m, err := Reduce(k,
		func(k Kernel) values {
			if c := k.Values.Number("coef0"); c < 0 {
				k.Values = k.Values.With("coef0", param.Of(-c))
			}
			f, absolute := bind(k), func(_, _ int, v float64) float64 { return v }
			switch f.(type) {
			case products, powers, tangent, scores:
				absolute = func(_, _ int, v float64) float64 { return math.Abs(v) }
			}
			image := func(x *mat.Dense) *mat.Dense {
				var i mat.Dense
				i.Apply(absolute, embed(f, x))
				return &i
			}
			p := pack(image(z).RawMatrix())
			return func(dst, x []float64) { f.row(dst, p, image(mat.NewDense(1, len(x), x)).RawRowView(0)) }
		},
		func(v float64) values {
			return func(dst, _ []float64) {
				for i := range dst {
					dst[i] = math.Abs(v)
				}
			}
		},
		join(floats.Add), join(floats.Mul),
	)
	sums, row := make([]float64, x.RawMatrix().Rows), make([]float64, len(w))
	for i := range sums {
		if err != nil {
			break
		}
		m(row, x.RawRowView(i))
		for j, v := range row {
			sums[i] += math.Abs(w[j]) * v
		}
	}
	return sums
}

// LargestMagnitude returns a bound of m(z, x) of Magnitudes as a function of |z| |x|.
func LargestMagnitude(k Kernel) func(product float64) float64 {
	type bound = func(product float64) float64
	most, err := Reduce(k,
		func(k Kernel) bound {
			switch f := bind(k).(type) {
			case products:
				return func(p float64) float64 { return p }
			case powers:
				return func(p float64) float64 { return powi(f.gamma*p+math.Abs(f.coef0), f.degree) }
			case scores: // of images
				return func(float64) float64 { return math.Inf(1) }
			}
			return func(float64) float64 { return 1 }
		},
		func(v float64) bound { return func(float64) float64 { return math.Abs(v) } },
		func(a, b bound) bound { return func(p float64) float64 { return a(p) + b(p) } },
		func(a, b bound) bound { return func(p float64) float64 { return a(p) * b(p) } },
	)
	if err != nil {
		return func(float64) float64 { return 0 }
	}
	return most
}

// Image returns the Fisher score of x, scaled so that the kernel is the inner product of images.
func (f *Fitted) Image(x []float64) []float64 {
	s := fisher.bind(Kernel{Fitted: []Fitted{*f}}).(scores)
	image := make([]float64, s.size(0))
	s.image(image, x)
	return image
}

// Scale returns the factor of each Fisher score: one over its root mean square over the training
// rows, or 0 for a score that is 0 in all of them. It returns nil if scores are not scaled.
func (f *Fitted) Scale() []float64 {
	return fisher.bind(Kernel{Fitted: []Fitted{*f}}).(scores).scale
}
