package runs_test

import (
	"net/http"
	"strings"
	"testing"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// Lists show strings and graphs themselves: the list of runs some of them, the table of points each
// graph.
func TestObjectsAreDrawn(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	c, p := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	for data, kernel := range map[string]string{"dna": "spectrum", "molecules": "wl"} {
		id := handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/runs", `{"dataset":"`+data+`","spec":{"kernel":"`+kernel+`"}}`)).ID
		c.App.Jobs.Wait(t.Context(), 1e12, id)
		thumb := p.Page(200, "/runs").Find(`.thumb img[src*="`+id+`"]`).AttrOr("src", "")
		require.Check(t, strings.HasPrefix(thumb, "/runs/"+id+"/figures/objects.svg?"),
			"%s: the list shows %q", data, thumb)
		drawn := p.Page(200, "/runs/"+id).Find(".points td.drawn img")
		want := data == "molecules"
		require.Check(t, (drawn.Length() > 0) == want, "%s: the table of points has %d drawings", data, drawn.Length())
		pictures := []string{thumb}
		if drawn.Length() > 0 {
			pictures = append(pictures, drawn.First().AttrOr("src", ""), p.Page(200, "/lab?data="+data+"&kernel="+kernel+"&wait=1").Find(".points td.drawn img").First().AttrOr("src", ""))
		}
		var bodies []string
		for _, src := range pictures {
			a := p.Fetch("GET", src, "")
			require.Check(t, a.Status == 200 && strings.Contains(string(a.Body), "<svg"),
				"%s: %q: %d", data, src, a.Status)
			bodies = append(bodies, string(a.Body))
		}
		require.Check(t, len(bodies) <= 1 || bodies[0] != bodies[1], "%s: a row shows what the list does", data)
	}
}
