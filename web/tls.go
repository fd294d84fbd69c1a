package web

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is read from two files, again when they have changed.
type certificate struct {
	files [2]string // the certificate with those that vouch for it, and its key
	log   *slog.Logger

	mu     sync.Mutex
	read   *tls.Certificate
	stamps [2]time.Time // of the files, when they were read
}

// TLS is how to speak TLS with the certificate of a PEM file, which may be followed by those
// that vouch for it, and the key of another one. Files that are replaced later are taken
// over; should that fail, the log tells and the former ones stay.
func TLS(cert, key string, log *slog.Logger) (*tls.Config, error) {
	c := &certificate{files: [2]string{cert, key}, log: log}
	if err := c.load(); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current(), nil }}, nil
}

// UseTLS makes the server speak TLS, as TLS says it.
func (s *Server) UseTLS(config *tls.Config) { s.http.TLSConfig = config }

// load reads the files if they have changed. Callers hold c.mu, if there are others.
func (c *certificate) load() error {
	var now [2]time.Time
	for i, file := range c.files {
		info, err := os.Stat(file)
		if err != nil {
			return fmt.Errorf("TLS: %w", err)
		}
		now[i] = info.ModTime()
	}
	if now == c.stamps {
		return nil
	}
	c.stamps = now // files that do not fit are complained of once
	read, err := tls.LoadX509KeyPair(c.files[0], c.files[1])
	if err != nil {
		return fmt.Errorf("TLS: %s with the key in %s: %w", c.files[0], c.files[1], err)
	}
	c.read = &read
	return nil
}

// current is the certificate for a new connection.
func (c *certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		c.log.Warn("certificate not taken over; the former one stays", "err", err)
	}
	return c.read
}
