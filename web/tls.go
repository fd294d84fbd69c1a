package web

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is read from two files, and reread when they change.
type certificate struct {
	files [2]string // certificate chain, key
	log   *slog.Logger

	mu     sync.Mutex
	read   *tls.Certificate
	stamps [2]time.Time // modification times when read
}

// TLS returns a TLS configuration with the certificate chain and key of two PEM files. It rereads
// replaced files; if they are invalid, it logs that and keeps the previous ones.
func TLS(cert, key string, log *slog.Logger) (*tls.Config, error) {
	c := &certificate{files: [2]string{cert, key}, log: log}
	if err := c.load(); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current(), nil }}, nil
}

// UseTLS makes the server speak TLS with a configuration made by TLS.
func (s *Server) UseTLS(config *tls.Config) { s.http.TLSConfig = config }

// load reads the files if they have changed. Callers hold c.mu once c is shared.
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
	c.stamps = now // invalid files are reported once
	read, err := tls.LoadX509KeyPair(c.files[0], c.files[1])
	if err != nil {
		return fmt.Errorf("TLS: %s with the key in %s: %w", c.files[0], c.files[1], err)
	}
	c.read = &read
	return nil
}

// current returns the certificate for a new connection.
func (c *certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		c.log.Warn("certificate not reloaded; the old one stays in use", "err", err)
	}
	return c.read
}
