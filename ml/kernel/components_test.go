package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// With the linear kernel, the components equal ordinary PCA, for fitted points and for others.
func TestPrincipalComponents(t *testing.T) {
	t.Parallel()
	const n, d = 40, 5
	x := mltest.Normal(rand.New(rand.NewPCG(7, 1)), n, d)
	for i := range n {
		for j := range d {
			x.Set(i, j, x.At(i, j)*float64(d-j)+3)
		}
	}
	fit := lists.Where(n, func(i int) bool { return i%4 != 1 })
	own := mat.NewDense(len(fit), d, nil)
	for a, i := range fit {
		own.SetRow(a, x.RawRowView(i))
	}
	var values mat.Dense
	values.Mul(x, x.T())
	got := require.Value(PrincipalComponents(&values, fit))(t)
	var pc stat.PC
	require.Must(t, pc.PrincipalComponents(own, nil), "no components")
	var axes mat.Dense
	pc.VectorsTo(&axes)
	vars := pc.VarsTo(nil)
	for k := range 2 {
		var sign, sum, far float64
		for i := range n {
			want := 0.0
			for j := range d {
				want += axes.At(j, k) * (x.At(i, j) - stat.Mean(mat.Col(nil, j, own), nil))
			}
			if sign == 0 {
				sign = math.Copysign(1, want*got.At[i][k])
			}
			require.Near(t, got.At[i][k], sign*want, 1e-9, "component %d of point %d", k+1, i)
			if math.Abs(got.At[i][k]) > math.Abs(far) {
				far = got.At[i][k]
			}
		}
		sum = floats.Sum(vars)
		require.Near(t, got.Share[k], vars[k]/sum, 1e-12, "the share of component %d", k+1)
		require.Check(t, far > 0, "component %d: the farthest is at %g", k+1, far)
	}
}

func TestPrincipalComponentsOfLittle(t *testing.T) {
	t.Parallel()
	ones := mat.NewDense(3, 3, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1})
	for name, fit := range map[string][]int{"nothing": nil, "one": {2}, "copies": {0, 1, 2}} {
		c, err := PrincipalComponents(ones, fit)
		require.Check(t, err == nil && len(c.At) == 3 && c.At[0] == [2]float64{} && c.At[2] == [2]float64{} && c.Share == [2]float64{},
			"%s: %+v, %v", name, c, err)
	}
	two := mat.NewDense(3, 3, []float64{1, 0, 0.5, 0, 1, 0.5, 0.5, 0.5, 0.5}) // the third lies in the middle
	c, err := PrincipalComponents(two, []int{0, 1})
	require.Check(t, err == nil && math.Abs(c.Share[0]-1) <= 1e-12 && c.Share[1] == 0 && math.Abs(math.Abs(c.At[0][0])-math.Sqrt(0.5)) <= 1e-12 && math.Abs(c.At[2][0]) <= 1e-12 && c.At[0][1] == 0,
		"%+v, %v", c, err)
	// Of these two the centred matrix has one eigenvalue that is not 0, and it is negative:
	// they spread in no direction.
	indefinite := mat.NewDense(2, 2, []float64{0, 1, 1, 0})
	c, err = PrincipalComponents(indefinite, []int{0, 1})
	require.Check(t, err == nil && c.At[0] == [2]float64{}, "%+v, %v", c, err)
	require.Fails(t, require.Err(PrincipalComponents(mat.NewDense(1, 1, []float64{math.NaN()}), []int{0})), "", "what is not a number has components")
}
