package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml/mltest/require"
)

// scattered makes correlated points in R^d, with a constant column if d allows.
func scattered(n, d int) *Data {
	rng := rand.New(rand.NewPCG(7, uint64(d)))
	data := &Data{Label: "label", X: mat.NewDense(n, d, nil), Classes: []string{"A", "B"}, Y: make([]int, n)}
	for j := range d {
		data.Features = append(data.Features, string(rune('a'+j)))
	}
	for i := range n {
		common := rng.NormFloat64()
		for j := range d {
			v := float64(j+1) * (common + rng.NormFloat64()*float64(j+1)/4)
			if j == 3 {
				v = 42
			}
			data.X.Set(i, j, 100*float64(j)+v)
		}
		data.Y[i] = i % 2
	}
	return data
}

// checkPlane asserts that points of the plane come back to themselves.
func checkPlane(t *testing.T, v View, onlyS bool) {
	t.Helper()
	origin, u, w := v.Center, v.Axes[0], v.Axes[1]
	for _, p := range [][2]float64{{0, 0}, {1, 0}, {0, 1}, {-3.5, 12}} {
		x := make([]float64, len(origin))
		for j := range x {
			x[j] = origin[j] + p[0]*u[j] + p[1]*w[j]
		}
		want := p
		if onlyS {
			want[1] = 0
		}
		s, tt := v.Point(x)
		require.Equal(t, cmp.Diff(want, [2]float64{s, tt}, approx(1e-9)), "", "d = %d (-want +got)", len(origin))
	}
}

func TestColumnView(t *testing.T) {
	t.Parallel()
	d := scattered(50, 5)
	v := require.Value(ColumnView(d, "c", "a"))(t)
	checkPlane(t, v, false)
	for i := range 50 {
		s, tt := v.Point(d.X.RawRowView(i))
		require.Check(t, s == d.X.At(i, 2) && tt == d.X.At(i, 0), "row %d is drawn at %g, %g", i, s, tt)
	}
	mean := stat.Mean(mat.Col(nil, 1, d.X), nil)
	require.Equal(t, cmp.Diff([]float64{0, mean, 0, 342, v.Center[4]}, v.Center, approx(1e-9)), "", "the other columns are at their means (-want +got)")
	require.Check(t, v.Labels == [2]string{"c", "a"} && !v.Exact, "labels %v, exact %v", v.Labels, v.Exact)
	for _, tt := range []struct{ a, b, want string }{
		{"a", "z", `no feature "z": expected one of a, b, c, d, e`},
		{"", "a", `no feature "": expected one of a, b, c, d, e`},
		{"a", "a", `feature "a" on both axes: expected two features`},
	} {
		_, err := ColumnView(d, tt.a, tt.b)
		require.Check(t, err != nil && err.Error() == tt.want, "got %v, want %s", err, tt.want)
	}
}

func TestViewOfPlaneAndLine(t *testing.T) {
	t.Parallel()
	plane, line := scattered(20, 2), scattered(20, 1)
	v, err := ColumnView(plane, "a", "b")
	require.Check(t, err == nil && v.Exact, "a plane seen by its columns is exact: %v, %v", v.Exact, err)
	require.Check(t, PCAView(plane).Exact, "a plane seen by its components is exact")
	v = require.Value(ColumnView(line, "a", ""))(t)
	for _, v := range []View{v, PCAView(line)} {
		checkPlane(t, v, true)
		require.Check(t, v.Labels[1] == "" && v.Exact, "labels %q, exact %v", v.Labels, v.Exact)
		for i := range 20 {
			_, tt := v.Point(line.X.RawRowView(i))
			require.Check(t, tt == 0, "row %d lies at t = %g", i, tt)
		}
	}
}

func TestPCAView(t *testing.T) {
	t.Parallel()
	for _, d := range []int{2, 3, 5, 12} {
		data := scattered(60, d)
		v := PCAView(data)
		checkPlane(t, v, false)
		var ss, ts []float64
		for i := range 60 {
			s, tt := v.Point(data.X.RawRowView(i))
			ss, ts = append(ss, s), append(ts, tt)
		}
		require.Near(t, stat.Mean(ss, nil), 0, 1e-9, "d = %d: the mean", d)
		require.Near(t, stat.Correlation(ss, ts, nil), 0, 1e-9, "d = %d: the correlation of the components", d)
		// The singular values of the standardised rows are an independent truth.
		var svd mat.SVD
		svd.Factorize(FitScaler(data.X).Apply(data.X), mat.SVDNone)
		values := svd.Values(nil)
		for k, c := range [][]float64{ss, ts} {
			require.Near(t, stat.PopStdDev(c, nil), values[k]/math.Sqrt(60), 1e-9, "d = %d: component %d spreads by", d, k+1)
			largest := 0.0
			for j, to := range v.To[k] {
				if loading := to * FitScaler(data.X).Scale[j]; math.Abs(loading) > math.Abs(largest)+1e-9 {
					largest = loading
				}
			}
			require.Check(t, largest > 0, "d = %d: the largest loading of component %d is %g", d, k+1, largest)
		}
	}
}

func TestPCAViewLabels(t *testing.T) {
	t.Parallel()
	// Correlation 0.6 exactly: shares 80 % and 20 %.
	d := read(t, "a,b,label\n1,1.4,A\n1,-0.2,B\n-1,0.2,A\n-1,-1.4,B\n")
	require.Equal(t, cmp.Diff([2]string{"PC 1 (80 %)", "PC 2 (20 %)"}, PCAView(d).Labels), "", "diff")
	constant := PCAView(read(t, "a,b,label\n1,2,A\n1,2,B\n"))
	require.Check(t, !strings.Contains(constant.Labels[0], "NaN"), "constant columns: %v", constant.Labels)
	checkPlane(t, constant, false)
}

// The axes tell the labels apart: not the first, constant or few-valued features if there are others.
func TestSeparating(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	rows, labels, numbers := make([][]float64, 90), make([]string, 90), make([]string, 90)
	for i := range rows {
		c := float64(i % 3)
		v := r.NormFloat64()
		rows[i] = []float64{r.NormFloat64(), 7, c, 3*c + r.NormFloat64(), r.NormFloat64(), 2*c + r.NormFloat64(), v}
		labels[i], numbers[i] = string("pqr"[i%3]), fmt.Sprint(5*v+0.1*r.NormFloat64())
	}
	names := []string{"noise", "constant", "code", "best", "more", "second", "value"}
	for _, tc := range []struct {
		labels  []string
		columns []int
		a, b    string
	}{
		{labels, []int{0, 1, 2, 3, 4, 5}, "best", "second"},
		{labels, []int{5, 4, 3}, "second", "best"},
		{labels, []int{1, 2, 0}, "code", "noise"},
		{labels, []int{1, 0}, "constant", "noise"},
		{labels, []int{4}, "more", ""},
		{numbers, []int{1, 6, 0}, "value", "noise"},
	} {
		some, own := make([][]float64, len(rows)), make([]string, len(tc.columns))
		for k, j := range tc.columns {
			own[k] = names[j]
		}
		for i := range some {
			for _, j := range tc.columns {
				some[i] = append(some[i], rows[i][j])
			}
		}
		d := require.Value(FromRows(own, some, tc.labels))(t)
		a, b := Separating(d)
		require.Check(t, a == tc.a && b == tc.b, "of %v: %s and %s, want %s and %s", own, a, b, tc.a, tc.b)
	}
}
