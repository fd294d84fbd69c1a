package dataset

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

func TestPutAndDrop(t *testing.T) {
	t.Parallel()
	d := require.Value(Read(strings.NewReader("s,class\ncat,a\ncart,b\nbar,a\n"), "f.csv", Mapping{}, Limits{}))(t)
	before := show(d)
	must := func(d *Data, err error) *Data {
		t.Helper()
		require.NoError(t, err)
		roundTrip(t, d)
		return d
	}
	for _, tt := range []struct {
		d    *Data
		want string
	}{
		{must(d.Put(3, " bart\n", "c")), "#strings\ns,class\ncat,a\ncart,b\nbar,a\nbart,c\n"},
		{must(d.Put(1, "a,b", "a")), "#strings\ns,class\ncat,a\n\"a,b\",a\nbar,a\n"},
		{must(d.Put(0, "cat", "b")), "#strings\ns,class\ncat,b\ncart,b\nbar,a\n"},
		{must(d.Drop(1)), "#strings\ns,class\ncat,a\nbar,a\n"},
		{must(must(d.Drop(0)).Drop(1)), "#strings\ns,class\ncart,b\n"},
	} {
		require.Equal(t, cmp.Diff(tt.want, show(tt.d)), "", "(-want +got)")
	}
	require.Check(t, show(d) == before, "an edit changed the data that it began with")
	// Labels that are numbers are one where they are equal.
	n := must(d.Put(0, "x", "1"))
	n = must(must(n.Put(1, "y", "1.0")).Put(2, "z", "+2"))
	require.Equal(t, cmp.Diff([]string{"1", "2"}, n.Classes), "", "diff")
}

func TestPutRefuses(t *testing.T) {
	t.Parallel()
	d := require.Value(Read(strings.NewReader("s,class\ncat,a\ncart,b\n"), "f.csv", Mapping{}, Limits{}))(t)
	_, err := d.Put(0, " \t", strings.Repeat("x", maxText+1))
	var problems param.Problems
	require.Check(t, errors.As(err, &problems) && problems.For("object") == "expected a string, found nothing" && strings.Contains(problems.For("label"), "at most 100 characters"),
		"%v", err)
	one := require.Value(d.Drop(0))(t)
	points := require.Value(Generate("moons", 4, 0, 1))(t)
	for name, f := range map[string]func() (*Data, error){
		"the last row":         func() (*Data, error) { return one.Drop(0) },
		"row 3 does not exist": func() (*Data, error) { return d.Drop(2) },
		"row 0 does not exist": func() (*Data, error) { return d.Put(-1, "x", "a") },
		"row 4 does not exist": func() (*Data, error) { return d.Put(3, "x", "a") },
		"kind vectors":         func() (*Data, error) { return points.Put(0, "1,2", "1") },
	} {
		require.Fails(t, require.Err(f()), name, "the error")
	}
}
