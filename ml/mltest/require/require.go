// Package require ends a test where what it builds on does not work.
package require

// T is what a test, a benchmark and a property have in common.
type T interface {
	Helper()
	Fatal(args ...any)
}

// NoError ends the test with err unless it is nil.
func NoError(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Value returns the first result of a call, as in require.Value(os.ReadFile(path))(t). The
// test ends with the second one unless it is nil.
func Value[V any](v V, err error) func(T) V {
	return func(t T) V {
		t.Helper()
		NoError(t, err)
		return v
	}
}
