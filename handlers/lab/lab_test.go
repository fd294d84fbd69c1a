package lab

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"marginlab/handlers/door"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

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
		a := New(&door.House{Patience: time.Minute})
		a.learn = func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Result, error) { return nil, tc.err }
		res, message, err := a.fit(t.Context(), &bench{spec: ml.DefaultSpec(), hash: name})
		if res != nil || message != tc.want || (err != nil) != (tc.want == "") || err != nil && !errors.Is(err, fault) {
			t.Errorf("%s: %v, %q, %v", name, res, message, err)
		}
	}
}
