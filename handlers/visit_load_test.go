//go:build load

package handlers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"marginlab/ml/dataset"
	"marginlab/views/lessons/all"
)

// What a visit costs once somebody has been there: of a student who comes for the first
// time, and of one who comes again. The processors' time includes that of the test's own
// browsers, so the server needs less. Run it on an idle machine:
//
//	go test -tags load -run TestVisits -v ./handlers
func TestVisits(t *testing.T) {
	const most, students = 15 * time.Millisecond, 10
	pages := []string{"/", "/lessons", "/lab?data=moons&C=10&gamma=2"}
	for _, l := range all.Lessons {
		pages = append(pages, "/lessons/"+l.Slug)
	}
	s := serve(t, false, dataset.DefaultLimits)
	for _, page := range pages {
		with := s.browse(t, alice).outline(page)
		if err := newBrowser(s, with, 0).visit(t.Context(), page); err != nil { // which warms the server
			t.Fatal(err)
		}
		var first, again time.Duration
		var b *browser
		for i := range students {
			b = newBrowser(s, with, i+1)
			for _, sum := range []*time.Duration{&first, &again} {
				before := processors()
				if err := b.visit(t.Context(), page); err != nil {
					t.Fatal(err)
				}
				*sum += (processors() - before) / students
			}
		}
		t.Logf("%-30s first %5.1f ms, again %5.1f ms; both: %d requests, %d of them not changed, %d kB", page, ms(first), ms(again), b.asked, b.unchanged, b.bytes>>10)
		if strings.HasPrefix(page, "/lessons/") && max(first, again) > most {
			t.Errorf("%s costs more than %v", page, most)
		}
	}
}

// Two hundred students open the same lesson at once, that nobody has opened before.
func TestRush(t *testing.T) {
	const most, students = 3 * time.Second, 200
	scout := serve(t, false, dataset.DefaultLimits).browse(t, alice)
	for _, l := range all.Lessons {
		with := scout.outline("/lessons/" + l.Slug)
		s := serve(t, false, dataset.DefaultLimits)
		took := make([]time.Duration, students)
		var rush sync.WaitGroup
		begin, before := time.Now(), processors()
		for i := range students {
			rush.Go(func() {
				if err := newBrowser(s, with, i+1).visit(t.Context(), "/lessons/"+l.Slug); err != nil {
					t.Error(err)
				}
				took[i] = time.Since(begin)
			})
		}
		rush.Wait()
		slices.Sort(took)
		t.Logf("%-30s median %4.0f ms, last %4.0f ms; %.1f ms of CPU each", l.Slug, ms(took[students/2]), ms(took[students-1]), ms((processors()-before)/students))
		if took[students-1] > most {
			t.Errorf("%s: the last student waited %v", l.Slug, took[students-1])
		}
		s.Close()
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// outline is what every address leads to that belongs to a page: what a browser asks for,
// in light colours and with a wide window.
func (c *client) outline(page string) map[string][]string {
	c.t.Helper()
	with := map[string][]string{}
	var follow func(address string)
	follow = func(address string) {
		if _, known := with[address]; known {
			return
		}
		with[address] = nil
		a := c.do(http.MethodGet, address, "")
		if a.status != http.StatusOK {
			c.t.Fatalf("%s: %d", address, a.status)
		}
		switch kind, _, _ := strings.Cut(a.header.Get("Content-Type"), ";"); kind {
		case "text/html":
			a.html().Find("img[src], script[src], link[href]").Each(func(_ int, e *goquery.Selection) {
				with[address] = append(with[address], e.AttrOr("src", e.AttrOr("href", "")))
			})
		case "text/javascript":
			for _, found := range imports.FindAllStringSubmatch(string(a.body), -1) {
				with[address] = append(with[address], path.Join(path.Dir(address), found[1]))
			}
		}
		for _, part := range with[address] {
			follow(part)
		}
	}
	follow(page)
	return with
}

var imports = regexp.MustCompile(`(?m)^import .* from "(.*)";$`)

// browser asks as browsers do: for a page and then for all that belongs to it, by a few
// connections, without what it may keep, and with the tag of what it has to ask for again.
type browser struct {
	server *server
	client *http.Client
	token  string
	with   map[string][]string // what an address leads to

	mu               sync.Mutex
	kept             map[string]copied
	asked, unchanged int
	bytes            int64
}

// copied is what a browser has of an address.
type copied struct {
	tag  string
	good bool // without asking
}

func newBrowser(s *server, with map[string][]string, number int) *browser {
	transport := &http.Transport{MaxConnsPerHost: 6, DisableCompression: true}
	return &browser{server: s, client: &http.Client{Transport: transport}, token: fmt.Sprintf("%032x", number), with: with}
}

// visit opens a page.
func (b *browser) visit(ctx context.Context, page string) error {
	defer b.client.CloseIdleConnections()
	old := b.kept
	b.kept = map[string]copied{}
	return b.load(ctx, page, old)
}

// load fetches an address and what it leads to, once.
func (b *browser) load(ctx context.Context, address string, old map[string]copied) error {
	b.mu.Lock()
	c, known := old[address]
	_, done := b.kept[address]
	b.kept[address] = c
	b.mu.Unlock()
	if done {
		return nil
	}
	if !known || !c.good {
		if err := b.fetch(ctx, address, c.tag); err != nil {
			return err
		}
	}
	errs := make([]error, len(b.with[address]))
	var parts sync.WaitGroup
	for i, part := range b.with[address] {
		parts.Go(func() { errs[i] = b.load(ctx, part, old) })
	}
	parts.Wait()
	return errors.Join(errs...)
}

// fetch asks for an address of which the browser has what has the tag, if any.
func (b *browser) fetch(ctx context.Context, address, tag string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.server.URL+address, nil)
	if err != nil {
		return err
	}
	r.AddCookie(&http.Cookie{Name: "marginlab_workspace", Value: b.token})
	r.Header.Set("Accept-Encoding", "gzip, deflate, br, zstd")
	if tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	a, err := b.client.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	n, err := io.Copy(io.Discard, a.Body)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	b.bytes += n
	switch a.StatusCode {
	case http.StatusNotModified:
		b.unchanged++
	case http.StatusOK:
	default:
		return fmt.Errorf("%s: %s", address, a.Status)
	}
	b.kept[address] = copied{a.Header.Get("ETag"), strings.Contains(a.Header.Get("Cache-Control"), "immutable")}
	return err
}
