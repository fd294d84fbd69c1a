package door

import "context"

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
