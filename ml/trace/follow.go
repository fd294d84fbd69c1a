package trace

import "context"

// progressKey is the key of a progressFunc in a context.
type progressKey struct{}

// progressFunc receives the number of finished rows of a computation.
type progressFunc func(done, rows int)

// The phases after a training.
const (
	Scoring = "scoring" // f at rows
	Drawing = "drawing" // f over a plane, and what follows
)

// Follow returns a context for computing scores or a surface. Its Report calls r with a Step of
// the given phase. r may be nil.
func Follow(ctx context.Context, phase string, r Recorder) context.Context {
	if r == nil {
		return ctx
	}
	r = r.InTurn()
	return context.WithValue(ctx, progressKey{}, progressFunc(func(done, rows int) { r(Step{Phase: phase, Done: done, Rows: rows}) }))
}

// Part returns a context for a part of the work, which begins after first of all rows.
func Part(ctx context.Context, first, all int) context.Context {
	f, ok := ctx.Value(progressKey{}).(progressFunc)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, progressKey{}, progressFunc(func(done, _ int) { f(first+done, all) }))
}

// Report reports how many rows are done to the recorder that Follow put into ctx, if any.
func Report(ctx context.Context, done, rows int) {
	if f, ok := ctx.Value(progressKey{}).(progressFunc); ok {
		f(done, rows)
	}
}
