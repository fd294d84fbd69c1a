//go:build load

package handlers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"marginlab/handlers/door"
	"marginlab/ml/dataset"
)

// Visitors who drag a slider all the time get about as many pictures from a line as without
// one, and each gets them often. For comparison it also gives up questions that are older
// than 150 ms, as the page's script once did. Run it on an idle machine:
//
//	go test -tags load -run TestDraggers -v ./handlers
func TestDraggers(t *testing.T) {
	const enough, often = 0.8, time.Second
	for _, n := range []int{5, 10, 20, 50} {
		var given, all, line dragged
		for range 4 { // in turn, because the machine may do other things, too
			given.add(drag(t, n, door.NewLine(n), 150*time.Millisecond))
			all.add(drag(t, n, door.NewLine(n), time.Hour))
			line.add(drag(t, n, door.NewLine(door.Places()), time.Hour))
		}
		t.Logf("%2d draggers: given up after 150 ms %v; without a line %v; with it %v", n, given, all, line)
		if line.perSecond() < enough*all.perSecond() {
			t.Errorf("%d draggers: %.1f answers a second are less than %.0f %% of %.1f", n, line.perSecond(), 100*enough, all.perSecond())
		}
		if n <= 20 && line.longest > often {
			t.Errorf("%d draggers: one waited %v for a picture", n, line.longest)
		}
	}
}

// dragged is what draggers got.
type dragged struct {
	answers      int           // pictures of all of them together
	lasting, cpu time.Duration // of the clock and of the processors
	longest      time.Duration // that one of them was without a new picture
}

func (d *dragged) add(e dragged) {
	d.answers += e.answers
	d.lasting += e.lasting
	d.cpu += e.cpu
	d.longest = max(d.longest, e.longest)
}

func (d dragged) perSecond() float64 { return float64(d.answers) / d.lasting.Seconds() }

func (d dragged) String() string {
	return fmt.Sprintf("%.1f/s (%.1f per second of CPU), longest wait %v", d.perSecond(), float64(d.answers)/d.cpu.Seconds(), d.longest.Round(time.Millisecond))
}

// processors is how long processors have worked for this program.
func processors() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // which cannot fail
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// drag lets n visitors move C for some seconds, each with one question under way, which is
// given up once it is older than patience.
func drag(t *testing.T, n int, line *door.Line, patience time.Duration) dragged {
	const warm, lasting = 300 * time.Millisecond, 1500 * time.Millisecond
	s := serve(t, false, dataset.DefaultLimits)
	s.app.Line = line
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	defer client.CloseIdleConnections()
	begin := time.Now().Add(warm)
	end := begin.Add(lasting)
	ctx, stop := context.WithDeadline(t.Context(), end)
	defer stop()

	var answers atomic.Int64
	longest := make([]time.Duration, n)
	var visitors sync.WaitGroup
	for i := range n {
		visitors.Go(func() {
			last := begin
			waited := func(now time.Time) { longest[i] = max(longest[i], now.Sub(last)); last = now }
			for k := 0; ctx.Err() == nil; k++ {
				form := url.Values{"data": {"moons"}, "coarse": {"1"}, "stage": {"720"}, "C": {strconv.FormatFloat(1+float64(i)+float64(k)/1000, 'g', -1, 64)}}
				asked, cancel := context.WithTimeout(ctx, patience)
				ok, err := picture(asked, client, s.URL+"/lab/live", fmt.Sprintf("%032x", i+1), form)
				cancel()
				if err != nil && asked.Err() == nil {
					t.Error(err)
					return
				}
				if now := time.Now(); ok && now.After(begin) && now.Before(end) {
					answers.Add(1)
					waited(now)
				}
			}
			waited(end)
		})
	}
	time.Sleep(time.Until(begin))
	before := processors()
	visitors.Wait()
	d := dragged{answers: int(answers.Load()), lasting: lasting, cpu: processors() - before}
	for _, l := range longest {
		d.longest = max(d.longest, l)
	}
	return d
}

// picture asks once and tells whether a picture came.
func picture(ctx context.Context, client *http.Client, to, token string, form url.Values) (bool, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+token)
	a, err := client.Do(r)
	if err != nil {
		return false, err
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err == nil && (a.StatusCode != http.StatusOK || !strings.Contains(string(body), "data:image")) {
		err = fmt.Errorf("%s %.200s", a.Status, body)
	}
	return err == nil, err
}
