//go:build load

package handlers_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"marginlab/handlers/handlerstest"
)

// slowSender sends the beginning of a file from a workspace of its own, then what more says, and
// returns when it is cut off or ctx ends.
func slowSender(ctx context.Context, s *handlerstest.Server, who int, more func(net.Conn) error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.Listener.Addr().String())
	if err != nil {
		return
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST /api/datasets?name=slow.csv HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %032x\r\nContent-Length: 8000000\r\n\r\nx,y,c\n1,", s.Listener.Addr(), 1<<20+who); err != nil {
		return
	}
	for more(conn) == nil {
	}
}

// read waits for the answer.
func read(conn net.Conn) error {
	_, err := conn.Read(make([]byte, 1))
	return err
}

// TestManySlowSenders lets 600 senders of one address come again whenever they are cut off, half of
// them at the least rate that is taken, while somebody who has worked there before uploads:
//
//	go test -tags load -run TestManySlowSenders -v ./handlers
func TestManySlowSenders(t *testing.T) {
	const senders, duration = 600, 25 * time.Second
	s := handlerstest.Serve(t, false)
	known := s.As(t, handlerstest.Alice)
	known.Upload("name=a.csv", twoPoints)
	ctx, stop := context.WithTimeout(t.Context(), duration)
	defer stop()
	var all sync.WaitGroup
	steady := func(conn net.Conn) error {
		time.Sleep(time.Second)
		_, err := conn.Write(make([]byte, 17<<10))
		return err
	}
	for i := range senders {
		all.Go(func() {
			for round := 0; ctx.Err() == nil; round++ {
				slowSender(ctx, s, i+senders*round, []func(net.Conn) error{read, steady}[i%2])
			}
		})
	}
	time.Sleep(2 * time.Second)
	var took []time.Duration
	fresh := map[int]int{}
	for i := 0; ctx.Err() == nil; i++ {
		begin := time.Now()
		known.Want(http.StatusCreated, "POST", "/api/datasets?name=b.csv", twoPoints)
		took = append(took, time.Since(begin))
		fresh[s.As(t, fmt.Sprintf("%032x", 1+i)).Do("POST", "/api/datasets?name=a.csv", twoPoints).Status]++
		time.Sleep(50 * time.Millisecond)
	}
	all.Wait()
	slices.Sort(took)
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("%d uploads of a known workspace: all taken, median %v, last %v; of new ones %v; load %s", len(took), took[len(took)/2], took[len(took)-1], fresh, load)
}
