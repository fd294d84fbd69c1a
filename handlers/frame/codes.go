package frame

import (
	"context"
	"errors"
	"sync"
	"time"

	"marginlab/store"
	"marginlab/web"
)

// Wrong course codes that may come from one address: a burst for a lecture hall that types,
// then one every so often. At that rate, one of 100 courses is found in about three weeks.
const (
	wrongCodes     = 300
	wrongCodeEvery = 3 * time.Second
)

// maxEntered bounds how many workspaces with the courses they entered are remembered.
const maxEntered = 20_000

// codes slows down those who try course codes.
type codes struct {
	wrong *web.Limiter // by address

	mu      sync.Mutex
	entered map[entrance]struct{}
}

// entrance is a workspace that has named the right code of a course.
type entrance struct {
	ws   store.Workspace
	code string
}

func newCodes() *codes {
	return &codes{wrong: web.NewLimiter(wrongCodes, wrongCodeEvery), entered: map[entrance]struct{}{}}
}

// FindCourse finds the course with a code as it was typed; store.ErrNotFound if there is none.
// Wrong codes count for the address they come from. Once too many did, codes from there are not
// looked up, but for those that the workspace has named rightly before: someone in a course
// stays in it.
func (a *Base) FindCourse(ctx context.Context, typed string) (store.Course, error) {
	c, code, address := a.codes, store.CleanCode(typed), web.Address(ctx)
	e := entrance{Workspace(ctx), code}
	c.mu.Lock()
	_, entered := c.entered[e]
	c.mu.Unlock()
	if entered || !store.IsCode(code) {
		return a.Store.Course(ctx, code)
	}
	if wait := c.wrong.Wait(address); wait > 0 {
		return store.Course{}, web.Later(wait, web.Errorf(web.TooMany, "Too many wrong course codes came from your network. Check the code with your teacher and try again in %d s.", web.Seconds(wait)))
	}
	course, err := a.Store.Course(ctx, code)
	switch {
	case errors.Is(err, store.ErrNotFound):
		c.wrong.Take(address)
	case err == nil:
		c.mu.Lock()
		if len(c.entered) >= maxEntered {
			clear(c.entered)
		}
		c.entered[e] = struct{}{}
		c.mu.Unlock()
	}
	return course, err
}
