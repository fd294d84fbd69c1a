package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// maxBody is the largest body that the handlers of these tests accept.
const maxBody = 20 << 20

// spooled receives a file.
func spooled(w http.ResponseWriter, r *http.Request) error {
	f, _, err := Spool(w, r, maxBody)
	if err == nil {
		err = f.Close()
	}
	return err
}

// The number of slow bodies is limited: one more from a workspace is refused until the oldest has
// used up its safe time and gives way. Others are served meanwhile, and a place is free again once
// its body has arrived.
func TestBodiesAtOnce(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"file": "/file", "form": "/form", "JSON": "/json"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, _, _ := newSite(map[string]Handler{
					"POST /form": func(w http.ResponseWriter, r *http.Request) error { return ParseForm(w, r, maxBody) },
					"POST /json": func(w http.ResponseWriter, r *http.Request) error { return ReadJSON(w, r, maxBody, new([]int)) },
					"POST /file": spooled,
				})
				listener := make(pipes)
				defer listener.serve(t, h)()

				begin, rest := "[1,", "2]"
				if path == "/form" {
					begin, rest = "--xx\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n", "b\r\n--xx--\r\n"
				}
				var said [bodiesOfWorkspace + 2]string // answers to the slow ones
				send := func(who, upTo int, to *string) (more io.Writer, end func()) {
					conn, _ := listener.dial(t.Context(), "", "")
					whole := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer %032x\r\nContent-Type: multipart/form-data; boundary=xx\r\nContent-Length: %d\r\n\r\n%s%s", path, who, len(begin+rest), begin, rest)
					go func() {
						all, _ := io.ReadAll(conn)
						*to = string(all)
					}()
					go func() { _, _ = io.WriteString(conn, whole[:len(whole)-upTo]) }()
					synctest.Wait()
					return conn, func() { conn.Close() }
				}
				var first io.Writer
				for i := range bodiesOfWorkspace {
					more, end := send(1, len(rest), &said[i])
					defer end()
					if i == 1 {
						first = more
					}
				}
				var early, other, whole string
				_, end := send(1, len(rest), &early)
				defer end()
				require.Check(t, strings.Contains(early, "503") && strings.Contains(early, "Retry-After: 10") && strings.Contains(early, "under way"),
					"one more is answered %q", early)
				_, end = send(2, 0, &other)
				defer end()
				require.Check(t, strings.Contains(other, "200 OK"), "somebody else is answered %q", other)
				time.Sleep(steady)
				_, end = send(1, 0, &whole)
				defer end()
				require.Check(t, strings.Contains(whole, "200 OK"), "a quick one is answered %q", whole)
				require.Check(t, strings.Contains(said[0], "503") && strings.Contains(said[0], "Retry-After: 60") && strings.Contains(said[0], "give way"),
					"the oldest is answered %q", said[0])
				go func() { _, _ = io.WriteString(first, rest) }()
				synctest.Wait()
				require.Says(t, said[1], "200 OK", "the next oldest, which came to its end, is answered")
				for i := range 2 { // their places are free, so no other gives way
					_, end := send(1, len(rest), &said[bodiesOfWorkspace+i])
					defer end()
				}
				for i, a := range said[2:] {
					require.Equal(t, a, "", "%d is answered", i+2)
				}
			})
		})
	}
}

// A body that pauses or trickles is cut off with 408 and frees its place; a steady one is read to
// its end, however long it takes, and has time for its answer.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bytes, rate, pause int // per second; the pause, in seconds, is in the middle
		want               string
	}{
		"steady":     {20 << 20, 2 * slowest, 0, "200 OK"},
		"short":      {20, 2, 0, "200 OK"},
		"trickling":  {1 << 20, 100, 0, "408"},
		"pausing":    {20 << 20, 1 << 20, 14, "200 OK"},
		"stalling":   {20 << 20, 1 << 20, 16, "408"},
		"too slowly": {20 << 20, slowest / 2, 0, "408"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, _, _ := newSite(map[string]Handler{"POST /x": spooled})
				listener := make(pipes)
				stop := listener.serve(t, h)
				conn, _ := listener.dial(t.Context(), "", "")
				sent := make(chan bool)
				go func() {
					defer close(sent)
					fmt.Fprintf(conn, "POST /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", test.bytes)
					for n := 0; n < test.bytes; n += test.rate {
						if _, err := conn.Write(make([]byte, min(test.rate, test.bytes-n))); err != nil {
							return
						}
						time.Sleep(time.Second)
						if test.bytes/2 >= n && test.bytes/2 < n+test.rate {
							time.Sleep(time.Duration(test.pause-1) * time.Second)
						}
					}
				}()
				answer, _ := io.ReadAll(conn)
				require.Check(t, strings.Contains(string(answer), test.want), "%.300s", answer)
				conn.Close()
				<-sent
				stop()
			})
		})
	}
}

// While an address sends the maximum number of bodies, each from a new workspace, a workspace with
// contents gets a place at once, the older of two first; a new one waits. A request that gives way
// is told so.
func TestOlderWorkspacesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, site, _ := newSite(map[string]Handler{"POST /x": func(w http.ResponseWriter, r *http.Request) error { return ParseForm(w, r, 1<<20) }})
		now := time.Now()
		const fresh, recent, old = 1, 10_000, 20_000 // and the numbers that follow
		site.Since = func(_ context.Context, token string) time.Time {
			var who int
			_, _ = fmt.Sscanf(token, "%x", &who)
			switch {
			case who >= old:
				return now.Add(-48 * time.Hour)
			case who >= recent:
				return now.Add(-time.Hour)
			}
			return time.Time{}
		}
		listener := make(pipes)
		stop := listener.serve(t, h)
		var conns []net.Conn
		send := func(who int, whole bool) <-chan string {
			conn, _ := listener.dial(t.Context(), "", "")
			conns = append(conns, conn)
			answer := make(chan string, 1)
			go func() {
				all, _ := io.ReadAll(conn)
				answer <- string(all)
			}()
			go func() {
				_, _ = fmt.Fprintf(conn, "POST /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer %032x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 4\r\n\r\na=", who)
				if whole {
					_, _ = io.WriteString(conn, "12")
				}
			}()
			synctest.Wait()
			return answer
		}
		slow := lists.Make(bodiesOfAddress, func(i int) <-chan string { return send(fresh+i, false) })
		expect := func(what string, answer <-chan string, want string) { // "" means no answer yet
			t.Helper()
			var got string
			select {
			case got = <-answer:
			default:
			}
			require.Check(t, (want == "") == (got == "") && strings.Contains(got, want),
				"%s is answered %.300q, want %q", what, got, want)
		}
		expect("one more new workspace", send(5000, true), "under way")
		for i := range 3 {
			expect("a workspace that holds something", send(old+i, true), "200 OK")
		}
		expect("the first to give way", slow[0], "give way")
		for i := 1; i < bodiesOfAddress; i++ { // those who paid for it fill the address
			send(recent+i, false)
		}
		last := send(recent+bodiesOfAddress, false)
		expect("one more", send(recent+5000, true), "under way")
		expect("an older one", send(old+5, true), "200 OK")
		expect("one that is on its way", last, "")
		time.Sleep(grace + time.Second)
		synctest.Wait()
		expect("one that came to a halt", last, "408")
		expect("a new workspace after that", send(5001, true), "200 OK")
		for _, c := range conns {
			c.Close()
		}
		stop()
	})
}
