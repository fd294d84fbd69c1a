package trace

import "context"

// follow is the key of a follower in a context.
type follow struct{}

// follower hears how many of the rows of a work are done.
type follower func(done, rows int)

// The phases after a training.
const (
	Scoring = "scoring" // f at rows
	Drawing = "drawing" // f over a plane, and what follows
)

// Follow returns a context whose work, scores or a surface, tells r how many of its rows are done,
// one machine after the other, in this phase. r may be nil.
func Follow(ctx context.Context, phase string, r Recorder) context.Context {
	if r == nil {
		return ctx
	}
	r = r.InTurn()
	return context.WithValue(ctx, follow{}, follower(func(done, rows int) { r(Step{Phase: phase, Done: done, Rows: rows}) }))
}

// Part returns a context for the part of the work that begins after the first rows of all.
func Part(ctx context.Context, first, all int) context.Context {
	f, ok := ctx.Value(follow{}).(follower)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, follow{}, follower(func(done, _ int) { f(first+done, all) }))
}

// Tell tells who follows ctx, if anyone, how many of the rows of its work are done.
func Tell(ctx context.Context, done, rows int) {
	if f, ok := ctx.Value(follow{}).(follower); ok {
		f(done, rows)
	}
}
