//go:build map

package svm

import (
	"context"
	"fmt"
	"math"
	"testing"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// TestWholeMap compares the cells for 5000 to 20 000 points and takes about ten minutes:
//
//	go test -tags map -timeout 0 -run TestWholeMap ./ml/svm
//
// With -map it prints the lines of the committed table.
func TestWholeMap(t *testing.T) {
	for _, n := range []int{5000, 10000, 20000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { compareMap(t, n) })
	}
}

// TestGrowth trains with a hundred times as many points and checks that work grows at most as n
// to the given power. It takes some minutes:
//
//	go test -tags map -timeout 0 -run TestGrowth -v ./ml/svm
func TestGrowth(t *testing.T) {
	for _, g := range []struct {
		kind     string
		c, power float64
	}{{"rings", 1, 1.2}, {"moons", 1, 1.2}, {"moons", 100, 1.2}} {
		t.Run(fmt.Sprintf("%s/%g", g.kind, g.c), func(t *testing.T) {
			var works []float64
			for _, n := range []int{1e4, 1e6} {
				x, y := plane(g.kind, n)
				k := &inCells{Gram: kernel.NewGram(kernel.RBF(1), x), saved: new(int)}
				now := cell{g.kind, n, g.c, 1}.trainOn(t, k, y)
				require.Equal(t, now.status, trace.Converged, "status")
				works = append(works, float64(now.work-*k.saved))
			}
			power := math.Log(works[1]/works[0]) / math.Log(100)
			t.Logf("work grows as n^%.2f, from %.3g to %.3g", power, works[0], works[1])
			require.Check(t, power <= g.power, "work grows as n^%.2f", power)
		})
	}
}

// inCells is a matrix that counts the work saved by its products in cells, which the solver's
// account charges as full products.
type inCells struct {
	*kernel.Gram
	saved *int
}

func (k *inCells) Subset(points []int) Matrix {
	return &inCells{k.Gram.Subset(points).(*kernel.Gram), k.saved}
}

func (k *inCells) Merged(ctx context.Context, y, w []float64, size int) (Matrix, []int, float64) {
	merged, group, apart := k.Gram.Merged(ctx, y, w, size)
	if merged == nil {
		return nil, nil, apart
	}
	return &inCells{merged.(*kernel.Gram), k.saved}, group, apart
}

func (k *inCells) AddProduct(ctx context.Context, dst []float64, points []int, w []float64) error {
	k.count(len(dst), len(points))
	return k.Gram.AddProduct(ctx, dst, points, w)
}

func (k *inCells) AddProduct32(ctx context.Context, dst []float64, points []int, w []float64) error {
	k.count(len(dst), len(points))
	return k.Gram.AddProduct32(ctx, dst, points, w)
}

// count assumes that products of more than 2^27 values use cells, at 64 values of work per point.
func (k *inCells) count(n, m int) {
	if n*m > 1<<27 {
		*k.saved += n*m - 64*(n+m)
	}
}
