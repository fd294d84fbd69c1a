package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// from is a connection with a given client address.
type from struct {
	net.Conn
	address string
}

func (f from) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(f.address), 1))
}

// If there is no room for a connection, the one that has waited longest for a request is closed:
// one that has sent half a header, or one between two requests, but never a busy one. One address
// leaves a quarter to others, unless it is a proxy's.
func TestConnectionsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, _, _ := newSite(map[string]Handler{
			"GET /healthz": ok,
			"GET /wait":    func(_ http.ResponseWriter, r *http.Request) error { <-r.Context().Done(); return nil },
		})
		listener := make(pipes)
		s := newServer(listener, slog.New(slog.DiscardHandler))
		s.listener.most = 16
		s.Behind(Proxies{netip.MustParsePrefix("10.0.0.9/32")})
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- s.Serve(ctx, h) }()
		var conns []net.Conn
		begin := time.Now()
		send := func(address, text string) (answer *string) {
			time.Sleep(time.Millisecond) // so that connections have an order
			client, server := net.Pipe()
			conns = append(conns, client)
			listener <- from{server, address}
			answer = new(string)
			go func() {
				_, _ = io.WriteString(client, text)
				for in := bufio.NewReader(client); ; {
					line, err := in.ReadString('\n')
					*answer += line
					if err != nil {
						*answer += "closed"
						return
					}
				}
			}()
			synctest.Wait()
			return answer
		}
		const half, health, wait = "GET /healthz HTTP/1.1\r\n", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"
		expect := func(what string, answer *string, want string) {
			t.Helper()
			require.Check(t, (want == "") == (*answer == "") && strings.Contains(*answer, want),
				"%s: %.200q, want %q", what, *answer, want)
		}
		keep := send("10.0.0.1", health)
		expect("the first", keep, "200 OK")
		open := lists.Make(40, func(int) *string { return send("10.0.0.1", half) })
		expect("the first, that waits for another request", keep, "closed")
		expect("the first half-open one", open[0], "closed")
		expect("the last half-open one", open[39], "")
		expect("another of that address", send("10.0.0.1", health), "200 OK")
		for range 12 {
			expect("a request that is worked on", send("10.0.0.1", wait), "")
		}
		expect("a busy address", send("10.0.0.1", health), "closed")
		expect("another address", send("10.0.0.2", health), "200 OK")
		for range 4 {
			send("10.0.0.9", wait)
		}
		expect("a proxy, while all are busy", send("10.0.0.9", health), "closed")
		require.Equal(t, len(s.listener.open), 16, "connections")
		for _, c := range conns {
			c.Close()
		}
		synctest.Wait()
		for range 14 {
			expect("a request of a proxy", send("10.0.0.9", wait), "")
		}
		took := time.Since(begin)
		require.Check(t, took < headerTimeout, "it waited for time limits: %v", took)
		for _, c := range conns {
			c.Close()
		}
		stop()
		<-served
	})
}

// TestFewDescriptors sends requests to a server in a separate process, which may have 64 files open
// and never cuts off slow headers, while 100 half-open connections arrive and stay.
func TestFewDescriptors(t *testing.T) {
	const name = "MARGINLAB_TEST_FEW_DESCRIPTORS"
	if os.Getenv(name) != "" {
		h, _, _ := newSite(map[string]Handler{"GET /healthz": ok})
		s := require.Value(Listen("127.0.0.1:0", slog.New(slog.DiscardHandler)))(t)
		s.http.ReadHeaderTimeout, s.http.ReadTimeout = 0, 0
		fmt.Println("listens on", s.Addr())
		t.Fatal(s.Serve(t.Context(), h))
	}
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no ulimit")
	}
	child := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -n 64 && exec "$0" -test.run '^TestFewDescriptors$'`, os.Args[0])
	child.Env = append(os.Environ(), name+"=1")
	child.Stderr = os.Stderr
	out := require.Value(child.StdoutPipe())(t)
	require.NoError(t, child.Start())
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	first, err := bufio.NewReader(out).ReadString('\n')
	at, found := strings.CutPrefix(strings.TrimSpace(first), "listens on ")
	require.Must(t, err == nil && found, "%v %v", first, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for i := range 100 {
		conn := require.Value(net.Dial("tcp", at))(t)
		defer conn.Close()
		require.Value(io.WriteString(conn, "GET / HTTP/1.1\r\n"))(t)
		if i%10 == 9 {
			resp, err := client.Get("http://" + at + "/healthz")
			require.Must(t, err == nil, "beside %d half-open connections: %v", i+1, err)
			resp.Body.Close()
			require.Check(t, resp.StatusCode == http.StatusOK, "beside %d half-open connections: %s", i+1, resp.Status)
		}
	}
}
