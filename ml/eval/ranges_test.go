package eval_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
)

func TestValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []float64
	}{
		{"C", "3", []float64{3}},
		{"C", "0.01..100", []float64{0.01, 0.1, 1, 10, 100}},
		{"C", "0.01..100/3", []float64{0.01, 1, 100}},
		{"C", "1..2/3lin", []float64{1, 1.5, 2}},
		{"gamma", "0.5..8/5log", []float64{0.5, 1, 2, 4, 8}},
		{"coef0", "0..1", []float64{0, 0.25, 0.5, 0.75, 1}},
		{"degree", "1..4/4", []float64{1, 2, 3, 4}},
		{"degree", "1..3/9", []float64{1, 2, 3}},
	} {
		p, _ := ml.Param(c.name)
		got, err := eval.Values(p, c.text)
		require.Check(t, err == nil && cmp.Equal(got, eval.Numbers(c.want...)),
			"%s %s: %v, %v", c.name, c.text, got, err)
	}
	for _, c := range []struct{ name, text, why string }{
		{"C", "10..1", "increasing range"},
		{"C", "1..10/1", "2 to 10000 values"},
		{"C", "1..10/x", "2 to 10000 values"},
		{"C", "1..10/20000", "2 to 10000 values"},
		{"C", "-1..10", "C"},
		{"coef0", "0..1/3log", "must start above 0"},
		{"gamma", "auto..1", "increasing range"},
		{"C", "1..", "C"},
	} {
		p, _ := ml.Param(c.name)
		got, err := eval.Values(p, c.text)
		require.Check(t, err != nil && strings.Contains(err.Error(), c.why), "%s %s: %v, %v", c.name, c.text, got, err)
	}
}
