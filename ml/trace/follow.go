package trace

import "context"

// progressKey is the key of a progressFunc in a context.
type progressKey struct{}

// progressFunc receives how many of the rows of a computation are done.
type progressFunc func(done, rows int)

// The phases after a training.
const (
	Scoring = "scoring" // f at rows
	Drawing = "drawing" // f over a plane, and what follows
)

// Follow returns a context for computing scores or a surface, which reports to r how many of its
// rows are done, one machine after the other, in this phase. r may be nil.
func Follow(ctx context.Context, phase string, r Recorder) context.Context {
	if r == nil {
		return ctx
	}
	r = r.InTurn()
	return context.WithValue(ctx, progressKey{}, progressFunc(func(done, rows int) { r(Step{Phase: phase, Done: done, Rows: rows}) }))
}

// Part returns a context for the part of the work that begins after the first rows of all.
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
