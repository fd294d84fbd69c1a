package lessons

import (
	"context"
	"errors"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

// An error ends Show, Answer, Truth and Draw, which return it; a fault of the program goes on.
func TestCaught(t *testing.T) {
	t.Parallel()
	fault := errors.New("no such data")
	d := NewDemo(func(_ context.Context, in Input) *Exhibit {
		if in.Step == 0 {
			Check(fault)
		}
		return &Exhibit{Figures: []Figure{{Draw: func(Look) (*figure.Picture, error) { panic(Failf("no %s", "picture")) }}}}
	})
	require.Is(t, require.Err(d.Show(t.Context(), Input{})), fault, "Show")
	_, err := require.Value(d.Show(t.Context(), Input{Step: 1}))(t).Figures[0].Draw(Look{})
	require.Check(t, err != nil && err.Error() == "no picture", "Draw: %v", err)

	q := Question{Answer: func(context.Context) float64 { return Must(1.0, fault) }}
	require.Is(t, require.Err(q.Solve(t.Context())), fault, "Answer")
	q = Question{Sketch: &Sketch{Truth: func(context.Context) figure.Curve { return Must(figure.Curve{}, fault) }}}
	require.Is(t, require.Err(q.Solve(t.Context())), fault, "Truth")

	defer func() { require.Equal(t, recover(), any("a fault"), "other panics") }()
	_, err = Caught(func() int { panic("a fault") })
	t.Errorf("a panic became the error %v", err)
}
