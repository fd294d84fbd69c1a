package limiter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"marginlab/web"
)

// Late is why work was given up that outlasted the patience with it.
type Late struct{ Patience time.Duration }

func (l Late) Error() string {
	return fmt.Sprintf("This takes longer than %.3g seconds.", l.Patience.Seconds())
}

// Within does work as long as patience lasts. Work that takes longer is
// refused as Late with the remedy; a fault that comes as the patience ends is a fault.
func Within[T any](ctx context.Context, patience time.Duration, remedy string, work func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v, err := work(limited)
	switch {
	case ctx.Err() != nil: // what was computed by then is nothing to show
		err = ctx.Err()
	case limited.Err() != nil && (err == nil || errors.Is(err, limited.Err())):
		err = web.Errorf(web.Busy, "%w %s", Late{patience}, remedy)
	}
	return v, err
}

type answeringKey struct{}

// Answering is the context of a request while which work in the background is held until
// answered is called.
func Answering(ctx context.Context, answered func()) context.Context {
	return context.WithValue(ctx, answeringKey{}, answered)
}

// Waits lets work in the background go on, as the request itself waits for some.
func Waits(ctx context.Context) {
	if answered, ok := ctx.Value(answeringKey{}).(func()); ok {
		answered()
	}
}
