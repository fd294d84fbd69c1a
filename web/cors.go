package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/cors"
)

// Origins lists other sites whose pages may call /api with a key, such as notebooks in
// the browser: none, if not said otherwise.
type Origins []string

// Add adds a list, separated by commas. It returns an error for what is no origin: a scheme and
// a host, with a port if need be.
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

// allowOrigins tells browsers that pages of s.Origins may call /api. Their requests carry a key
// of their own, and no cookie of the browser.
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

// refuseCrossSite refuses what another site makes a browser send. A program that sends a key is
// none: no browser adds it by itself.
func (s *Site) refuseCrossSite(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Error(w, r, Errorf(Forbidden, "This request came from a page of another site and was refused."))
	}))
	guard.AddInsecureBypassPattern("/embed/") // of a sandbox without an origin; there is no workspace there that a request could change
	guarded := guard.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token, _ := bearer(r); ForPrograms(r) && (token != "" || slices.Contains(s.Origins, r.Header.Get("Origin"))) {
			next.ServeHTTP(w, r)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}
