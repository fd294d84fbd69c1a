//go:build peers

package bench

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// networkx compares the kernel matrix of graphs.
func networkx(t *testing.T, all *table) {
	need(t, python, "-c", "import networkx, scipy.sparse")
	sizes := []int{1000}
	if *full {
		sizes = append(sizes, 4000)
	}
	for _, n := range sizes {
		graphs := mltest.Molecules(t, n, 30)
		var lines strings.Builder
		for _, g := range graphs.Values {
			fmt.Fprintln(&lines, g)
		}
		in := require.File(t, "graphs.jsonl", lines.String())
		for _, h := range []int{1, 4} {
			k := kernel.Kernel{Name: "wl", Values: param.Values{"rounds": param.Of(h)}}
			r := row{group: "networkx and SciPy, processor time", name: fmt.Sprintf("Weisfeiler-Lehman, 30 nodes, %d rounds", h), n: n}
			all.grams(t, r, k, graphs, python, filepath.Join(scripts, "graphs_networkx.py"), in, strconv.Itoa(h))
		}
	}
}

// grams compares the matrix of a kernel, from objects in memory to values in memory, by
// processor time: ours takes all processors there are, that of a peer, which prints what it
// took and the sum of the values, one.
func (all *table) grams(t *testing.T, r row, k kernel.Kernel, x dataset.Objects, peer string, args ...string) {
	t.Helper()
	all.compare(t, r, 1e-12, func() (run, error) {
		begin := processorTime()
		m, err := kernel.GramOf(t.Context(), k, x, nil)
		if err != nil {
			return run{}, err
		}
		took := run{processorTime() - begin, 0, math.NaN()}
		values := make([]float64, m.Len())
		for i := range m.Len() {
			m.Row(values, i)
			took.objective += floats.Sum(values)
		}
		return took, nil
	}, func() (run, error) {
		var printed struct{ Seconds, Objective float64 }
		_, err := decode(&printed, peer, args...)
		return run{printed.Seconds, printed.Objective, math.NaN()}, err
	})
}

// processorTime returns the CPU seconds this process has used so far.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return math.NaN()
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
