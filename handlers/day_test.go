package handlers_test

import (
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/store"
)

// TestDay goes through two days of a course, hour by hour: people upload, ask for runs, hand in
// and delete. In the morning something else fills the disk, in the evening the clock jumps 500 days ahead for an
// hour, in which one of them looks in. Nothing that was confirmed is missing at the end.
func TestDay(t *testing.T) {
	t.Parallel()
	const people, hours, disk, retention = 6, 48, 100 << 30, 400 * 24 * time.Hour
	s := handlerstest.Serve(t, false)
	st := s.App.Store
	begin := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	var ahead, free atomic.Int64
	st.Now = func() time.Time { return begin.Add(time.Duration(ahead.Load())) }
	st.Disk = func() (int64, int64, error) { return free.Load(), disk, nil }
	free.Store(disk / 2)
	code := s.Browse(t, handlerstest.Teacher).Course("/lab?data=moons&C=10", "")

	sets := make([]map[string]bool, people) // confirmed and not deleted
	runs := make([]int, people)
	token := func(i int) string { return fmt.Sprintf("%032x", i+1) }
	maintain := func(trusted bool) {
		t.Helper()
		require.Equal(t, require.Err(st.Tend(t.Context())), nil, "tending")
		if err := st.TrustClock(t.Context()); (err == nil) != trusted {
			t.Errorf("at %v the clock is trusted: %v", st.Now(), err)
		} else if err == nil {
			_, err := st.Forget(t.Context(), st.Now().Add(-store.UndoFor))
			require.Check(t, err == nil, "%v", err)
		}
		marked, err := st.Expire(t.Context(), st.Now().Add(-retention), false)
		require.Check(t, marked <= 0 && trusted == (err == nil), "at %v %d workspaces are marked, %v", st.Now(), marked, err)
		n, err := st.Sweep(t.Context())
		require.Check(t, n <= 0 && err == nil, "at %v %d workspaces are deleted, %v", st.Now(), n, err)
	}
	for hour := range hours {
		ahead.Store(int64(time.Duration(hour) * time.Hour))
		low := hour%24 >= 8 && hour%24 < 11
		free.Store(disk / 2)
		if low {
			free.Store(100 << 20)
		}
		for i := range people {
			if sets[i] == nil {
				sets[i] = map[string]bool{}
			}
			c := s.As(t, token(i))
			switch a := c.Do("POST", fmt.Sprintf("/api/datasets?name=%d.csv", hour), twoPoints); {
			case low && a.Status != http.StatusInsufficientStorage, !low && a.Status != http.StatusCreated:
				t.Fatalf("hour %d, upload: %d %s", hour, a.Status, a.Body)
			case !low:
				sets[i][handlerstest.Decode[struct{ ID string }](a).ID] = true
			}
			if hour%2 == 0 {
				switch a := c.Do("POST", "/api/runs", `{"dataset":"moons","spec":{"C":`+fmt.Sprint(hour+1)+`}}`); {
				case low && a.Status != http.StatusInsufficientStorage, !low && a.Status != http.StatusAccepted:
					t.Fatalf("hour %d, run: %d %s", hour, a.Status, a.Body)
				case !low:
					runs[i]++
				}
			}
			if (hour+i)%4 == 0 {
				form := url.Values{"data": {"moons"}, "course": {code}, "learner": {"svm"}, "C": {fmt.Sprint(hour + 1)}, "who": {fmt.Sprint("student ", i)}}
				s.Browse(t, token(i)).Send(http.StatusOK, "/course/"+code+"/handins", form.Encode())
				runs[i]++
			}
			if (hour+i)%3 == 0 {
				for id := range sets[i] { // any
					c.Want(http.StatusNoContent, "DELETE", "/api/datasets/"+id, "")
					delete(sets[i], id)
					break
				}
			}
		}
		all := s.As(t, token(0))
		all.Want(http.StatusOK, "GET", "/healthz", "")
		all.Want(map[bool]int{false: http.StatusOK, true: http.StatusInsufficientStorage}[low], "GET", "/readyz", "")
		maintain(true)
		if hour%24 == 20 {
			ahead.Add(int64(500 * 24 * time.Hour))
			maintain(false)
		}
		if hour == hours-1 {
			ahead.Add(int64(500 * 24 * time.Hour))
			maintain(false)
			all.Want(http.StatusOK, "GET", "/datasets", "")
			marked, err := st.Expire(t.Context(), st.Now().Add(-retention), false)
			require.Check(t, marked <= 0 && err != nil, "one looked in, and %d of the others are marked, %v", marked, err)
			ahead.Store(int64(time.Duration(hour) * time.Hour))
		}
	}
	for i := range people {
		for _, set := range require.Value(st.Datasets(t.Context(), store.WorkspaceOf(token(i))))(t) {
			delete(sets[i], set.ID)
		}
		require.Check(t, len(sets[i]) == 0, "person %d: %d data sets are missing", i, len(sets[i]))
		_, n, err := st.Runs(t.Context(), store.WorkspaceOf(token(i)), store.Filter{Limit: 1})
		require.Check(t, err == nil && n == runs[i], "person %d: %d runs of %d, %v", i, n, runs[i], err)
	}
	course := require.Value(st.Course(t.Context(), code))(t)
	if _, n, err := st.Runs(t.Context(), course.Gallery(), store.Filter{Limit: 1}); err != nil || n != people { // the last of each
		t.Errorf("%d hand-ins of %d people, %v", n, people, err)
	}
	damage, _, err := store.Check(t.Context(), st.Path())
	require.Check(t, err == nil && len(damage) == 0, "%v, %v", damage, err)
}
