package web

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Each key has its burst, and then one event after every interval.
func TestLimiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(3, time.Minute)
		for range 3 {
			if wait := l.Take("a"); wait != 0 {
				t.Fatalf("within the burst: wait %v", wait)
			}
		}
		for range 2 { // being refused costs nothing
			if wait := l.Take("a"); wait != time.Minute || l.Wait("a") != wait {
				t.Errorf("beyond the burst: wait %v", wait)
			}
		}
		if l.Wait("b") != 0 || l.Take("b") != 0 {
			t.Error("another key waits")
		}
		time.Sleep(40 * time.Second)
		if wait := l.Wait("a").Round(time.Second); wait != 20*time.Second {
			t.Errorf("after 40 s: wait %v", wait)
		}
		time.Sleep(21 * time.Second)
		if l.Wait("a") != 0 || l.Take("a") != 0 || l.Take("a") == 0 {
			t.Error("after a minute there is not one more")
		}
	})
}

// Keys that have all their events again are forgotten where there are many, others before
// memory grows without bound.
func TestLimiterForgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(1, time.Minute)
		for i := range maxLimited {
			l.Take(fmt.Sprint(i))
		}
		time.Sleep(time.Minute)
		for i := range maxLimited {
			l.Take(fmt.Sprint("later ", i))
		}
		if l.Wait("later 0") == 0 {
			t.Error("a key that has none left was forgotten for those that have")
		}
		l.Take("one more")
		if n := len(l.left); n > maxLimited {
			t.Errorf("%d keys are remembered", n)
		}
	})
}
