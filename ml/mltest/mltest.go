// Package mltest holds what tests of several packages of ml share.
package mltest

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"marginlab/ml/dataset"
)

// Looks is a context that ends when it has been looked at so many times: a deadline of
// work in place of time.
type Looks struct {
	context.Context
	most  int64
	taken atomic.Int64
}

// NewLooks returns a context that ends with the look after the first n, or with parent.
func NewLooks(parent context.Context, n int64) *Looks { return &Looks{Context: parent, most: n} }

// Err counts as a look.
func (l *Looks) Err() error {
	if l.taken.Add(1) > l.most {
		return context.Canceled
	}
	return l.Context.Err()
}

// Taken is the number of looks so far.
func (l *Looks) Taken() int64 { return l.taken.Load() }

// Over is the number of looks past the first n, at most 0 as long as there were none.
func (l *Looks) Over() int64 { return l.Taken() - l.most }

// Ended returns a context that has been cancelled.
func Ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// OpenShared opens a file of expected values or data for a package one folder below ml:
// that of a folder shared beside the checkout when it is there, else the copy in
// ml/testdata.
func OpenShared(t testing.TB, folder, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join("../../../shared", folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(filepath.Join("../testdata", name))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Molecules are n graphs of so many nodes and a tenth more edges than a tree has, with
// labels about as often as atoms are met.
func Molecules(t testing.TB, n, nodes int) *dataset.Graphs {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 6))
	graphs := &dataset.Graphs{Name: "graph"}
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
	}
	return graphs
}
