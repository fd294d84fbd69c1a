package lab_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// TestGeneratedInTheLab: points are made by the controls of the lab, the address says all of
// it, and everybody who opens it gets the same points.
func TestGeneratedInTheLab(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	c, other := s.Browse(t, handlerstest.Alice), s.Browse(t, handlerstest.Bob)
	lab := func(c *handlerstest.Client, query string) *goquery.Document {
		t.Helper()
		return c.Page(200, "/lab?"+query)
	}
	doc := lab(c, "data=new-moons&gen.n=40&gen.noise=0,5&gen.seed=3&C=7")
	const id = "new-moons,n=40,noise=0.5,seed=3"
	require.Check(t, doc.Find("[data-fold=data][open] [name='gen.n']").Length() == 1,
		"the controls of the generator are folded")
	require.Check(t, lab(c, "data=moons").Find("[data-fold=data][open]").Length() == 0,
		"the fold of a data set is open")
	require.Equal(t, doc.Find("select[name=data] option[selected]").AttrOr("value", ""), id, "the data")
	require.Equal(t, doc.Find("input[name='gen.n']").AttrOr("value", ""), "40", "n")
	require.Equal(t, doc.Find("h1").Text(), "moons, 40 points, noise=0.5, seed=3", "they are called")
	src := doc.Find(".stage img").AttrOr("src", "")
	require.Check(t, src != "" && src == lab(other, "data="+id+"&C=7").Find(".stage img").AttrOr("src", ""),
		"the same address shows another picture to others")
	require.Check(t, src != lab(c, "data="+id+"&gen.seed=4&C=7").Find(".stage img").AttrOr("src", ""),
		"another seed makes the same points")
	run := c.Send(200, "/runs", "data="+id+"&gen.n=50&test_fraction=0").HTML()
	h := run.Find("h1").Text()
	require.Check(t, strings.HasSuffix(h, " · moons, 50 points, noise=0.5, seed=3"), "the run is called %q", h)
	set := handlerstest.Decode[api.Run](s.As(t, handlerstest.Alice).Want(http.StatusAccepted, "POST", "/api/runs", `{"dataset":"`+id+`"}`))
	require.Check(t, set.ID != "", "no run under /api")

	// Errors stand beside their controls.
	for query, field := range map[string]string{"data=new-moons&gen.n=1": "gen.n", "data=new-moons&gen.noise=much": "gen.noise", "data=new-dna&gen.length=5": "gen.length"} {
		said := lab(c, query).Find("[data-error-of='" + field + "']").Text()
		require.Check(t, said != "", "%s: nothing is said of %s", query, field)
	}
	c.Page(422, "/lab?data=new-things")

	// A course that fixes the data fixes what they are made of.
	code := c.Course("/lab?data="+id, "control.data=frozen")
	got := lab(other, "course="+code+"&gen.n=99").Find("h1").Text()
	require.Check(t, got == "moons, 40 points, noise=0.5, seed=3", "under the course the data are %q", got)
}
