package limiter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"marginlab/web"
)

// Late is the cancellation cause at the time limit of Within.
type Late struct{ Patience time.Duration }

func (l Late) Error() string {
	return fmt.Sprintf("This takes longer than %.3g seconds.", l.Patience.Seconds())
}

// Within runs work with a time limit of patience. If work exceeds it, the error is a Late with the
// remedy; other errors of work are returned even if they come at the limit.
func Within[T any](ctx context.Context, patience time.Duration, remedy string, work func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v, err := work(limited)
	switch {
	case ctx.Err() != nil: // partial results are not shown
		err = ctx.Err()
	case limited.Err() != nil && (err == nil || errors.Is(err, limited.Err())):
		err = web.Errorf(web.Busy, "%w %s", Late{patience}, remedy)
	}
	return v, err
}

type answeringKey struct{}

// Answering returns a context that pauses background work until answered is called.
func Answering(ctx context.Context, answered func()) context.Context {
	return context.WithValue(ctx, answeringKey{}, answered)
}

// Waits lets background work continue, because the request itself waits for it.
func Waits(ctx context.Context) {
	if answered, ok := ctx.Value(answeringKey{}).(func()); ok {
		answered()
	}
}
