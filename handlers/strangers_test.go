package handlers_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/store"
)

const twoPoints = "x,y,c\n1,2,a\n3,4,b\n"

// wantLater checks an answer that asks to try again later, and says when.
func wantLater(t *testing.T, a handlerstest.Answer, words string) {
	t.Helper()
	if after, err := strconv.Atoi(a.Header.Get("Retry-After")); a.Status != http.StatusTooManyRequests || err != nil || after < 1 || after > 10 || !strings.Contains(string(a.Body), words) {
		t.Errorf("%d, Retry-After %q: %s", a.Status, a.Header.Get("Retry-After"), a.Body)
	}
}

// A class behind one address begins as many workspaces, with some to spare. One more is refused
// until later, by whatever it would begin, and can still look around; workspaces that hold
// something, or did, go on.
func TestNewWorkspacesByAddress(t *testing.T) {
	t.Parallel()
	const class = 200
	s := handlerstest.Serve(t, false)
	known := s.As(t, handlerstest.Alice)
	set := known.Upload("name=a.csv", twoPoints).ID
	code := s.Browse(t, handlerstest.Alice).Course("/lab?data=moons&C=10", "")
	for i := range class {
		s.As(t, fmt.Sprintf("%032x", i+1)).Upload("name=a.csv", twoPoints)
	}
	begun := class + 1
	spend := func() { // all that may begin by now: a slow test sees more come
		for ws := store.WorkspaceOf(handlerstest.Alice); s.App.Store.Newcomer(ws) == nil; {
			begun++
		}
	}
	spend()
	require.Check(t, begun >= 2*class && begun <= 5*class, "%d workspaces began", begun)
	key := class
	refused := func(ask func(key string) handlerstest.Answer, words string) { // one more may begin every six seconds, also between spend and ask
		t.Helper()
		var a handlerstest.Answer
		for again := 0; again < 20 && a.Status != http.StatusTooManyRequests; again++ {
			spend()
			key++
			a = ask(fmt.Sprintf("%032x", key))
		}
		wantLater(t, a, words)
	}
	for path, body := range map[string]string{"/api/datasets?name=a.csv": twoPoints, "/api/runs": `{"dataset":"moons"}`, "/api/searches": `{"dataset":"moons","grid":{"C":[1,2]}}`} {
		refused(func(key string) handlerstest.Answer { return s.As(t, key).Do("POST", path, body) }, "new workspaces")
	}
	refused(func(key string) handlerstest.Answer {
		return s.Browse(t, key).Do("POST", "/runs", "data=moons&C=1", "Content-Type", "application/x-www-form-urlencoded")
	}, "go back and send it again")
	s.As(t, handlerstest.Bob).Want(http.StatusOK, "GET", "/lab", "")
	s.Browse(t, handlerstest.Ben).Send(http.StatusOK, "/course/"+code+"/handins", "course="+code+"&data=moons&who=Ben") // what a course asks for is taken
	known.Upload("name=b.csv", twoPoints)
	known.Want(http.StatusNoContent, "DELETE", "/api/datasets/"+set, "")
	known.Upload("name=c.csv", twoPoints)
}

// A class that types the code of its course, some of it wrongly at first, is let in. Somebody
// who tries codes, each with a new key, is told to wait, also with a right one; who has
// entered stays in.
func TestWrongCourseCodes(t *testing.T) {
	t.Parallel()
	const class = 200
	s := handlerstest.Serve(t, false)
	code := s.Browse(t, handlerstest.Teacher).Course("/lab?data=moons&C=10", "")
	as := func(i int) *handlerstest.Client { return s.As(t, fmt.Sprintf("%032x", i+1)) }
	wrong := func(i int) string { // the right one with a letter changed
		letters := strings.ReplaceAll("BCDFGHJKLMNPQRSTVWXZ", code[i%6:i%6+1], "")
		return code[:i%6] + letters[i%19:i%19+1] + code[i%6+1:]
	}
	for i := range class {
		c := as(i)
		if i%3 == 0 {
			c.Want(http.StatusNotFound, "GET", "/course?code="+wrong(i), "")
			c.Want(http.StatusNotFound, "GET", "/course/hello", "") // which no code can be
		}
		c.Want(http.StatusOK, "GET", "/lab?course="+code, "")
	}
	doors := []string{"/course?code=%s", "/course/%s", "/lab?course=%s", "/lab?data=course-%s", "/api/course/%s/poll"}
	tried := 0
	tryAll := func() { // until they are refused
		for ; tried < 1000; tried++ {
			if a := as(class+tried).Do("GET", fmt.Sprintf(doors[tried%len(doors)], wrong(tried)), ""); a.Status == http.StatusTooManyRequests {
				wantLater(t, a, "wrong course codes")
				return
			}
		}
	}
	tryAll()
	require.Check(t, tried >= class/3 && tried != 1000, "%d wrong codes are looked up", tried)
	for i, door := range doors {
		var a handlerstest.Answer
		for again := 0; again < 20 && a.Status != http.StatusTooManyRequests; again++ { // after three seconds one is looked up
			tryAll()
			a = as(5000+20*i+again).Do("GET", fmt.Sprintf(door, code), "")
		}
		wantLater(t, a, "wrong course codes")
	}
	as(3).Want(http.StatusOK, "GET", "/lab?course="+code, "")
}
