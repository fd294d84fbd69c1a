package lessons

import (
	"reflect"
	"testing"
	"testing/fstest"

	"marginlab/ml/mltest/require"
)

// A derivation ends at the next heading; a formula belongs to the line before it.
func TestLines(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"derivations.md": {Data: []byte("## first\n\nOne.\n\n$$a = b$$\n\n{#two} Two.\n\n## second\n\nThree.\n")}}
	want := []Line{{Why: "One.", TeX: "a = b"}, {Slug: "two", Why: "Two."}}
	got := Lines(files, "first")()
	require.Check(t, reflect.DeepEqual(got, want), "the first: %+v, want %+v", got, want)
	got = Lines(files, "second")()
	require.Check(t, reflect.DeepEqual(got, []Line{{Why: "Three."}}), "the second: %+v", got)
	defer func() { require.Check(t, recover() != nil, "a missing derivation passes") }()
	Lines(files, "third")()
}
