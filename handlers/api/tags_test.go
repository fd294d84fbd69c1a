package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
)

// Of many changes of one state at the same time one is made, and the others are refused.
func TestChangesOfOneState(t *testing.T) {
	c := handlerstest.Fresh(t, false).As(t, handlerstest.Alice)
	set := c.Upload("name=square", handlerstest.Square).ID
	for _, at := range []struct{ path, method, body string }{
		{"/api/datasets/" + set, "PATCH", `{"name":"%d"}`},
		{"/api/datasets/" + set, "PUT", handlerstest.Square + "%d,1,no\n"},
		{"/api/runs/" + c.Train(`{"dataset":"moons"}`), "PATCH", `{"note":"%d"}`},
		{"/api/datasets/" + set, "DELETE", ""},
		{"/api/runs/" + c.Train(`{"dataset":"moons"}`), "DELETE", ""},
	} {
		tag := c.Want(200, "GET", at.path, "").Header.Get("ETag")
		const writers = 8
		answers := make([]handlerstest.Answer, writers)
		var group sync.WaitGroup
		for i := range writers {
			group.Go(func() {
				body := at.body
				if body != "" {
					body = fmt.Sprintf(body, i)
				}
				answers[i] = c.Do(at.method, at.path, body, "If-Match", tag)
			})
		}
		group.Wait()
		made, refused := 0, 0
		for _, a := range answers {
			switch a.Status {
			case http.StatusOK, http.StatusNoContent:
				made++
			case http.StatusPreconditionFailed, http.StatusNotFound: // which it is after a deletion
				refused++
			default:
				t.Errorf("%s: %d %s", at.method, a.Status, a.Body)
			}
		}
		require.Check(t, made == 1 && refused == writers-1,
			"%s %s: %d made, %d refused", at.method, at.path, made, refused)
	}
}

// The page of the description has every operation, with code, and needs no key.
func TestDocs(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	page := string(s.As(t, "").Want(200, "GET", "/api/docs", "").Body)
	for path, item := range s.As(t, handlerstest.Alice).Doc["paths"].(handlerstest.Object) {
		for method, operation := range item.(handlerstest.Object) {
			operation, ok := operation.(handlerstest.Object)
			require.Check(t, !ok || strings.Contains(page, `id="`+operation["operationId"].(string)+`"`),
				"no %s %s", method, path)
		}
	}
	require.SaysAll(t, page, []string{`id="not-found"`, "curl -H", "lab.post(&#34;/api/runs&#34;, {&#34;dataset&#34;: &#34;"}, "no")
}
