package api

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"strings"

	"marginlab/store"
	"marginlab/web"
)

// Tagged adds an entity tag to the response of read and supports conditional requests.
func Tagged(read web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		a, err := answerOf(read, r)
		if err != nil {
			return err
		}
		maps.Copy(w.Header(), a.head)
		if web.Unchanged(w, r, web.TagOf(a.body.Bytes())) {
			return nil
		}
		w.WriteHeader(a.status)
		_, err = a.body.WriteTo(w)
		return err
	}
}

// Matching calls change unless the request's If-Match differs from the tag of the current state,
// as given by read. It checks before the change and again in its transaction.
func Matching(read, change web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if wanted := strings.Join(r.Header.Values("If-Match"), ","); wanted != "" {
			check := func(ctx context.Context) error {
				asked := r.Clone(ctx)
				asked.Method, asked.Body, asked.URL.RawQuery = http.MethodHead, http.NoBody, "" // waits for nothing
				a, err := answerOf(read, asked)
				if err == nil && !web.Matches(wanted, web.TagOf(a.body.Bytes())) {
					err = web.Errorf(web.Changed, "It has changed since ETag %s. Nothing was saved; read it again.", wanted)
				}
				return err
			}
			if err := check(r.Context()); err != nil {
				return err
			}
			r = r.WithContext(store.OnlyIf(r.Context(), check))
		}
		return change(w, r)
	}
}

// answer is a buffered response.
type answer struct {
	head   http.Header
	status int
	body   bytes.Buffer
}

func answerOf(f web.Handler, r *http.Request) (*answer, error) {
	a := &answer{head: http.Header{}, status: http.StatusOK}
	return a, f(a, r)
}

func (a *answer) Header() http.Header         { return a.head }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }
