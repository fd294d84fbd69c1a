package web

import (
	"errors"
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limiter allows each key a burst of events and then one every so often.
type Limiter struct {
	burst int
	every time.Duration

	mu   sync.Mutex
	left map[string]*rate.Limiter // of the keys that have not all their events left
}

// maxLimited bounds the keys that a Limiter remembers. Those beyond it begin anew.
const maxLimited = 10_000

// NewLimiter returns a limiter that allows a burst of events of each key, and one more every
// so often.
func NewLimiter(burst int, every time.Duration) *Limiter {
	return &Limiter{burst: burst, every: every, left: map[string]*rate.Limiter{}}
}

// Wait returns how long it is until a key has an event left, 0 if it has one.
func (l *Limiter) Wait(key string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wait(key, time.Now())
}

// wait is Wait for callers that hold l.mu.
func (l *Limiter) wait(key string, now time.Time) time.Duration {
	if of := l.left[key]; of != nil {
		return max(0, time.Duration((1-of.TokensAt(now))*float64(l.every)))
	}
	return 0
}

// Take takes an event of a key. It returns how long it is until there is one, 0 if it took one.
func (l *Limiter) Take(key string) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if wait = l.wait(key, now); wait > 0 {
		return wait
	}
	if l.left[key] == nil {
		if len(l.left) >= maxLimited {
			maps.DeleteFunc(l.left, func(_ string, of *rate.Limiter) bool { return of.TokensAt(now) >= float64(l.burst) })
		}
		if len(l.left) >= maxLimited {
			clear(l.left)
		}
		l.left[key] = rate.NewLimiter(rate.Every(l.every), l.burst)
	}
	l.left[key].AllowN(now, 1)
	return 0
}

// later is an error that says when it is worth another try.
type later struct {
	error
	wait time.Duration
}

func (l later) Unwrap() error { return l.error }

// Later adds to an error when it is worth another try, for the Retry-After of the answer.
func Later(wait time.Duration, err error) error { return later{err, wait} }

// retryAfter is the wait of an error made by Later in whole seconds, otherwise a few.
func retryAfter(err error) int {
	var l later
	if !errors.As(err, &l) {
		return 5
	}
	return Seconds(l.wait)
}

// Seconds rounds a wait up to whole seconds, at least one.
func Seconds(wait time.Duration) int { return max(1, int((wait+time.Second-1)/time.Second)) }
