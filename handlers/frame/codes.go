package frame

import (
	"context"
	"errors"
	"sync"
	"time"

	"marginlab/store"
	"marginlab/web"
)

// Limits of wrong course codes per network address: a burst for a lecture hall, then one per
// interval. At that rate, guessing one of 100 courses takes about three weeks.
const (
	wrongCodes     = 300
	wrongCodeEvery = 3 * time.Second
)

// maxEntered is the largest number of workspaces remembered with the courses they entered.
const maxEntered = 20_000

// codes limits the guessing of course codes.
type codes struct {
	wrong *web.Limiter // by address

	mu      sync.Mutex
	entered map[entrance]struct{}
}

// entrance records a workspace that has entered a course's code.
type entrance struct {
	ws   store.Workspace
	code string
}

func newCodes() *codes {
	return &codes{wrong: web.NewLimiter(wrongCodes, wrongCodeEvery), entered: map[entrance]struct{}{}}
}

// FindCourse finds the course with a typed code; it returns store.ErrNotFound if there is none.
// Wrong codes count against their network address. After too many, all codes from there are refused,
// except those that the workspace has entered before, so that students stay in their course.
func (a *Base) FindCourse(ctx context.Context, typed string) (store.Course, error) {
	c, code, address := a.codes, store.CleanCode(typed), web.Address(ctx)
	e := entrance{Workspace(ctx), code}
	c.mu.Lock()
	_, entered := c.entered[e]
	c.mu.Unlock()
	if entered || !store.IsCode(code) {
		return a.Store.Course(ctx, code)
	}
	course, err := a.Store.Course(ctx, code)
	left := c.wrong.Wait // asked after the lookup, since many may run at once
	if errors.Is(err, store.ErrNotFound) {
		left = c.wrong.Take
	}
	if wait := left(address); wait > 0 {
		return store.Course{}, web.Later(wait, web.Errorf(web.TooMany, "Too many wrong course codes came from your network. Check the code with your teacher and try again in %d s.", web.Seconds(wait)))
	}
	if err == nil {
		c.mu.Lock()
		if len(c.entered) >= maxEntered {
			clear(c.entered)
		}
		c.entered[e] = struct{}{}
		c.mu.Unlock()
	}
	return course, err
}
