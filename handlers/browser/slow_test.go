package browser

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"marginlab/ml/mltest/require"
)

// slowly puts a server behind one that hands every live question to the test, and answers
// it once the test has written what to do with it.
func slowly(t *testing.T, s *server) (base string, questions <-chan question) {
	t.Helper()
	to := require.Value(url.Parse(s.url))(t)
	through := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }}
	asked := make(chan question, 100)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/live") {
			through.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body) // until then the server does not notice that the page leaves
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		q := question{make(chan int), r.Context().Done()}
		asked <- q
		select {
		case status := <-q.answer:
			if status != http.StatusOK {
				w.WriteHeader(status)
				return
			}
			through.ServeHTTP(w, r)
		case <-q.left:
		case <-t.Context().Done():
		}
	}))
	t.Cleanup(front.Close)
	return front.URL, asked
}

// question is one that waits for its answer: with status 200 that of the server, otherwise
// nothing.
type question struct {
	answer chan int
	left   <-chan struct{} // closed when the page gives it up
}

// While something is dragged the pictures of a slow server are shown, however late they
// are; one question is under way and the newest waits. One whose place another page has
// taken is asked again.
func TestSlowAnswersAreShown(t *testing.T) {
	t.Parallel()
	s := start(t)
	base, questions := slowly(t, s) // before the page, which is gone when this ends
	p := open(t, s)
	p.base = base
	p.visitStage("/lab?data=moons")
	const slider = `[data-field=C] input[type=range]`
	at := p.reach(slider)
	width := get[float64](p, element(slider)+".clientWidth")
	moved := func(part float64) {
		p.do(chromedp.MouseEvent(chromedp.MouseMoved, at.X+part*width/2, at.Y, chromedp.ButtonLeft))
	}
	pictures := map[string]bool{}
	answer := func(q question, status int) {
		t.Helper()
		select {
		case q.answer <- status:
		case <-q.left:
			t.Fatal("the page has given up a question")
		}
	}
	p.do(chromedp.MouseEvent(chromedp.MousePressed, at.X-width/2+4, at.Y, chromedp.ButtonLeft, chromedp.ClickCount(1))) // where it does not stand
	late := <-questions                                                                                                 // to which there is no answer yet
	for i := range 3 {
		p.wait(element(".live-status button")) // it says that it works: the question is old by now
		for k := range 5 {
			moved(0.1 + 0.25*float64(i) + 0.02*float64(k))
		}
		get[bool](p, `(globalThis.before = performance.getEntriesByName("picture").length, true)`)
		answer(late, http.StatusOK)
		p.wait(`performance.getEntriesByName("picture").length > globalThis.before`)
		pictures[get[string](p, `document.querySelector("canvas.motion").toDataURL()`)] = true
		late = <-questions
	}
	require.Equal(t, len(pictures), 3, "different pictures were shown")
	p.do(chromedp.MouseEvent(chromedp.MouseReleased, at.X+0.68*width/2, at.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	answer(late, http.StatusOK)
	answer(<-questions, http.StatusNoContent)
	answer(<-questions, http.StatusOK)
	p.wait(answered + ` && document.querySelector(".live-status").textContent === ""`)
	c, shown := p.value("#f-C"), p.query().Get("C")
	require.Check(t, c == shown, "the last picture is of C = %s, not %s", shown, c)
	require.Check(t, len(questions) <= 0, "%d questions more", len(questions))
}
