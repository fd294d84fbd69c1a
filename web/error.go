package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"marginlab/ml/param"
)

// Handler handles a request or returns an error for Site.Handle to write.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Kinds of errors. An error of any package declares its kind by a method
// Kind() string; its message is then shown to the user.
const (
	Malformed    = "malformed"
	Unauthorized = "unauthorized"
	Forbidden    = "forbidden"
	NotFound     = "not-found"
	NotAllowed   = "not-allowed"
	Conflict     = "conflict"
	Changed      = "changed" // does not match the request's If-Match
	Misdirected  = "misdirected"
	TooSlow      = "too-slow"
	TooLarge     = "too-large"
	Unsupported  = "unsupported"
	Invalid      = "invalid"
	TooMany      = "too-many"
	Busy         = "busy"
	Storage      = "storage"
)

// statuses maps kinds of errors to HTTP statuses. All other errors are server faults:
// 500, logged and not shown.
var statuses = map[string]int{
	Malformed:    http.StatusBadRequest,
	Unauthorized: http.StatusUnauthorized,
	Forbidden:    http.StatusForbidden,
	NotFound:     http.StatusNotFound,
	NotAllowed:   http.StatusMethodNotAllowed,
	Conflict:     http.StatusConflict,
	Changed:      http.StatusPreconditionFailed,
	Misdirected:  http.StatusMisdirectedRequest,
	TooSlow:      http.StatusRequestTimeout,
	TooLarge:     http.StatusRequestEntityTooLarge,
	Unsupported:  http.StatusUnsupportedMediaType,
	Invalid:      http.StatusUnprocessableEntity,
	TooMany:      http.StatusTooManyRequests,
	Busy:         http.StatusServiceUnavailable,
	Storage:      http.StatusInsufficientStorage,
}

// fault is the kind of all other errors.
const fault = "fault"

// Kinds returns the kinds of errors that a client can receive and their statuses.
func Kinds() map[string]int {
	all := maps.Clone(statuses)
	all[fault] = http.StatusInternalServerError
	return all
}

// problemTypes is the page that describes the kinds of problems, each under its name.
const problemTypes = "/api/docs#"

// kindError is an error made by Errorf.
type kindError struct {
	kind string
	error
}

func (e *kindError) Kind() string  { return e.kind }
func (e *kindError) Unwrap() error { return errors.Unwrap(e.error) }

// Errorf returns an error of a kind whose message is shown to the user.
func Errorf(kind, format string, args ...any) error {
	return &kindError{kind, fmt.Errorf(format, args...)}
}

// Status returns the HTTP status of an error with a kind, and 0 for others.
func Status(err error) int {
	var kind interface{ Kind() string }
	if !errors.As(err, &kind) {
		return 0
	}
	return statuses[kind.Kind()]
}

// Problem is an error as sent to the client: an RFC 9457 problem under /api, the
// contents of an error page elsewhere.
type Problem struct {
	Type      string         `json:"type"` // URL of the kind's description
	Title     string         `json:"title"`
	Status    int            `json:"status"`
	Detail    string         `json:"detail"`
	Instance  string         `json:"instance,omitempty"`
	Errors    param.Problems `json:"errors,omitempty"`     // invalid fields
	RequestID string         `json:"request_id,omitempty"` // for server faults: identifies the log entry
}

// problem returns the message and status of an error.
func problem(r *http.Request, err error) Problem {
	p := Problem{Instance: r.URL.EscapedPath()}
	is := fault
	var kind interface {
		error
		Kind() string
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &p.Errors):
		is, p.Detail = Invalid, p.Errors.Error()
	case errors.As(err, &tooLarge):
		is, p.Detail = TooLarge, fmt.Sprintf("The request is larger than %s, the maximum. Nothing was saved.", param.Bytes(tooLarge.Limit))
	case errors.As(err, &kind) && statuses[kind.Kind()] != 0:
		is, p.Detail = kind.Kind(), kind.Error()
	case errors.Is(err, context.DeadlineExceeded):
		is, p.Detail = Busy, "The request took too long. Try again, or use less data."
	default:
		p.Detail = "Something went wrong on our side. It was logged; nothing of yours is lost."
		p.RequestID = requestID(r.Context())
	}
	p.Type, p.Status = problemTypes+is, cmp.Or(statuses[is], http.StatusInternalServerError)
	p.Title = http.StatusText(p.Status)
	return p
}

// Handle returns an http.HandlerFunc that calls h and responds to its errors.
func (s *Site) Handle(h Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer removeFiles(r)
		tracked := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		err := h(tracked, r)
		if err == nil {
			return
		}
		if tracked.Status() != 0 { // too late to report in the response
			if r.Context().Err() == nil {
				s.log.ErrorContext(r.Context(), "answer broken off", "id", requestID(r.Context()), "err", err)
				panic(http.ErrAbortHandler)
			}
			return
		}
		s.Error(w, r, err)
	}
}

// removeFiles removes the temporary files of a form.
func removeFiles(r *http.Request) {
	if r.MultipartForm != nil {
		_ = r.MultipartForm.RemoveAll() // leftovers are found by the system's cleanup of temporary files
	}
}

// Error responds to a request with an error.
func (s *Site) Error(w http.ResponseWriter, r *http.Request, err error) {
	switch cause := context.Cause(r.Context()); {
	case errors.Is(cause, errStopping):
		err = Errorf(Busy, "The server is stopping. Nothing was saved; try again in a moment.")
	case cause != nil && errors.Is(err, context.Canceled):
		return // the client has left
	}
	r = r.WithContext(context.WithoutCancel(r.Context())) // the response must still be written
	p := problem(r, err)
	level := slog.LevelDebug
	switch {
	case p.Status == http.StatusInternalServerError:
		level = slog.LevelError
	case p.Status > http.StatusInternalServerError:
		level = slog.LevelWarn
	}
	attrs := []any{"id", requestID(r.Context()), "status", p.Status}
	if p.Status >= http.StatusInternalServerError { // others may quote what was sent, such as a code
		attrs = append(attrs, "err", err)
	}
	s.log.Log(r.Context(), level, "request failed", attrs...)

	h := w.Header()
	h.Del("Content-Length")
	h.Del("Content-Disposition")
	h.Del("ETag")
	h.Set("Cache-Control", "no-store")
	switch p.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if h.Get("Retry-After") == "" {
			h.Set("Retry-After", strconv.Itoa(retryAfter(err)))
		}
	}
	text := s.body(w, r, p)
	w.WriteHeader(p.Status)
	if _, err := w.Write(text); err != nil {
		s.log.DebugContext(r.Context(), "error not sent", "id", requestID(r.Context()), "err", err)
	}
	if b, ok := r.Body.(*body); ok && p.Status < http.StatusInternalServerError && !cutOff(err) {
		b.discard(w, r)
	}
}

// body renders a problem as JSON, as a page or, if that fails, as text.
func (s *Site) body(w http.ResponseWriter, r *http.Request, p Problem) []byte {
	if wantsJSON(r) {
		w.Header().Set("Content-Type", "application/problem+json")
		b, _ := json.Marshal(p) // strings and numbers only
		return append(b, '\n')
	}
	if s.page != nil && !isProbe(r.URL.Path) {
		var page bytes.Buffer
		err := s.page(&page, r, p)
		if err == nil {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			return page.Bytes()
		}
		s.log.ErrorContext(r.Context(), "error page failed", "id", requestID(r.Context()), "err", err)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	return fmt.Appendf(nil, "%d %s\n%s\n", p.Status, p.Title, p.Detail)
}

// ForPrograms reports whether a request is for the API.
func ForPrograms(r *http.Request) bool {
	return r.URL.Path == "/api" || strings.HasPrefix(r.URL.Path, "/api/")
}

func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return ForPrograms(r) || strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// NotFound responds to addresses that match no route.
func (s *Site) NotFound(w http.ResponseWriter, r *http.Request) {
	s.Error(w, r, Errorf(NotFound, "There is nothing at this address."))
}

// MethodNotAllowed responds with the methods that an address allows.
func (s *Site) MethodNotAllowed(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	if c := chi.RouteContext(r.Context()); c != nil && c.Routes != nil {
		for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if c.Routes.Match(chi.NewRouteContext(), m, r.URL.Path) {
				allowed = append(allowed, m)
			}
		}
		if slices.Contains(allowed, "GET") {
			allowed = append(allowed, "HEAD")
		}
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	s.Error(w, r, Errorf(NotAllowed, "This address does not accept %s requests.", r.Method))
}
