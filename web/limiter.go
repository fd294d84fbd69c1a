package web

import (
	"errors"
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limiter allows each key a burst of events, then one per interval.
type Limiter struct {
	burst int
	every time.Duration

	mu   sync.Mutex
	left map[string]*rate.Limiter // keys that have used some of their burst
}

// maxLimited bounds the keys that a Limiter remembers; further keys start afresh.
const maxLimited = 10_000

// NewLimiter returns a Limiter that allows each key burst events, and one more every interval.
func NewLimiter(burst int, every time.Duration) *Limiter {
	return &Limiter{burst: burst, every: every, left: map[string]*rate.Limiter{}}
}

// Wait returns the time until a key may have an event, 0 if it may now.
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

// Take uses up one event of a key and returns 0, or returns the time until the next is available.
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

// later is an error with the time after which to retry.
type later struct {
	error
	wait time.Duration
}

func (l later) Unwrap() error { return l.error }

// Later wraps an error with the time to wait before a retry, sent as Retry-After.
func Later(wait time.Duration, err error) error { return later{err, wait} }

// retryAfter returns the wait of an error made by Later in whole seconds, or a default.
func retryAfter(err error) int {
	var l later
	if !errors.As(err, &l) {
		return 5
	}
	return Seconds(l.wait)
}

// Seconds rounds a wait up to whole seconds, at least one.
func Seconds(wait time.Duration) int { return max(1, int((wait+time.Second-1)/time.Second)) }
