//go:build peers

package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/param"
)

// networkx compares the kernel matrix of graphs, from graphs in memory to values in memory,
// by processor time: ours takes all processors there are, theirs one.
func networkx(t *testing.T, all *table) {
	need(t, python, "-c", "import networkx, scipy.sparse")
	sizes := []int{1000}
	if *full {
		sizes = append(sizes, 4000)
	}
	for _, n := range sizes {
		graphs, file := molecules(t, n, 30)
		for _, h := range []int{1, 4} {
			k := kernel.Kernel{Name: "wl", Values: param.Values{"rounds": param.Of(h)}}
			r := row{group: "networkx and SciPy, processor time", name: fmt.Sprintf("Weisfeiler-Lehman, 30 nodes, %d rounds", h), n: n}
			all.compare(t, r, 1e-12, func() (run, error) {
				begin := processorTime()
				m, err := kernel.GramOf(t.Context(), k, graphs)
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
				_, err := decode(&printed, python, filepath.Join(scripts, "graphs_networkx.py"), file, strconv.Itoa(h))
				return run{printed.Seconds, printed.Objective, math.NaN()}, err
			})
		}
	}
}

// molecules are graphs of so many nodes and a tenth more edges, with labels as often as
// atoms are met, and a file of them.
func molecules(t *testing.T, n, nodes int) (graphs *dataset.Graphs, file string) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 6))
	graphs = &dataset.Graphs{Name: "graph"}
	var text strings.Builder
	for range n {
		var edges [][2]int
		labels := make([]string, nodes)
		for v := range nodes {
			labels[v] = string("CCCCNOSH"[r.IntN(8)])
			if v > 0 {
				edges = append(edges, [2]int{max(0, v-1-r.IntN(4)), v})
			}
		}
		for range nodes / 10 {
			v := r.IntN(nodes - 1)
			edges = append(edges, [2]int{v, v + 1 + r.IntN(nodes-1-v)})
		}
		g, err := dataset.NewGraph(nodes, edges, labels)
		if err != nil {
			t.Fatal(err)
		}
		graphs.Values = append(graphs.Values, g)
		fmt.Fprintln(&text, g)
	}
	file = filepath.Join(t.TempDir(), "graphs.jsonl")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return graphs, file
}

// processorTime is what this process has taken so far, in seconds of all processors.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return math.NaN()
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
