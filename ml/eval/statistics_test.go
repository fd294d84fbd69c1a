package eval_test

import (
	"math"
	"testing"

	"marginlab/ml/eval"
)

func TestSignTest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b int
		want float64
	}{{0, 0, 1}, {1, 0, 1}, {0, 5, 2. / 32}, {5, 1, 14. / 64}, {3, 3, 1}} {
		for _, got := range []float64{eval.SignTest(c.a, c.b), eval.SignTest(c.b, c.a)} {
			if math.Abs(got-c.want) > 1e-12 {
				t.Errorf("%d to %d: %.12g, want %.12g", c.a, c.b, got, c.want)
			}
		}
	}
}
