package lab

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"marginlab/handlers/frame"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// A training that outlasts the page's patience is said to take too long.
func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	a := New(&frame.Base{Patience: time.Nanosecond})
	a.learn = func(ctx context.Context, _ *dataset.Data, _ ml.Spec, _ trace.Recorder) (*ml.Result, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	b := &bench{spec: ml.DefaultSpec()}
	res, message, err := a.fit(t.Context(), b)
	require.Check(t, res == nil && err == nil && strings.Contains(message, "takes longer than") && b.late,
		"%v, %q, %v, late: %v", res, message, err, b.late)
}

// A person is told what is wrong with the question; a fault of the program is an
// error of the handler, which logs it and answers so.
func TestFaultsAreNotShown(t *testing.T) {
	t.Parallel()
	fault := errors.New("index 7 of 5")
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"fault":    {fault, ""},
		"refusal":  {fmt.Errorf("training: %w", param.Refuse("use a finite C", "the kernel does not separate the classes")), "The kernel does not separate the classes; use a finite C."},
		"problems": {param.Problems{{Field: "C", Message: "éC is wrong"}}, "ÉC is wrong."},
	} {
		a := New(&frame.Base{Patience: time.Minute})
		a.learn = func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Result, error) { return nil, tc.err }
		res, message, err := a.fit(t.Context(), &bench{spec: ml.DefaultSpec(), hash: name})
		require.Check(t, res == nil && message == tc.want && (err != nil) == (tc.want == "") && (err == nil || errors.Is(err, fault)),
			"%s: %v, %q, %v", name, res, message, err)
	}
}
