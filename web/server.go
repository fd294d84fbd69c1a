package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Time limits of a connection. Event streams set their own.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = time.Minute
	writeTimeout  = 2 * time.Minute
	idleTimeout   = 2 * time.Minute
	stopTimeout   = 3 * time.Second
)

// HeaderBytes bounds the headers of a request, and so its address.
const HeaderBytes = 64 << 10

// errStopping is the cause with which requests are cancelled on shutdown.
var errStopping = errors.New("server stopping")

// Server listens on one address.
type Server struct {
	listener *connections
	http     *http.Server
	cancel   context.CancelCauseFunc
}

// Listen listens on addr, "host:port"; port 0 picks a free one.
func Listen(addr string, log *slog.Logger) (*Server, error) {
	listener, err := net.Listen("tcp", addr)
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		err = failed.Err // which does not repeat the address
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	return newServer(listener, log), nil
}

func newServer(listener net.Listener, log *slog.Logger) *Server {
	base, cancel := context.WithCancelCause(context.Background())
	all := &connections{Listener: listener, most: openFiles(2*mostConnections) / 2, log: log}
	return &Server{all, &http.Server{
		ConnState:         all.noteState,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    HeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}, cancel}
}

// Behind sets the proxies in front of the server: their connections carry many clients.
func (s *Server) Behind(proxies Proxies) { s.listener.proxies = proxies }

// Addr returns the address listened on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve serves requests with h until ctx ends. It then cancels running requests, event streams
// first since they would never end, and returns when they have finished or after some seconds.
func (s *Server) Serve(ctx context.Context, h http.Handler) error {
	s.http.Handler = h
	failed := make(chan error, 1)
	go func() {
		if s.http.TLSConfig != nil {
			failed <- s.http.ServeTLS(s.listener, "", "")
		} else {
			failed <- s.http.Serve(s.listener)
		}
	}()
	select {
	case err := <-failed:
		s.cancel(err)
		return err
	case <-ctx.Done():
	}
	s.cancel(errStopping)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := s.http.Shutdown(grace); err != nil {
		return errors.Join(fmt.Errorf("requests under way were cut off: %w", err), s.http.Close())
	}
	return nil
}
