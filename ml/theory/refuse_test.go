package theory_test

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

// What no quantity can be computed of is an error.
func TestRefuses(t *testing.T) {
	t.Parallel()
	x, y, u := toy()
	same := []float64{1, 1, 1, 1, 1, 1}
	none, nan, inf, unit := new(mat.SymDense), math.NaN(), math.Inf(1), [2]float64{1, 1}
	matrix := func(n int, v ...float64) *mat.SymDense { return mat.NewSymDense(n, v) }
	two, ends, line := matrix(2, 1, 0, 0, 1), []float64{1, -1}, mat.NewDense(2, 1, []float64{-1, 3})
	indefinite := matrix(2, 1, 2, 2, 1)
	bestLine := func(y []float64, points ...[2]float64) error {
		_, _, _, err := theory.BestLine(points, y)
		return err
	}
	problem := func(p theory.Problem) error { return require.Err(p.Minimise()) }
	cases := func(p theory.Problem, walls ...theory.Wall) error { return require.Err(p.WallCases(walls)) }
	capacity := func(k *mat.SymDense, u []float64, b float64, y []float64) error {
		return require.Err(theory.NewCapacity(k, u, b, y))
	}
	weights := func(w []float64, b float64, x *mat.Dense, y []float64) error {
		return require.Err(theory.LinearCapacity(w, b, x, y))
	}
	margins := func(w []float64, y []float64) error { return require.Err(theory.LinearMargins(w, 1, x, y)) }
	for what, err := range map[string]error{
		"a line for no points":         bestLine(nil),
		"a line for one point":         bestLine(same[:1], unit),
		"a line for one place":         bestLine(ends, unit, unit),
		"a line for one label of two":  bestLine(same[:1], unit, [2]float64{}),
		"a line for a label of 0":      bestLine([]float64{1, 0}, unit, [2]float64{}),
		"a line for a place nowhere":   bestLine(ends, unit, [2]float64{nan, 0}),
		"a line for a place far away":  bestLine(ends, unit, [2]float64{inf, 0}),
		"a problem without scale":      problem(theory.Problem{}),
		"a problem with half a scale":  problem(theory.Problem{Scale: [2]float64{1, 0}}),
		"a problem of negative scale":  problem(theory.Problem{Scale: [2]float64{-1, 1}}),
		"an equality without normal":   problem(theory.Problem{Scale: unit, Kind: theory.Equality}),
		"an inequality without normal": problem(theory.Problem{Scale: unit, Kind: theory.Inequality, Offset: 1}),
		"a center that is no number":   problem(theory.Problem{Scale: unit, Center: [2]float64{nan, 0}}),
		"an infinite offset":           problem(theory.Problem{Scale: unit, Offset: inf}),
		"walls without scale":          cases(theory.Problem{Scale: [2]float64{1, 0}}),
		"a wall without normal":        cases(theory.Problem{Scale: unit}, theory.Wall{Offset: 1}),
		"a wall that is no number":     cases(theory.Problem{Scale: unit}, theory.Wall{Normal: unit, Offset: nan}),
		"too many walls":               cases(theory.Problem{Scale: unit}, make([]theory.Wall, 11)...),
		"walls and an infinite center": cases(theory.Problem{Scale: unit, Center: [2]float64{inf, 0}}),

		"margins of w = 0":                      margins([]float64{0, 0}, y),
		"margins of one weight in the plane":    margins([]float64{1}, y),
		"margins of a weight that is no number": margins([]float64{1, nan}, y),
		"margins of five labels":                margins([]float64{1, 1}, y[:5]),
		"margins of a label of 0":               require.Err(theory.NewMargins([]float64{1}, []float64{0}, 1)),
		"margins of no points":                  require.Err(theory.NewMargins(nil, nil, 1)),
		"a canonical line through the classes":  require.Err3(theory.Canonical(ends, 0, x, y)),
		"a canonical line through a point":      require.Err3(theory.Canonical([]float64{-1}, -1, line, ends)),
		"subsequences of no symbol":             require.Err(theory.SubsequenceFeatures("abc", 0)),
		"subsequences of too many":              require.Err(theory.SubsequenceFeatures(strings.Repeat("a", 60), 5)),
		"a metric of no kernel":                 require.Err(theory.Metric(kernel.Kernel{Name: "cosine"}, []float64{1})),
		"a metric of no space":                  require.Err(theory.Metric(linear, nil)),
		"half a gradient":                       require.Err(theory.ConformalMetric(linear, []float64{1, 2}, 1, []float64{1})),

		"a capacity of nothing":                 capacity(none, nil, 0, nil),
		"a capacity of one coefficient":         capacity(two, same[:1], 0, ends),
		"a capacity of a label of 2":            capacity(two, same[:2], 0, []float64{1, 2}),
		"a capacity of one label":               capacity(two, same[:2], 0, same[:1]),
		"a capacity of a coefficient of NaN":    capacity(two, []float64{1, nan}, 0, ends),
		"a capacity of an infinite bias":        capacity(two, same[:2], inf, ends),
		"a capacity of f = 0":                   capacity(two, []float64{0, 0}, 0, ends),
		"a capacity of an indefinite matrix":    capacity(indefinite, same[:2], 0, ends),
		"a capacity of an infinite matrix":      capacity(matrix(2, 1, inf, inf, 1), same[:2], 0, ends),
		"a linear capacity of two weights":      weights([]float64{1, 2}, 0, line, ends),
		"a linear capacity of one label":        weights(same[:1], 0, line, ends[:1]),
		"a linear capacity of a label of 0":     weights(same[:1], 0, line, []float64{1, 0}),
		"a linear capacity of a weight of NaN":  weights([]float64{nan}, 0, line, ends),
		"a linear capacity of an infinite bias": weights(same[:1], -inf, line, ends),
		"a linear capacity of w = 0":            weights([]float64{0}, 0, line, ends),
		"a linear capacity of a point far away": weights(same[:1], 0, mat.NewDense(2, 1, []float64{inf, 1}), ends),
		"a linear capacity of nothing":          weights(nil, 0, new(mat.Dense), nil),

		"components of points that coincide": require.Err(theory.KernelPCA(matrix(2, 1, 1, 1, 1), 2)),
		"no components":                      require.Err(theory.KernelPCA(matrix(2, 1, 1, 1, 1), 0)),
		"closeness of one point":             require.Err(theory.NewCloseness(matrix(1, 1))),
		"closeness of zeros":                 require.Err(theory.NewCloseness(mat.NewSymDense(2, nil))),
		"the bias of no function":            require.Err(theory.NewBiasVariance(new(mat.Dense), nil)),
		"the bias of one label of two":       require.Err(theory.NewBiasVariance(mat.NewDense(1, 2, nil), []float64{1})),
		"the bias of a probability of -1":    require.Err(theory.NewBiasVariance(mat.NewDense(1, 1, nil), []float64{-1})),
		"the bias of a probability of NaN":   require.Err(theory.NewBiasVariance(mat.NewDense(1, 1, nil), []float64{nan})),
		"the bias of f = NaN":                require.Err(theory.NewBiasVariance(mat.NewDense(1, 1, []float64{nan}), []float64{1})),
		"biases of five coefficients":        require.Err(theory.NewBiases(unit[:], x, y, u[:5])),
		"biases of no support vectors":       require.Err(theory.NewBiases(unit[:], x, y, make([]float64, 6))),
	} {
		require.Check(t, err != nil, "%s: no error", what)
	}
	for name, c := range map[string]struct{ w, y []float64 }{
		"one weight in the plane": {[]float64{1}, y},
		"five labels":             {unit[:], y[:5]},
		"one class":               {unit[:], same},
		"no number":               {[]float64{nan, 1}, y},
	} {
		require.Fails(t, require.Err(theory.HardCeiling(c.w, x, c.y)), "", "a ceiling with %s", name)
		require.Fails(t, require.Err(theory.NewBiases(c.w, x, c.y, u)), "", "biases with %s", name)
		require.Fails(t, require.Err3(theory.BiasInterval(c.w, x, c.y, u, 1)), "", "an interval with %s", name)
	}
	for _, points := range [][][2]float64{nil, make([][2]float64, 7), {{nan, 0}}, {{0, inf}}} {
		require.Fails(t, require.Err(theory.ShatterLines(points)), "", "ShatterLines(%v) succeeded", points)
	}
	for i, k := range []*mat.SymDense{none, mat.NewSymDense(7, nil), indefinite, matrix(1, nan)} {
		require.Fails(t, require.Err(theory.ShatterKernel(k)), "", "ShatterKernel, row %d succeeded", i)
	}
	for i, k := range []*mat.SymDense{none, matrix(2, 1, nan, nan, 1)} {
		require.Fails(t, require.Err(theory.Mercer(k)), "", "Mercer, row %d succeeded", i)
		require.Fails(t, require.Err(theory.KernelPCA(k, 2)), "", "KernelPCA, row %d succeeded", i)
		require.Fails(t, require.Err(theory.NewCloseness(k)), "", "NewCloseness, row %d succeeded", i)
	}
}
