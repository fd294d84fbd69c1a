package teach_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/views/lessons/all"
)

// A student who hands in under the course of a lesson begins with data on which the defaults leave
// room to win.
func TestTasksLeaveRoom(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	c, teacher := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Teacher)
	accuracy := map[string]float64{} // by task
	for _, l := range all.Lessons() {
		code := teacher.Course("/lessons/"+l.Slug, "")
		href, ok := teacher.Page(200, "/course/"+code).Find(`a:contains("Hand in from the lab")`).Attr("href")
		require.Must(t, ok && href == "/lab?course="+code+"&"+l.Task, "%s leads to %q", l.Slug, href)
		lab := teacher.Page(200, href)
		require.Check(t, lab.Find("main .problem").Length() == 0, "%s: %s", l.Slug, lab.Find("main .problem").Text())
		if _, done := accuracy[l.Task]; done {
			continue
		}
		q := require.Value(url.ParseQuery(l.Task))(t)
		kernel := q.Get("kernel")
		if kernel == "" {
			kernel = "rbf"
		}
		body := fmt.Sprintf(`{"dataset":%q,"spec":{"kernel":%q,"test_fraction":0.3}}`, q.Get("data"), kernel)
		run := handlerstest.Decode[struct {
			Report struct {
				Accuracy float64 `json:"test_accuracy"`
			}
		}](c.Want(http.StatusOK, "GET", "/api/runs/"+c.Train(body)+"?wait=60", ""))
		accuracy[l.Task] = run.Report.Accuracy
		require.Check(t, accuracy[l.Task] > 0 && accuracy[l.Task] < 0.97, "%s: the defaults have %g", l.Task, accuracy[l.Task])
	}
	t.Log(accuracy)
}
