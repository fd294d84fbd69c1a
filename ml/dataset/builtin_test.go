package dataset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

func TestBuiltins(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range Builtins {
		if seen[b.Slug] || b.Slug == "" || b.Name == "" || b.Help == "" || b.Source == "" {
			t.Errorf("%q: a field is empty or the slug taken", b.Slug)
		}
		seen[b.Slug] = true
		if f, ok := FindBuiltin(b.Slug); !ok || f.Name != b.Name {
			t.Errorf("%s is not found", b.Slug)
		}
		d, err := b.Load()
		if err != nil {
			t.Errorf("%s: %v", b.Slug, err)
			continue
		}
		if err := d.Validate(); err != nil || d.Kind() != b.Kind {
			t.Errorf("%s of kind %s: %v", b.Slug, d.Kind(), err)
		}
		other, _ := b.Load()
		other.Y[0] = 1 - other.Y[0]
		if d.Y[0] == other.Y[0] || d.X != nil && d.X == other.X {
			t.Errorf("%s: two callers share the data", b.Slug)
		}
	}
	if _, ok := FindBuiltin("nothing"); ok {
		t.Error("a slug that is not there is found")
	}
}

// TestIris compares with the known means of the three species.
func TestIris(t *testing.T) {
	t.Parallel()
	d, err := iris()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"setosa", "versicolor", "virginica"}, d.Classes); diff != "" {
		t.Error(diff)
	}
	means := [3][4]float64{{5.006, 3.428, 1.462, 0.246}, {5.936, 2.770, 4.260, 1.326}, {6.588, 2.974, 5.552, 2.026}}
	for c := range means {
		for j, want := range means[c] {
			var v []float64
			for i, y := range d.Y {
				if y == c {
					v = append(v, mat.Col(nil, j, d.X)[i])
				}
			}
			if got := stat.Mean(v, nil); len(v) != 50 || got < want-1e-9 || got > want+1e-9 {
				t.Errorf("%s, %s: mean %g of %d, want %g of 50", d.Classes[c], d.Features[j], got, len(v), want)
			}
		}
	}
}

func TestIrisPairs(t *testing.T) {
	t.Parallel()
	b, _ := FindBuiltin("iris-setosa-versicolor")
	d, err := b.Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"petal_length", "petal_width"}, d.Features); diff != "" {
		t.Error(diff)
	}
	for i, c := range d.Y { // any cut between 1.9 and 3 separates them
		if long := d.X.At(i, 0) > 2.5; long != (d.Classes[c] == "versicolor") {
			t.Errorf("row %d: %s with a petal of %g cm", i, d.Classes[c], d.X.At(i, 0))
		}
	}
}
