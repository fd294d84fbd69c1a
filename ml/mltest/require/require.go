// Package require says in one line what a test requires. NoError, Value and Must end the test,
// since what follows builds on them; the others let it go on. A test binary that imports it
// collects garbage a quarter as often as the program.
package require

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
)

// init saves a sixth of the processor time of all tests. GOGC, where it is set, has precedence.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// T is what a test, a benchmark and a property have in common.
type T interface {
	Helper()
	Error(args ...any)
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

// Written returns what a function writes, as in require.Written(t, data.Export). The test ends with
// its error.
func Written(t T, write func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	NoError(t, write(&b))
	return b.String()
}

// Drawn is Written for what a context can end, as in require.Drawn(t, picture.SVG).
func Drawn(t interface {
	T
	Context() context.Context
}, write func(context.Context, io.Writer) error,
) string {
	t.Helper()
	return Written(t, func(w io.Writer) error { return write(t.Context(), w) })
}

// Must ends the test with a message unless ok.
func Must(t T, ok bool, format string, args ...any) {
	if !ok {
		t.Helper()
		t.Fatal(fmt.Sprintf(format, args...))
	}
}

// Check reports a message unless ok.
func Check(t T, ok bool, format string, args ...any) {
	if !ok {
		t.Helper()
		t.Error(fmt.Sprintf(format, args...))
	}
}

// Equal reports got and want unless they are equal, after the name that what and args give.
func Equal[V comparable](t T, got, want V, what string, args ...any) {
	if got != want {
		t.Helper()
		t.Error(fmt.Sprintf(what, args...) + ": " + text(got) + ", want " + text(want))
	}
}

// Near reports got and want unless they are equal or at most tol apart. NaN is near nothing.
func Near(t T, got, want, tol float64, what string, args ...any) {
	if got != want && !(math.Abs(got-want) <= tol) {
		t.Helper()
		t.Error(fmt.Sprintf(what, args...) + fmt.Sprintf(": %v, want %v, at most %v away", got, want, tol))
	}
}

// Slices reports got and want unless they hold the same elements.
func Slices[V comparable](t T, got, want []V, what string, args ...any) {
	if !slices.Equal(got, want) {
		t.Helper()
		t.Error(fmt.Sprintf(what, args...) + fmt.Sprintf(": %+v, want %+v", quoted(got), quoted(want)))
	}
}

// Says reports got unless it contains words.
func Says(t T, got, words, what string, args ...any) {
	if !strings.Contains(got, words) {
		t.Helper()
		t.Error(fmt.Sprintf(what, args...) + ": " + text(got) + ", want something with " + text(words))
	}
}

// Fails reports err unless it is an error whose message contains words.
func Fails(t T, err error, words, what string, args ...any) {
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Helper()
		t.Error(fmt.Sprintf(what, args...) + fmt.Sprintf(": %v, want an error with %q", err, words))
	}
}

// Is reports err unless it is target or wraps it.
func Is(t T, err, target error, what string, args ...any) {
	if !errors.Is(err, target) {
		t.Helper()
		t.Error(fmt.Sprintf(what, args...) + fmt.Sprintf(": %v, want the error %q", err, target))
	}
}

// Err returns the error of a call that also has a result, as in
// require.Fails(t, require.Err(os.Open(path)), "no such file", "a missing file").
func Err[V any](_ V, err error) error { return err }

// quoted has strings in quotes.
func quoted[V any](list []V) any {
	if s, ok := any(list).([]string); ok {
		return fmt.Sprintf("%q", s)
	}
	return list
}

// text has a string in quotes, or its lines, and the fields of a struct with their names.
func text(v any) string {
	s := fmt.Sprintf("%+v", v)
	switch k := reflect.ValueOf(v).Kind(); {
	case k == reflect.String && !strings.Contains(s, "\n"):
		return fmt.Sprintf("%q", s)
	case k == reflect.String || k == reflect.Struct:
		return s
	}
	return fmt.Sprint(v)
}
