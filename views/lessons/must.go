package lessons

import "fmt"

// A screen computes in many steps, each of which needs the one before. So that its Show, Answer,
// Truth or Draw need not pass errors from step to step, Must and Check panic, and Caught turns the
// panic into the error of the whole. No such panic leaves NewDemo, Solve and Figure.Draw. A
// goroutine started by a screen needs a Caught of its own: nothing else recovers its panics.

// failure is the value of a panic that carries an error to Caught.
type failure struct{ error }

// Must returns v or, if err is not nil, ends the function run by Caught with err.
func Must[V any](v V, err error) V {
	Check(err)
	return v
}

// Check ends the function run by Caught with err, unless err is nil.
func Check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Failf returns a value to panic with, which ends the function run by Caught with the formatted
// error.
func Failf(format string, args ...any) error { return failure{fmt.Errorf(format, args...)} }

// Caught returns the result of f, or the error that ended it. Other panics continue.
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
