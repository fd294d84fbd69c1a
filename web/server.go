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

// Time limits of a connection. An event stream sets its own.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = time.Minute
	writeTimeout  = 2 * time.Minute
	idleTimeout   = 2 * time.Minute
	stopTimeout   = 3 * time.Second
)

// errStopping is why requests end when the server stops.
var errStopping = errors.New("server stopping")

// Server listens on one address.
type Server struct {
	listener *connections
	http     *http.Server
	log      *slog.Logger
	cancel   context.CancelCauseFunc
}

// Listen takes the address, "host:port"; port 0 takes any free one.
func Listen(addr string, log *slog.Logger) (*Server, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	return newServer(listener, log), nil
}

func newServer(listener net.Listener, log *slog.Logger) *Server {
	base, cancel := context.WithCancelCause(context.Background())
	all := &connections{Listener: listener, most: openFiles(2*mostConnections) / 2, log: log}
	return &Server{all, &http.Server{
		ConnState:         all.note,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}, log, cancel}
}

// Behind tells the server which proxies are in front of it: their connections carry those of many.
func (s *Server) Behind(proxies Proxies) { s.listener.proxies = proxies }

// Addr is the address listened on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve answers requests with h until ctx ends. Then requests under way are told to
// end, first of all event streams, which otherwise never would, and Serve
// returns when they have, or after some seconds.
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
