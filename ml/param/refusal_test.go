package param

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"marginlab/ml/mltest/require"
)

func TestForPerson(t *testing.T) {
	t.Parallel()
	refusal := Refuse("use a finite C", "the kernel does not separate %d classes", 2)
	for _, tc := range []struct {
		err  error
		want string
		ok   bool
	}{
		{refusal, "the kernel does not separate 2 classes; use a finite C", true},
		{fmt.Errorf("run 7: %w", refusal), "the kernel does not separate 2 classes; use a finite C", true},
		{Problems{{"C", "C is wrong"}, {"gamma", "gamma too"}}, "C is wrong; gamma too", true},
		{fmt.Errorf("%w (%w)", Problems{{"C", "C is wrong"}}, io.EOF), "C is wrong", true},
		{errors.New("index out of range"), "", false},
		{fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), "", false},
		{nil, "", false},
	} {
		got, ok := ForPerson(tc.err)
		require.Check(t, got == tc.want && ok == tc.ok, "%v: %q, %v", tc.err, got, ok)
	}
	var r *Refusal
	require.Check(t, errors.As(refusal, &r) && r.Message == "the kernel does not separate 2 classes" && r.Remedy == "use a finite C" && r.Kind() == "invalid",
		"%+v", r)
}
