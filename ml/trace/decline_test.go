package trace_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// watched returns a Decline that has seen n violations, ten per second.
func watched(goal float64, n int, violation func(i int) float64) *trace.Decline {
	d := new(trace.Decline)
	for i := range n {
		d.Note(time.Duration(i)*time.Second/10, trace.Step{Phase: "svm", Violation: violation(i), Goal: goal})
	}
	return d
}

// A noisy violation that halves every second reaches its goal at the estimated time.
func TestDecline(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		noisy := func(i int) float64 { return math.Exp2(-float64(i)/10) * math.Exp(0.5*rng.NormFloat64()) }
		for _, n := range []int{60, 90, 1000} {
			goal := math.Exp2(-float64(n)/10 - 5) // five seconds on
			left, ok := watched(goal, n, noisy).Left()
			require.Check(t, ok && left >= 2500*time.Millisecond && left <= 8*time.Second,
				"seed %d, after %d steps: %v, %v; five seconds were left", seed, n, left, ok)
		}
	}
	// Without enough information there is no estimate.
	falls := func(i int) float64 { return math.Exp2(-float64(i) / 10) }
	for name, d := range map[string]*trace.Decline{
		"nothing seen":        {},
		"no goal":             watched(0, 100, falls),
		"few steps":           watched(1e-6, 7, falls),
		"no decline":          watched(1e-6, 100, func(int) float64 { return 1 }),
		"it grows":            watched(1e-6, 100, func(i int) float64 { return float64(i + 1) }),
		"the end is far":      watched(1e-300, 100, func(i int) float64 { return 1 - 1e-4*float64(i) }),
		"not finite":          watched(1e-6, 100, func(int) float64 { return math.NaN() }),
		"another part begins": watched(1e-3, 105, func(i int) float64 { return math.Exp2(-float64(i%100) / 3) }),
	} {
		left, ok := d.Left()
		require.Check(t, !ok, "%s: %v", name, left)
	}
	d := watched(1e-3, 50, falls)
	d.Note(6*time.Second, trace.Step{Phase: "svm", Violation: 0.001})
	left, ok := d.Left()
	require.Check(t, !ok, "a part that others follow: %v", left)
}

// A training along C is described by its C, in readable digits.
func TestTextAlongC(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]trace.Step{
		"Entry points: C = 31600, 25 of 100 trainings": {Phase: "entry points", C: 31622.7766, Done: 25, Trainings: 100},
		"Held out, fold 2 of 5: 2 of 100 trainings":    {Phase: "held out, fold 2 of 5", Done: 2, Trainings: 100},
	} {
		require.Equal(t, s.String(), want, "s.String()")
	}
	// The remaining time follows from the pace, but not from the first few of many units.
	for _, c := range []struct {
		done, open int
		want       time.Duration
	}{{1, 3, 30 * time.Second}, {10, 5, 5 * time.Second}, {10, 9990, 9990 * time.Second}, {9, 9991, 0}, {1, 98, 980 * time.Second}, {1, 99, 0}, {0, 5, 0}} {
		require.Equal(t, trace.AtPace(10*time.Second, c.done, c.open), c.want, "%d done, %d open", c.done, c.open)
	}
	require.Equal(t, trace.AtPace(0, 1, 1), 0, "in no time")
}
