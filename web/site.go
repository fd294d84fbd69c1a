package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/go-chi/httprate"
)

// Site holds what all responses share.
type Site struct {
	Metrics *Metrics

	// Proxies are the trusted reverse proxies; the default is none.
	Proxies Proxies

	// Answers reports whether a host name belongs to this server; nil accepts all.
	Answers func(host string) bool

	// Space returns an error while there is no disk space for large bodies; nil allows all.
	Space func(context.Context) error

	// Since returns the creation time of a token's workspace, zero if it is empty. Older
	// workspaces take precedence when too many send bodies at once; nil treats all alike.
	Since func(ctx context.Context, token string) time.Time

	// Keys verifies workspace keys; nil accepts any 32 hexadecimal digits.
	Keys *Keys

	// Origins lists other sites whose pages may call /api.
	Origins Origins

	// PerWorkspace and PerAddress limit the requests per minute of one workspace and of one network
	// address. The default of PerAddress allows for a whole course behind one address with every
	// slider moving.
	PerWorkspace, PerAddress int

	log  *slog.Logger
	page func(io.Writer, *http.Request, Problem) error
}

// NewSite returns a Site that renders error pages with page; nil: as plain text.
func NewSite(log *slog.Logger, page func(w io.Writer, r *http.Request, p Problem) error) *Site {
	return &Site{Metrics: NewMetrics(), PerWorkspace: 6_000, PerAddress: 120_000, log: log, page: page}
}

// Middleware returns the middleware of every request, outermost first.
func (s *Site) Middleware() chi.Middlewares {
	return chi.Middlewares{
		s.applyProxyHeaders,
		noteAddress,
		s.observe,
		s.recover,
		secureHeaders,
		s.refuseHosts,
		s.allowOrigins,
		s.limitRate,
		s.refuseCrossSite,
		s.refuseLarge,
		s.limitBodies,
		middleware.Compress(compression, compressible...),
		middleware.GetHead, // HEAD for every GET
	}
}

type requestIDKey struct{}

// requestID returns the identifier of a request in the log.
func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// statusGone is logged when the client left before the response.
const statusGone = 499

// observe identifies, logs and counts requests. It logs the route, not the URL: URLs contain
// tokens and course codes, and an unmatched one may be a mistyped token.
func (s *Site) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rand.Text()[:12]
		w.Header().Set("X-Request-Id", id)
		ctx := context.WithValue(r.Context(), requestIDKey{}, id)
		tracked := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		start := time.Now()
		defer func() { // also when a handler aborts its response
			took := time.Since(start)
			status := tracked.Status()
			if status == 0 {
				status = http.StatusOK
				if r.Context().Err() != nil {
					status = statusGone
				}
			}
			route := routeOf(ctx)
			s.Metrics.request(methodOf(r), route, status, took)

			level := slog.LevelInfo
			if isProbe(route) || route == "/metrics" || strings.HasPrefix(route, "/static/") || status == http.StatusTooManyRequests { // logged by limitRate
				level = slog.LevelDebug
			}
			s.log.LogAttrs(
				ctx, level, "request",
				slog.String("id", id), slog.String("method", methodOf(r)), slog.String("route", route), slog.Int("status", status),
				slog.Int("bytes", tracked.BytesWritten()), slog.Duration("took", took.Round(time.Microsecond)), slog.String("from", r.RemoteAddr),
			)
		}()
		next.ServeHTTP(tracked, r.WithContext(ctx))
	})
}

// unmatched stands for all URLs without a route, which bounds the number of routes in the
// metrics.
const unmatched = "unmatched"

func routeOf(ctx context.Context) string {
	if c := chi.RouteContext(ctx); c != nil {
		if p := c.RoutePattern(); p != "" && p != "/*" {
			return p
		}
	}
	return unmatched
}

// methodOf returns a standard method or a placeholder: clients may invent others, and the
// number of series in the metrics must be bounded.
func methodOf(r *http.Request) string {
	if slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, r.Method) {
		return r.Method
	}
	return "other"
}

// isProbe reports whether a path is a health check.
func isProbe(path string) bool { return path == "/healthz" || path == "/readyz" }

// recover turns a panic into a logged error page.
func (s *Site) recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tracked := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler {
				panic(v)
			}
			s.log.ErrorContext(r.Context(), "panic", "id", requestID(r.Context()), "panic", v, "stack", string(debug.Stack()))
			if tracked.Status() != 0 { // abort, so that a partial response is not taken for a complete one
				panic(http.ErrAbortHandler)
			}
			s.Error(w, r, fmt.Errorf("panic: %v", v))
		}()
		next.ServeHTTP(tracked, r)
	})
}

// pagePolicy lets pages load only files of this server.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
	"connect-src 'self'; frame-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secureHeaders sets the security headers.
func secureHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // do not leak URLs of shared runs
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// Framed lets other sites frame responses and show their pictures. It is for content that is
// the same for everyone: each request gets a throw-away workspace and no cookie.
func (s *Site) Framed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", strings.Replace(pagePolicy, "frame-ancestors 'none'", "frame-ancestors *", 1))
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		h.Set("Access-Control-Allow-Origin", "*") // a sandboxed frame may have no origin
		h.Set("Cache-Control", "no-cache")
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, s.Keys.New())))
	})
}

// limitRate limits the requests of one workspace and, generously, of one network address, which
// can be a whole lecture hall. A request refused by the first limit does not count towards the
// second, so that nobody uses up their neighbours' share. Refusals are logged once per minute
// and counted individually in the metrics.
func (s *Site) limitRate(next http.Handler) http.Handler {
	var told atomic.Int64 // minute of the last log line
	limit := func(most int, key httprate.KeyFunc, whose string) func(http.Handler) http.Handler {
		return httprate.Limit(most, time.Minute, httprate.WithKeyFuncs(key),
			httprate.WithLimitHandler(func(w http.ResponseWriter, r *http.Request) {
				if now := time.Now().Unix() / 60; told.Swap(now) != now {
					s.log.WarnContext(r.Context(), "requests refused: too many from one "+whose+"; first of this minute", "id", requestID(r.Context()), "from", r.RemoteAddr)
				}
				s.Error(w, r, Errorf(TooMany, "Too many requests from your %s. Try again in a minute.", whose))
			}))
	}
	byAddress := limit(s.PerAddress, func(r *http.Request) (string, error) { return Address(r.Context()), nil }, "address")
	byWorkspace := limit(s.PerWorkspace, func(r *http.Request) (string, error) { // without a workspace, one allowance per address
		return cmp.Or(sentToken(r), Address(r.Context())), nil
	}, "workspace")
	ofAddress := byAddress(next)
	limited := byWorkspace(ofAddress)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isProbe(r.URL.Path) || strings.HasPrefix(r.URL.Path, "/static/") {
			next.ServeHTTP(w, r)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/embed/") { // frames send no workspace, and a whole course shares an address
			ofAddress.ServeHTTP(w, r)
			return
		}
		limited.ServeHTTP(w, r)
	})
}

// refuseLarge refuses, before reading them, bodies that would need temporary files when disk
// space is short.
func (s *Site) refuseLarge(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Space != nil && (r.ContentLength > formMemory || r.ContentLength < 0) {
			if err := s.Space(r.Context()); err != nil {
				s.Error(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Health returns a health check that responds with the result of check.
func (s *Site) Health(check func(context.Context) error) http.HandlerFunc {
	return s.Handle(func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		if err := check(ctx); err != nil {
			if kind := interface{ Kind() string }(nil); errors.As(err, &kind) {
				return err // its message is for users
			}
			return fmt.Errorf("%w (%w)", err, Errorf(Busy, "The database does not answer."))
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		_, err := io.WriteString(w, "ok\n")
		return err
	})
}
