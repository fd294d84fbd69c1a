//go:build load

package handlers_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"marginlab/handlers"
	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/mltest/require"
	"marginlab/store"
	"marginlab/web/jobs"
)

// TestStarvation fills the queue from 45 throwaway workspaces with runs that each take many
// minutes, on two workers. A short run of a new workspace and a hand-in, both from the same
// address, then end within five seconds. Use an idle machine:
//
//	go test -tags load -run TestStarvation -v ./handlers
func TestStarvation(t *testing.T) {
	const strangers, each, rows, within = 45, 50, 12_000, 5 * time.Second
	s := handlerstest.ServeWith(t, true, handlers.Config{Patience: time.Second}, jobs.Config{Train: ml.Train, Turn: time.Second})
	code := s.Browse(t, handlerstest.Teacher).Course("/lab?data=moons&C=10", "")

	var file strings.Builder
	file.WriteString("a,b,c,d,e,label\n")
	r := rand.New(rand.NewPCG(1, 1))
	for range rows {
		for range 5 {
			fmt.Fprintf(&file, "%.5f,", r.NormFloat64())
		}
		fmt.Fprintln(&file, string("pq"[r.IntN(2)]))
	}
	queued, refused := 0, 0
	for i := range strangers {
		c := s.As(t, fmt.Sprintf("%032x", 1000+i))
		set := c.Upload("name=noise", file.String()).ID
		for range each {
			a := c.Do("POST", "/api/runs", `{"dataset":"`+set+`","spec":{"learner":"mcm","C":1000}}`)
			switch a.Status {
			case http.StatusAccepted:
				queued++
			case http.StatusServiceUnavailable, http.StatusTooManyRequests:
				refused++
			default:
				t.Fatalf("%d %s", a.Status, a.Body)
			}
		}
	}
	time.Sleep(3 * time.Second) // the strangers' runs are under way

	ended := func(ws store.Workspace, id string) time.Duration {
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 6*within)
		defer cancel()
		s.App.Jobs.Wait(ctx, 6*within, id)
		if r, err := s.App.Store.Run(t.Context(), ws, id); err != nil || r.Status != store.Done {
			t.Errorf("after %v: %s, %v", time.Since(begin).Round(time.Millisecond), r.Status, err)
		}
		return time.Since(begin)
	}
	var fresh [16]byte
	for i := range fresh {
		fresh[i] = byte(r.IntN(256))
	}
	token := hex.EncodeToString(fresh[:])
	var took [3]time.Duration
	for i := range took {
		a := s.As(t, token).Do("POST", "/api/runs", `{"dataset":"moons","spec":{"learner":"mcm","conformal":"eigen"}}`)
		if a.Status != http.StatusAccepted {
			t.Errorf("a newcomer's run: %d %s", a.Status, a.Body)
			continue
		}
		took[i] = ended(store.WorkspaceOf(token), handlerstest.Decode[struct{ ID string }](a).ID)
	}
	var handin time.Duration
	student := s.Browse(t, token)
	form := url.Values{"data": {"moons"}, "course": {code}, "learner": {"mcm"}, "kernel": {"rbf"}, "C": {"3"}, "who": {"Ada"}}
	begin := time.Now()
	student.Want(200, "POST", "/course/"+code+"/handins", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	course := require.Value(s.App.Store.Course(t.Context(), code))(t)
	runs, _, err := s.App.Store.Runs(t.Context(), course.Gallery(), store.Filter{})
	require.Must(t, err == nil && len(runs) == 1, "%v %v", len(runs), err)
	ended(course.Gallery(), runs[0].ID)
	handin = time.Since(begin)

	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("%d runs queued, %d refused; a newcomer's short runs took %v, the hand-in %v; %d MB at most; load %s", queued, refused, took, handin, peakMemory(t)>>20, load)
	for _, took := range append(took[:], handin) {
		require.Check(t, took <= within, "it took %v", took)
	}
}

// TestHeavyMemory lets eight workspaces of four addresses train what takes the most memory, for
// two minutes, where a service may take 2 GB, as in the manual. It stays below.
//
//	go test -tags load -run TestHeavyMemory -v ./handlers
func TestHeavyMemory(t *testing.T) {
	const most, lasting = 2 << 30, 2 * time.Minute
	before := debug.SetMemoryLimit(most / 10 * 9)
	defer debug.SetMemoryLimit(before)
	s := handlerstest.ServeWith(t, true, handlers.Config{Patience: time.Second}, jobs.Config{Train: ml.Train, Turn: time.Second, Workers: 2, Memory: jobs.MemoryWithin(most / 10 * 9)})
	networks := map[store.Workspace]string{}
	s.App.Store.Network = func(ws store.Workspace) string { return networks[ws] }
	r := rand.New(rand.NewPCG(1, 1))
	noise := func(rows int) string {
		var file strings.Builder
		file.WriteString("a,b,label\n")
		for range rows {
			fmt.Fprintf(&file, "%.4f,%.4f,%c\n", r.NormFloat64(), r.NormFloat64(), "pq"[r.IntN(2)])
		}
		return file.String()
	}
	large := map[string]string{"ridge": noise(11_500), "mcm": noise(12_000), "svm": noise(12_000)}
	medium, light := noise(9000), noise(4900)
	for i := range 8 {
		token := fmt.Sprintf("%032x", 1000+i)
		networks[store.WorkspaceOf(token)] = fmt.Sprint("network ", i/2)
		c := s.As(t, token)
		for learner, file := range large {
			for _, file := range []string{file, medium, light} {
				if learner != "mcm" || file != medium { // which is heavy as well
					set := c.Upload("name=noise", file).ID
					c.Want(http.StatusAccepted, "POST", "/api/runs", `{"dataset":"`+set+`","spec":{"learner":"`+learner+`","C":1000}}`)
				}
			}
		}
	}
	end := time.Now().Add(lasting)
	for time.Now().Before(end) {
		time.Sleep(time.Second)
	}
	load, _ := os.ReadFile("/proc/loadavg")
	peak := peakMemory(t)
	t.Logf("%d MB at most; load %s", peak>>20, load)
	require.Check(t, peak <= most, "it took %d MB", peak>>20)
}
