// Package mltest provides helpers for the tests of ml and its packages.
package mltest

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// Looks is a context that ends after a number of calls of Err: a deadline in work, not in time.
type Looks struct {
	context.Context
	most  int64
	taken atomic.Int64
}

// NewLooks returns a context that ends after n calls of Err, or with parent.
func NewLooks(parent context.Context, n int64) *Looks { return &Looks{Context: parent, most: n} }

// Err counts the call and returns context.Canceled after the first n.
func (l *Looks) Err() error {
	if l.taken.Add(1) > l.most {
		return context.Canceled
	}
	return l.Context.Err()
}

// Taken returns the number of calls of Err.
func (l *Looks) Taken() int64 { return l.taken.Load() }

// Over returns the number of calls of Err minus n.
func (l *Looks) Over() int64 { return l.Taken() - l.most }

// Buffer holds what is written to it. It may be written and read at the same time.
type Buffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Ended returns a cancelled context.
func Ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// OpenShared opens a file of expected values or data, for tests of a package directly below ml. It
// prefers the folder shared beside the checkout to the copy in ml/testdata.
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

// Builtin returns a data set that comes with the program.
func Builtin(t testing.TB, slug string) *dataset.Data {
	t.Helper()
	b, ok := dataset.FindBuiltin(slug)
	require.Must(t, ok, "no data set %q", slug)
	return require.Value(b.Load())(t)
}

// Molecules returns n random graphs that resemble molecules: trees with a tenth more edges, labelled
// by atoms.
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
