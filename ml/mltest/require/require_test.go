package require_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"marginlab/ml/mltest/require"
)

// record is a test that keeps what it is told.
type record []string

func (r *record) Helper()           {}
func (r *record) Error(args ...any) { *r = append(*r, fmt.Sprint(args...)) }
func (r *record) Fatal(args ...any) { *r = append(*r, "ends: "+fmt.Sprint(args...)) }

func TestWhatIsSaid(t *testing.T) {
	t.Parallel()
	type pair struct{ A, B int }
	full := errors.New("disk full")
	for want, fail := range map[string]func(require.T){
		"":                                      func(t require.T) { require.Equal(t, 3, 3, "rows") },
		"rows of moons: 3, want 4":              func(t require.T) { require.Equal(t, 3, 4, "rows of %s", "moons") },
		`title: "a", want ""`:                   func(t require.T) { require.Equal(t, "a", "", "title") },
		"text: a\nb, want \"\"":                 func(t require.T) { require.Equal(t, "a\nb", "", "text") },
		"a pair: {A:1 B:2}, want {A:1 B:3}":     func(t require.T) { require.Equal(t, pair{1, 2}, pair{1, 3}, "a pair") },
		"saved: disk full, want <nil>":          func(t require.T) { require.Equal(t, full, nil, "saved") },
		"w: 1, want 2, at most 0.5 away":        func(t require.T) { require.Near(t, 1, 2, 0.5, "w") },
		"w: NaN, want 2, at most 5 away":        func(t require.T) { require.Near(t, math.NaN(), 2, 5, "w") },
		"only 3":                                func(t require.T) { require.Check(t, false, "only %d", 3) },
		"ends: only 3":                          func(t require.T) { require.Must(t, false, "only %d", 3) },
		"ends: disk full":                       func(t require.T) { require.NoError(t, full) },
		"ends: row 3: disk full":                func(t require.T) { require.Value(0, full)(t, "row %d", 3) },
		"ends: EOF":                             func(t require.T) { require.Written(t, func(io.Writer) error { return io.EOF }) },
		"ends: a: unexpected end of JSON input": func(t require.T) { require.JSON[int](t, "", "a") },
		`names: ["a" "b"], want ["a"]`:          func(t require.T) { require.Slices(t, []string{"a", "b"}, []string{"a"}, "names") },
		"rows 2: [1], want []":                  func(t require.T) { require.Slices(t, []int{1}, nil, "rows %d", 2) },
		`x: "ab", want something with "c"`:      func(t require.T) { require.Says(t, "ab", "c", "%s", "x") },
		`x: "ab", want something with "d"`: func(t require.T) {
			require.SaysAll(t, "ab", []string{"a", "d", "b"}, "x")
		},
		`open: <nil>, want an error with ""`: func(t require.T) {
			require.Fails(t, require.Err(0, error(nil)), "", "open")
		},
		`open: disk full, want the error "EOF"`:       func(t require.T) { require.Is(t, full, io.EOF, "open") },
		`open: disk full, want an error with "empty"`: func(t require.T) { require.Fails(t, full, "empty", "open") },
	} {
		var said record
		fail(&said)
		got := fmt.Sprint([]string(said))
		require.Check(t, got == "["+want+"]", "%s, want %s", got, want)
	}
	var said record
	require.Near(&said, math.Inf(1), math.Inf(1), 0, "w")
	require.Near(&said, 1, 1.5, 0.5, "w")
	require.Check(&said, true, "no")
	require.Must(&said, true, "no")
	require.NoError(&said, nil)
	require.Slices(&said, []int{}, nil, "rows")
	require.Says(&said, "ab", "b", "text")
	require.Fails(&said, require.Err(0, full), "full", "open")
	require.Fails(&said, require.Err3(0, "", full), "full", "open")
	require.Is(&said, fmt.Errorf("save: %w", full), full, "saved")
	hello := require.Written(&said, func(w io.Writer) error { _, err := io.WriteString(w, "hello"); return err })
	require.Check(t, hello == "hello", "written: %q", hello)
	v := require.Value(7, nil)(&said) + require.Reread(&said, 2)
	require.Check(t, v == 9 && len(said) == 0, "%d, and of what holds: %v", v, said)
}
