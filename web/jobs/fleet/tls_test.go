package fleet

import (
	"bufio"
	"crypto/tls"
	"encoding/pem"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"marginlab/ml/mltest/require"
)

// certified returns a TLS configuration, and a file with its certificate.
func certified(t *testing.T) (config *tls.Config, file string) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	file = filepath.Join(t.TempDir(), "cert.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	return &tls.Config{Certificates: s.TLS.Certificates}, file
}

// With a certificate, workers are told to connect over TLS, connections without it are refused,
// and a worker does not send its token to a server whose certificate it cannot verify.
func TestTLS(t *testing.T) {
	t.Parallel()
	config, file := certified(t)
	h := secured(t, t.TempDir(), "127.0.0.1:0", config)
	require.Check(t, strings.HasPrefix(h.url(), "tls://127.0.0.1:"), "workers are sent to %s", h.url())
	require.Fails(t, require.Err(Connect(h.access(), "worker", slog.New(slog.DiscardHandler))), "--nats-ca",
		"a server that nobody vouches for")
	missing := h.access()
	missing.CA = "none.pem"
	_, err := Connect(missing, "worker", slog.New(slog.DiscardHandler))
	require.Check(t, err != nil && strings.Contains(err.Error(), "none.pem"), "no such file: %v", err)
	h.ca = file
	n := asked(t, 4)
	id := h.search(alice, n)
	h.hire(1, nil)
	h.want(alice, id, n)

	// A client without TLS can read only the server's greeting.
	conn := require.Value(net.Dial("tcp", strings.TrimPrefix(h.url(), "tls://")))(t)
	defer conn.Close()
	token := require.Value(os.ReadFile(filepath.Join(h.dir, tokenFile)))(t)
	_, err = conn.Write([]byte("CONNECT {\"auth_token\":\"" + strings.TrimSpace(string(token)) + "\"}\r\nSUB > 1\r\nPUB " + cellSubject + "x 0\r\n\r\nPING\r\n"))
	require.NoError(t, err)
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		if text := lines.Text(); strings.HasPrefix(text, "PONG") || strings.HasPrefix(text, "MSG") || strings.HasPrefix(text, "+OK") {
			t.Errorf("without TLS: %q", text)
		}
	}
}

// A NATS client without a token can neither publish a cell to the stream nor read one: the server
// reports an error and disconnects.
func TestPlainOutsider(t *testing.T) {
	h := fresh(t)
	h.search(alice, asked(t, 4)) // there is something to read
	for name, says := range map[string]string{
		"nothing before":  "SUB > 1\r\nPUB " + cellSubject + "x 2\r\n{}\r\nPING\r\n",
		"no token":        "CONNECT {}\r\nSUB > 1\r\nPUB " + cellSubject + "x 2\r\n{}\r\nPING\r\n",
		"a wrong token":   "CONNECT {\"auth_token\":\"x\"}\r\nSUB > 1\r\nPUB " + doneSubject + " 2\r\n{}\r\nPING\r\n",
		"a user's name":   "CONNECT {\"user\":\"server\",\"pass\":\"\"}\r\nSUB $JS.> 1\r\nPING\r\n",
		"the stream":      "CONNECT {}\r\nSUB _INBOX.x 1\r\nPUB $JS.API.STREAM.INFO." + streamName + " _INBOX.x 0\r\n\r\nPING\r\n",
		"no verification": "CONNECT {\"verbose\":true,\"no_responders\":true,\"headers\":true,\"account\":\"$G\",\"jwt\":\"x\",\"sig\":\"x\"}\r\nSUB > 1\r\nPING\r\n",
	} {
		conn := require.Value(net.Dial("tcp", strings.TrimPrefix(h.url(), "nats://")))(t)
		require.Value(conn.Write([]byte(says)))(t)
		var heard strings.Builder
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			if text := lines.Text(); !strings.HasPrefix(text, "INFO ") {
				heard.WriteString(text + "\n")
			}
		}
		text := heard.String()
		require.Check(t, strings.HasPrefix(text, "-ERR 'Auth") && strings.Count(text, "\n") == 1, "%s: %q", name, text)
		conn.Close()
	}
	there, err := h.fleet.inStream()
	require.Check(t, err == nil && !there["x"], "in the stream: %v, %v", there, err)
	if nc, err := nats.Connect(h.url()); err == nil {
		nc.Close()
		t.Error("connected")
	}
}
