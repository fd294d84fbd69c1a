//go:build map

package svm

import (
	"fmt"
	"math"
	"testing"

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

// TestGrowth trains with a hundred times as many points and checks that work grows at most as
// n^1.35; rings and bananas with C = 100 come to n^1.3. The aim is 1.2. It takes some minutes and
// 2 GB:
//
//	go test -tags map -timeout 0 -run TestGrowth -v ./ml/svm
func TestGrowth(t *testing.T) {
	for _, kind := range []string{"rings", "moons", "banana"} {
		for _, c := range []float64{1, 100} {
			t.Run(fmt.Sprintf("%s/%g", kind, c), func(t *testing.T) {
				var works []float64
				for _, n := range []int{1e4, 1e6} {
					now := cell{kind, n, c, 1}.train(t)
					require.Equal(t, now.status, trace.Converged, "status")
					works = append(works, float64(now.work))
				}
				power := math.Log(works[1]/works[0]) / math.Log(100)
				t.Logf("work grows as n^%.2f, from %.3g to %.3g", power, works[0], works[1])
				require.Check(t, power <= 1.35, "work grows as n^%.2f", power)
			})
		}
	}
}
