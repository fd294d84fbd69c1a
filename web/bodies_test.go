package web

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Bodies that come slowly are bounded by number: one more of a workspace is refused, until the
// oldest has had its time and gives way. Others are served all the while, and a place is free
// again once its body has come.
func TestBodiesAtOnce(t *testing.T) {
	t.Parallel()
	const limit = 20 << 20
	for name, path := range map[string]string{"file": "/file", "form": "/form", "JSON": "/json"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, _, _ := newSite(map[string]Handler{
					"POST /form": func(w http.ResponseWriter, r *http.Request) error { return ParseForm(w, r, limit) },
					"POST /json": func(w http.ResponseWriter, r *http.Request) error { return ReadJSON(w, r, limit, new([]int)) },
					"POST /file": func(w http.ResponseWriter, r *http.Request) error {
						f, _, err := Spool(w, r, limit)
						if err == nil {
							err = f.Close()
						}
						return err
					},
				})
				listener := make(pipes)
				s := newServer(listener, slog.New(slog.DiscardHandler))
				ctx, stop := context.WithCancel(t.Context())
				served := make(chan error)
				go func() { served <- s.Serve(ctx, h) }()

				begin, rest := "[1,", "2]"
				if path == "/form" {
					begin, rest = "--xx\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n", "b\r\n--xx--\r\n"
				}
				var said [bodiesOfWorkspace + 2]string // what the slow ones were answered
				send := func(who, upTo int, to *string) (more io.Writer, end func()) {
					conn, _ := listener.dial(ctx, "", "")
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
				if !strings.Contains(early, "503") || !strings.Contains(early, "Retry-After: 10") || !strings.Contains(early, "on their way") {
					t.Errorf("one more is answered %q", early)
				}
				_, end = send(2, 0, &other)
				defer end()
				if !strings.Contains(other, "200 OK") {
					t.Errorf("somebody else is answered %q", other)
				}
				time.Sleep(steady)
				_, end = send(1, 0, &whole)
				defer end()
				if !strings.Contains(whole, "200 OK") {
					t.Errorf("a quick one is answered %q", whole)
				}
				if !strings.Contains(said[0], "503") || !strings.Contains(said[0], "Retry-After: 60") || !strings.Contains(said[0], "give way") {
					t.Errorf("the oldest is answered %q", said[0])
				}
				go func() { _, _ = io.WriteString(first, rest) }()
				synctest.Wait()
				if !strings.Contains(said[1], "200 OK") {
					t.Errorf("the next oldest, which came to its end, is answered %q", said[1])
				}
				for i := range 2 { // their places are free, and no other gives way
					_, end := send(1, len(rest), &said[bodiesOfWorkspace+i])
					defer end()
				}
				for i, a := range said[2:] {
					if a != "" {
						t.Errorf("%d is answered %q", i+2, a)
					}
				}
				stop()
				<-served
			})
		})
	}
}
