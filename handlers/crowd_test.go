package handlers_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"marginlab/handlers/handlerstest"
	"marginlab/handlers/limiter"
	"marginlab/ml/mltest/require"
	"marginlab/store"
)

// Visitors who drag a slider at the same time, two of whom ask for much, all get a picture
// for every question, though one is served at a time. TestDraggers and TestNeighbours say
// how soon.
func TestFewDraggers(t *testing.T) {
	t.Parallel()
	const visitors, questions = 6, 4
	s := handlerstest.Serve(t, false)
	s.App.Answers = limiter.New(1)
	var all sync.WaitGroup
	for i := range visitors {
		all.Go(func() {
			for k := range questions {
				form := url.Values{"data": {"moons"}, "coarse": {strconv.Itoa(k % 3)}, "stage": {"720"}, "C": {fmt.Sprint(1 + i + visitors*k)}}
				if i < 2 {
					form.Set("learner", "mcm")
					form.Set("conformal", "eigen")
				}
				_, err := picture(t.Context(), http.DefaultClient, s.URL+"/lab/live", fmt.Sprintf("%032x", i+1), form)
				require.Check(t, err == nil, "%v", err)
			}
		})
	}
	all.Wait()
}

// Students who hand in at the same time, half of them once more, are all taken once.
// TestHandinRush says how soon.
func TestFewHandins(t *testing.T) {
	t.Parallel()
	const students = 10
	s := handlerstest.Serve(t, true)
	code := s.Browse(t, handlerstest.Teacher).Course("/lab?data=moons&C=10", "")
	handInAtOnce(t, s, code, students, func(int) {}, func(time.Duration) {})
	everythingOnce(t, s, code, students)
}

// picture asks once and tells whether a picture came.
func picture(ctx context.Context, client *http.Client, to, token string, form url.Values) (bool, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+token)
	a, err := client.Do(r)
	if err != nil {
		return false, err
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err == nil && (a.StatusCode != http.StatusOK || !strings.Contains(string(body), "data:image")) {
		err = fmt.Errorf("%s %.200s", a.Status, body)
	}
	return err == nil, err
}

// hurried is a client for n people at once, which follows no redirects.
func hurried(t *testing.T, n int) *http.Client {
	t.Helper()
	client := &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: n},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// asks sends a request of a person, who has a workspace of their own. An error fails the test, and has
// the status 0.
func asks(
	t *testing.T, client *http.Client, person int, method, to, kind string, body io.Reader,
) (a handlerstest.Answer) {
	r, err := http.NewRequestWithContext(t.Context(), method, to, body)
	require.Check(t, err == nil, "%v", err)
	if err != nil {
		return a
	}
	r.Header.Set("Authorization", fmt.Sprintf("Bearer %032x", person+1))
	r.Header.Set("Content-Type", kind)
	resp, err := client.Do(r)
	require.Check(t, err == nil, "%v", err)
	if err != nil {
		return a
	}
	defer resp.Body.Close()
	a.Status, a.Header = resp.StatusCode, resp.Header
	a.Body, err = io.ReadAll(resp.Body)
	require.Check(t, err == nil, "%s: %v", to, err)
	return a
}

// handInAtOnce lets so many students hand in each a run of his own when his turn has come,
// and every other one once more, because the answer was slow to come. It says how long each
// answer took.
func handInAtOnce(t *testing.T, s *handlerstest.Server, code string, students int, turn func(student int), answered func(took time.Duration)) {
	t.Helper()
	client := hurried(t, students)
	handIn := func(student int) (to string) {
		form := url.Values{
			"data": {"moons"}, "course": {code}, "learner": {"mcm"}, "conformal": {"eigen"}, "kernel": {"rbf"}, "C": {strconv.Itoa(student + 1)},
			"who": {fmt.Sprint("student ", student)}, "request": {fmt.Sprint("page ", student)},
		}
		begin := time.Now()
		address := s.URL + "/course/" + code + "/handins"
		a := asks(t, client, student, http.MethodPost, address, urlencoded, strings.NewReader(form.Encode()))
		answered(time.Since(begin))
		require.Check(t, a.Status == http.StatusSeeOther, "student %d: %d %.200s", student, a.Status, a.Body)
		return a.Header.Get("Location")
	}
	var all sync.WaitGroup
	for i := range students {
		all.Go(func() {
			turn(i)
			first := handIn(i)
			require.Check(t, i%2 != 0 || handIn(i) == first,
				"student %d is sent elsewhere when the request is repeated", i)
		})
	}
	all.Wait()
}

// everythingOnce waits until all that handInAtOnce handed in is trained, and checks that it
// is there once, in the course and with the students.
func everythingOnce(t *testing.T, s *handlerstest.Server, code string, students int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	runs, _, err := s.App.Store.Runs(ctx, require.Value(s.App.Store.Course(ctx, code))(t).Gallery(), store.Filter{})
	require.NoError(t, err)
	var ids []string
	different := map[string]bool{}
	for _, r := range runs {
		ids = append(ids, r.ID)
		different[r.Spec.Text("C")] = true
	}
	own := 0
	for i := range students {
		_, n, err := s.App.Store.Runs(ctx, store.WorkspaceOf(fmt.Sprintf("%032x", i+1)), store.Filter{Limit: 1})
		require.NoError(t, err)
		own += n
	}
	s.App.Jobs.Wait(ctx, time.Minute, ids...)
	require.Check(t, ctx.Err() == nil, "not all were trained within a minute")
	require.Check(t, own == students && len(runs) == students && len(different) == students,
		"%d own runs, %d handed in, %d different, of %d students", own, len(runs), len(different), students)
}

func TestPollAtOnce(t *testing.T) {
	t.Parallel()
	const students = 24
	s := handlerstest.Serve(t, false)
	code := s.Browse(t, handlerstest.Teacher).Course("/lessons/margins", "")
	s.Browse(t, handlerstest.Teacher).Ask(code, handlerstest.Optioned)
	require.Equal(t, rush(t, s, code, students, func(int) {}, func(time.Time) {}), 0, "answers were refused")
	tally, err := s.App.Store.Tally(t.Context(), code, require.Value(s.App.Store.CurrentPoll(t.Context(), code))(t).ID)
	require.Check(t, err == nil && tally.Total(1) == students && tally.Rounds[0]["0"] == students/2,
		"%+v, %v", tally, err)
}

// TestUploadsAtOnce is the small form of TestTwentyUploads, see load_test.go: there is room for
// two files at a time, each has its turn, and no temporary file is left.
func TestUploadsAtOnce(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s := handlerstest.Serve(t, false)
	s.App.Budget = semaphore.NewWeighted(8 << 20)
	uploadAtOnce(t, s, 4, digitsFile(3000, 100))
	s.Close()
	left, err := os.ReadDir(temp)
	require.Check(t, err == nil && len(left) == 0, "%v are left (%v)", left, err)
}

// TestEndUnderUploads is the small form of TestGracefulEnd, see load_test.go: a server ends
// although files are still on their way, and keeps none of them by half.
func TestEndUnderUploads(t *testing.T) { endUnderUploads(t, 4, digitsFile(3000, 100)) }
