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

// Site holds what all answers share.
type Site struct {
	Metrics *Metrics

	// Proxies are in front and tell who asks; the default is none.
	Proxies Proxies

	// Answers tells whether requests to a host are for this server; nil: all are.
	Answers func(host string) bool

	// Space returns an error while there is no room for large bodies. A nil Space allows all.
	Space func(context.Context) error

	// Since returns when the workspace of a token began to hold something, zero while it holds
	// nothing: older ones come first where too many send at the same time. nil: all are alike.
	Since func(ctx context.Context, token string) time.Time

	// Keys holds the keys of the workspaces; nil: any 32 hexadecimal digits are one.
	Keys *Keys

	// Origins lists the origins of pages elsewhere that may call /api.
	Origins Origins

	// PerWorkspace and PerAddress are how many requests may come in a minute from
	// one workspace, and from all those behind one address. By default the second
	// leaves room for a course behind one address, every slider moving.
	PerWorkspace, PerAddress int

	log  *slog.Logger
	page func(io.Writer, *http.Request, Problem) error
}

// NewSite returns a site that renders its error pages with page; nil: as text.
func NewSite(log *slog.Logger, page func(w io.Writer, r *http.Request, p Problem) error) *Site {
	return &Site{Metrics: NewMetrics(), PerWorkspace: 6_000, PerAddress: 120_000, log: log, page: page}
}

// Middleware is the chain for every request, the outermost first.
func (s *Site) Middleware() chi.Middlewares {
	return chi.Middlewares{
		s.lookBehind,
		noteAddress,
		s.observe,
		s.recover,
		secure,
		s.refuseHosts,
		s.allowOrigins,
		s.limitRate,
		s.refuseCrossSite,
		s.refuseLarge,
		s.limitBodies,
		middleware.Compress(compression, compressible...),
		middleware.GetHead, // HEAD wherever there is GET
	}
}

type requestIDKey struct{}

// requestID is the name of a request in the log.
func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// statusGone is logged when the client left before there was an answer.
const statusGone = 499

// observe names, logs and counts requests. The log has the route, not the address:
// addresses hold the tokens of shared runs and of teachers and the codes of courses, and
// one that has no route may be one of those, mistyped.
func (s *Site) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rand.Text()[:12]
		w.Header().Set("X-Request-Id", id)
		ctx := context.WithValue(r.Context(), requestIDKey{}, id)
		tracked := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		start := time.Now()
		defer func() { // also when a handler breaks off its answer
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
			if quiet(route) || status == http.StatusTooManyRequests { // of which limitRate tells
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

// unmatched stands for every address without a route, so that the number of
// routes in the metrics has a bound.
const unmatched = "unmatched"

func routeOf(ctx context.Context) string {
	if c := chi.RouteContext(ctx); c != nil {
		if p := c.RoutePattern(); p != "" && p != "/*" {
			return p
		}
	}
	return unmatched
}

// methodOf is one of those that there are: clients may invent others, with whatever in
// them, and the number of series in the metrics must have a bound.
func methodOf(r *http.Request) string {
	if slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, r.Method) {
		return r.Method
	}
	return "other"
}

// isProbe reports whether a path is one that supervisors ask all the time.
func isProbe(path string) bool { return path == "/healthz" || path == "/readyz" }

// quiet routes are asked for all the time and tell little.
func quiet(route string) bool {
	return isProbe(route) || route == "/metrics" || strings.HasPrefix(route, "/static/")
}

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
			if tracked.Status() != 0 { // break off, so that half an answer is not taken for a whole one
				panic(http.ErrAbortHandler)
			}
			s.Error(w, r, fmt.Errorf("panic: %v", v))
		}()
		next.ServeHTTP(tracked, r)
	})
}

// pagePolicy lets pages use our own files and nothing else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
	"connect-src 'self'; frame-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secure sets the headers that keep a page to itself.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // addresses of shared runs go nowhere else
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// Framed lets pages of other sites show answers in a frame, and their pictures. It is for
// what is the same for everybody: each request has a workspace of its own, that nobody
// comes back to, and no cookie.
func (s *Site) Framed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", strings.Replace(pagePolicy, "frame-ancestors 'none'", "frame-ancestors *", 1))
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		h.Set("Access-Control-Allow-Origin", "*") // a sandbox of another site may have no origin
		h.Set("Cache-Control", "no-cache")
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, s.Keys.New())))
	})
}

// limitRate limits what one workspace may ask for, and generously what all behind
// one address may, which can be a whole lecture hall. A request that the first refuses
// does not count for the second, so that nobody uses up what belongs to his
// neighbours.
// Refusals come by the thousand, so the log has one line for all of a minute; the
// metrics count each.
func (s *Site) limitRate(next http.Handler) http.Handler {
	var told atomic.Int64 // minute of the last line
	limit := func(most int, key httprate.KeyFunc, whose string) func(http.Handler) http.Handler {
		return httprate.Limit(most, time.Minute, httprate.WithKeyFuncs(key),
			httprate.WithLimitHandler(func(w http.ResponseWriter, r *http.Request) {
				if now := time.Now().Unix() / 60; told.Swap(now) != now {
					s.log.WarnContext(r.Context(), "requests are refused, too many of one "+whose+"; this minute's first", "id", requestID(r.Context()), "from", r.RemoteAddr)
				}
				s.Error(w, r, Errorf(TooMany, "Too many requests from your %s. Wait a moment and try again.", whose))
			}))
	}
	byAddress := limit(s.PerAddress, func(r *http.Request) (string, error) { return Address(r.Context()), nil }, "address")
	byWorkspace := limit(s.PerWorkspace, workspaceOrAddress, "workspace")
	ofAddress := byAddress(next)
	limited := byWorkspace(ofAddress)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isProbe(r.URL.Path) || strings.HasPrefix(r.URL.Path, "/static/") {
			next.ServeHTTP(w, r)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/embed/") { // in frames, which send no workspace: a whole course shares an address
			ofAddress.ServeHTTP(w, r)
			return
		}
		limited.ServeHTTP(w, r)
	})
}

// workspaceOrAddress is who asks. Those who come without a workspace share what one
// has, address by address.
func workspaceOrAddress(r *http.Request) (string, error) {
	return cmp.Or(sentToken(r), Address(r.Context())), nil
}

// refuseLarge refuses what would be kept in temporary files, before it is read, where there is no
// room for it.
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

// Health answers whether check finds the program fit to serve.
func (s *Site) Health(check func(context.Context) error) http.HandlerFunc {
	return s.Handle(func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		if err := check(ctx); err != nil {
			if kind := interface{ Kind() string }(nil); errors.As(err, &kind) {
				return err // it has words for people
			}
			return fmt.Errorf("%w (%w)", err, Errorf(Busy, "The database does not answer."))
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		_, err := io.WriteString(w, "ok\n")
		return err
	})
}
