package fleet

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// lines is a channel that sends every write.
type lines chan string

func (l lines) Write(p []byte) (int, error) { l <- string(p); return len(p), nil }

// A worker started before its server waits for it, says so, and joins; an interrupt ends the wait.
// A refused worker is told at once.
func TestJoinBeforeServer(t *testing.T) {
	t.Parallel()
	free := require.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	at, dir := free.Addr().String(), t.TempDir()
	file := filepath.Join(dir, tokenFile) // written by the server
	free.Close()
	said := make(lines, 100)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	type result struct {
		link *Link
		err  error
	}
	joined := make(chan result)
	join := func() {
		link, err := Join(ctx, Access{URL: "nats://" + at, Token: file}, slog.New(slog.NewTextHandler(said, nil)))
		joined <- result{link, err}
	}
	go join()
	if line := <-said; !strings.Contains(line, "waiting for the server: a file is missing") || !strings.Contains(line, at) || !strings.Contains(line, "trying again in") {
		t.Error(line)
	}
	server := require.Value(Listen(at, dir, nil, slog.New(slog.NewTextHandler(io.Discard, nil))))(t)
	r := <-joined
	require.NoError(t, r.err)
	r.link.Close()
	require.NoError(t, os.WriteFile(file, []byte("another token that is not taken\n"), 0o600))
	go join()
	r = <-joined
	require.Check(t, r.err != nil && strings.Contains(r.err.Error(), "nats-token"), "a wrong token: %v", r.err)
	server.Close()
	for len(said) > 0 {
		<-said
	}
	go join()
	<-said
	stop()
	r = <-joined
	require.Check(t, errors.Is(r.err, context.Canceled), "interrupted: %v", r.err)
}
