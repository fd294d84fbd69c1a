package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/cors"
)

// Origins lists other sites whose pages may call /api with a key, such as browser notebooks.
// The zero value allows none.
type Origins []string

// Add adds a comma-separated list of origins: a scheme and a host, with an optional port.
func (o *Origins) Add(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		one = strings.TrimSuffix(strings.TrimSpace(one), "/")
		u, err := url.Parse(one)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || one != u.Scheme+"://"+u.Host {
			return fmt.Errorf("expects origins such as https://notebooks.example.org, not %q", one)
		}
		*o = append(*o, one)
	}
	return nil
}

// allowOrigins sets the CORS headers that let pages of s.Origins call /api with their own key,
// without the browser's cookie.
func (s *Site) allowOrigins(next http.Handler) http.Handler {
	if len(s.Origins) == 0 {
		return next
	}
	shared := cors.Handler(cors.Options{
		AllowedOrigins: s.Origins,
		AllowedMethods: []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"},
		AllowedHeaders: []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match"},
		ExposedHeaders: []string{"ETag", "Location", "Retry-After", "X-Request-Id"},
		MaxAge:         600,
	})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ForPrograms(r) {
			shared.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuseCrossSite refuses requests that another site makes a browser send. Requests with a key
// pass: a browser never adds one by itself.
func (s *Site) refuseCrossSite(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Error(w, r, Errorf(Forbidden, "This request came from a page of another site and was refused."))
	}))
	guard.AddInsecureBypassPattern("/embed/") // sandboxed, without an origin; no workspace there to change
	guarded := guard.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token, _ := bearer(r); ForPrograms(r) && (token != "" || slices.Contains(s.Origins, r.Header.Get("Origin"))) {
			next.ServeHTTP(w, r)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}
