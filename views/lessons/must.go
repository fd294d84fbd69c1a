package lessons

import "fmt"

// A screen computes in many steps, and none makes sense without the one before. So its Show, Answer,
// Truth or Draw has no error to pass on from step to step: Must and Check end it with a panic, which
// Caught turns into the error of the whole. No such panic leaves NewDemo, Solve and Figure.Draw. A
// goroutine that a screen starts needs a Caught of its own: nobody else catches its panics.

// failure is the value of a panic that carries an error to Caught.
type failure struct{ error }

// Must returns v. If err is not nil, it ends the function that Caught runs with err.
func Must[V any](v V, err error) V {
	Check(err)
	return v
}

// Check ends the function that Caught runs with err, unless err is nil.
func Check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Failf returns the value to panic with, to end the function that Caught runs with the formatted
// error.
func Failf(format string, args ...any) error { return failure{fmt.Errorf(format, args...)} }

// Caught returns the result of f, or the error that ended it. Other panics go on.
func Caught[V any](f func() V) (v V, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	return f(), nil
}
