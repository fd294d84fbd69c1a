package handlers_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
)

// TestBytesWritten does what a class does in a lecture and counts what goes to the disk for it: with
// what the log of the database takes, less than five times what the database holds afterwards. It is
// not parallel, because the system counts for the whole process.
func TestBytesWritten(t *testing.T) {
	s := handlerstest.Serve(t, true)
	teacher := s.Browse(t, handlerstest.Teacher)
	code := teacher.Course("/lab?data=moons", "")
	r := rand.New(rand.NewPCG(1, 2))
	clients := make([]*handlerstest.Client, 12)
	ids := make([]string, len(clients))
	start, size := written(t), held(t, s)
	before := start
	phase := func(what string) {
		now, grown := written(t), held(t, s)
		t.Logf("%-12s %5d kB written for %5d kB", what, (now-before)>>10, (grown-size)>>10)
		before, size = now, grown
	}
	for i := range clients {
		clients[i] = s.As(t, fmt.Sprintf("%032x", 77+i))
		ids[i] = clients[i].Upload("name=a.csv", numbers(r, 500, 6)).ID
	}
	phase("uploads")
	for i, c := range clients {
		for k := range 5 {
			c.Follow(c.Train(fmt.Sprintf(`{"dataset":%q,"spec":{"C":%d,"test_fraction":0.3}}`, ids[i], k+1)))
		}
	}
	phase("runs")
	for i, c := range clients {
		c.Follow(c.Train(fmt.Sprintf(`{"dataset":"moons","spec":{"C":%d}}`, i+1)))
	}
	phase("tiny runs")
	for i, c := range clients {
		c.Follow(c.Train(fmt.Sprintf(`{"dataset":%q,"spec":{"C":%d,"test_fraction":0.3}}`, []string{"breast-cancer", "digits"}[i%2], i+1)))
	}
	phase("larger runs")
	for i, c := range clients {
		a := c.Want(202, "POST", "/api/searches", fmt.Sprintf(`{"dataset":%q,"spec":{},"grid":{"C":[0.1,1,10,100],"gamma":[0.1,1,10]},"folds":5}`, ids[i]))
		id := handlerstest.Decode[struct{ ID string }](a).ID
		c.Want(200, "GET", "/api/searches/"+id+"?wait=60", "")
	}
	phase("searches")
	for i := range clients {
		student := s.Browse(t, fmt.Sprintf("%032x", 77+i))
		form := url.Values{"data": {"moons"}, "course": {code}, "learner": {"svm"}, "kernel": {"rbf"}, "C": {fmt.Sprint(i + 2)}, "who": {fmt.Sprint("Student ", i)}}
		student.Want(200, "POST", "/course/"+code+"/handins", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	}
	teacher.Settle()
	phase("hand-ins")
	all, holds := written(t)-start, held(t, s)
	require.Check(t, all <= 5*holds, "%d kB written for a database of %d kB", all>>10, holds>>10)
}

// numbers is a file of two classes, one normal around 1 and one around 0.
func numbers(r *rand.Rand, rows, features int) string {
	var b strings.Builder
	for i := range rows {
		for range features {
			fmt.Fprintf(&b, "%.4f,", r.NormFloat64()+float64(i%2))
		}
		fmt.Fprintf(&b, "%d\n", i%2)
	}
	return b.String()
}

// held returns how large the database is.
func held(t *testing.T, s *handlerstest.Server) int64 {
	t.Helper()
	space := require.Value(s.App.Store.Space(t.Context()))(t)
	return space.Database - space.Reusable
}

// written returns how many bytes this process has caused to be written to disks so far.
func written(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip(err)
	}
	var n int64
	_, after, _ := strings.Cut(string(text), "\nwrite_bytes: ")
	if _, err := fmt.Sscan(after, &n); err != nil || n == 0 {
		t.Skip("the system does not count what is written: ", err)
	}
	return n
}
