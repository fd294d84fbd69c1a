package dataset

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

func TestBuiltins(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range Builtins {
		require.Check(t, !seen[b.Slug] && b.Slug != "" && b.Name != "" && b.Help != "" && b.Source != "",
			"%q: a field is empty or the slug taken", b.Slug)
		require.Equal(t, b.Source == drawnSource, b.License == "", "%s: licence %q", b.Slug, b.License)
		seen[b.Slug] = true
		f, ok := FindBuiltin(b.Slug)
		require.Check(t, ok && f.Name == b.Name, "%s is not found", b.Slug)
		d, err := b.Load()
		require.Must(t, err == nil, "%s: %v", b.Slug, err)
		err = d.Validate()
		require.Check(t, err == nil && d.Kind() == b.Kind, "%s of kind %s: %v", b.Slug, d.Kind(), err)
		other, _ := b.Load()
		other.Y[0] = 1 - other.Y[0]
		require.Check(t, d.Y[0] != other.Y[0] && (d.X == nil || d.X != other.X),
			"%s: two callers share the data", b.Slug)
	}
	_, ok := FindBuiltin("nothing")
	require.Check(t, !ok, "a slug that is not there is found")
}

// The published figures: rows, features, rows of each class, and one mean.
func TestMeasuredSets(t *testing.T) {
	t.Parallel()
	for slug, want := range map[string]struct {
		rows, features int
		counts         []int
		feature        string
		mean           float64 // to the digits that are published
	}{
		"wine":          {178, 13, []int{59, 71, 48}, "alcohol", 13.0},
		"breast-cancer": {569, 30, []int{357, 212}, "mean_radius", 14.127},
		"digits":        {1797, 64, []int{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}, "pixel_0_0", 0},
		"heart":         {270, 13, []int{150, 120}, "", 0},
		"pima":          {768, 8, []int{500, 268}, "age", 33.241},
		"sonar":         {208, 60, []int{111, 97}, "", 0},
		"ripley":        {250, 2, []int{125, 125}, "", 0},
	} {
		b, _ := FindBuiltin(slug)
		d := require.Value(b.Load())(t)
		counts := make([]int, len(d.Classes))
		for _, y := range d.Y {
			counts[y]++
		}
		require.Check(t, d.Len() == want.rows && len(d.Features) == want.features && slices.Equal(counts, want.counts),
			"%s: %d rows of %d features, classes %v of %v", slug, d.Len(), len(d.Features), d.Classes, counts)
		if j := slices.Index(d.Features, want.feature); j >= 0 {
			require.Near(t, stat.Mean(mat.Col(nil, j, d.X), nil), want.mean, 1e-3, "%s: mean of %s", slug, want.feature)
		}
	}
}

// A set of a generator has the points that the generator draws under the noise of its name.
func TestDrawnSets(t *testing.T) {
	t.Parallel()
	for _, b := range Builtins {
		name, noise, ok := strings.Cut(b.Name, ", noise ")
		if b.Kind != KindVectors || b.License != "" {
			continue
		}
		v, err := strconv.ParseFloat(noise, 64)
		require.Must(t, ok && err == nil, "%s: the name does not tell the noise", name)
		d, _ := b.Load()
		other, err := Generate(b.Slug, d.Len(), v, 1)
		require.Check(t, err == nil && other.Hash() == d.Hash(),
			"%s: other points than the generator's: %v", b.Name, err)
	}
}

func TestIris(t *testing.T) {
	t.Parallel()
	d := require.Value(iris())(t)
	require.Equal(t, cmp.Diff([]string{"setosa", "versicolor", "virginica"}, d.Classes), "", "diff")
	means := [3][4]float64{{5.006, 3.428, 1.462, 0.246}, {5.936, 2.770, 4.260, 1.326}, {6.588, 2.974, 5.552, 2.026}}
	for c := range means {
		for j, want := range means[c] {
			v := lists.At(mat.Col(nil, j, d.X), lists.Where(len(d.Y), func(i int) bool { return d.Y[i] == c }))
			got := stat.Mean(v, nil)
			require.Check(t, len(v) == 50 && got >= want-1e-9 && got <= want+1e-9, "%s, %s: mean %g of %d, want %g of 50", d.Classes[c], d.Features[j], got, len(v), want)
		}
	}
}

func TestIrisPairs(t *testing.T) {
	t.Parallel()
	b, _ := FindBuiltin("iris-setosa-versicolor")
	d := require.Value(b.Load())(t)
	require.Equal(t, cmp.Diff([]string{"petal_length", "petal_width"}, d.Features), "", "diff")
	for i, c := range d.Y { // any cut between 1.9 and 3 separates them
		require.Check(t, (d.X.At(i, 0) > 2.5) == (d.Classes[c] == "versicolor"),
			"row %d: %s with a petal of %g cm", i, d.Classes[c], d.X.At(i, 0))
	}
}
