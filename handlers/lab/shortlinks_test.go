package lab_test

import (
	"net/http"
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// TestShortLinks keeps edited points under a link: everybody who opens it finds the same points and
// settings in the lab, until it is deleted.
func TestShortLinks(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	c, other := s.Browse(t, handlerstest.Alice), s.Browse(t, handlerstest.Bob)
	const points = "x1,x2,label\n0,0,a\n1,1,a\n4,4,b\n5,6,b\n9,1,b\n"
	page := c.Send(http.StatusOK, "/links", "data=moons&C=7&points="+strings.NewReplacer(",", "%2C", "\n", "%0A").Replace(points)).HTML()
	address := page.Find(".share").AttrOr("value", "")
	require.Must(t, strings.HasPrefix(address, c.URL+"/l/"), "the link is %q", address)
	link := strings.TrimPrefix(address, c.URL)
	lab := other.Page(http.StatusOK, link)
	require.Equal(t, lab.Find("input[name=C]").AttrOr("value", ""), "7", "C")
	data := lab.Find("select[name=data] option[selected]").AttrOr("value", "")
	require.Equal(t, data, "link-"+strings.TrimPrefix(link, "/l/"), "the data")
	c.Page(http.StatusOK, "/lab/figures/boundary.svg?data="+data+"&C=7")
	run := other.Send(http.StatusOK, "/runs", "data="+data+"&C=7&test_fraction=0&name=mine").HTML()
	require.Check(t, strings.Contains(run.Text(), "5"), "a run of another cannot be made of the points")

	require.Check(t, c.Page(http.StatusOK, "/links").Find(".links > li").Length() == 1, "the link is not listed")
	require.Check(t, other.Page(http.StatusOK, "/links").Find(".links > li").Length() == 0, "it is listed for another")
	other.Send(http.StatusNotFound, "/links/"+strings.TrimPrefix(link, "/l/")+"/delete", "")
	c.Send(http.StatusOK, "/links/"+strings.TrimPrefix(link, "/l/")+"/delete", "")
	other.Page(http.StatusNotFound, link)
	other.Page(http.StatusNotFound, "/lab?data="+data)
}

// TestLinksForPrograms: the same over JSON.
func TestLinksForPrograms(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	c := s.As(t, handlerstest.Alice)
	set := c.Upload("name=p", "x,y,label\n0,0,a\n1,1,b\n")
	made := handlerstest.Decode[struct{ Token, URL, Title, Hash string }](c.Want(http.StatusCreated, "POST", "/api/links", `{"dataset":"`+set.ID+`","spec":{"C":3}}`))
	require.Check(t, made.Hash == set.Hash && strings.HasSuffix(made.URL, "/l/"+made.Token) && strings.HasSuffix(made.Title, " on p"),
		"%+v", made)
	list := handlerstest.Decode[struct{ Links []struct{ Token string } }](c.Want(http.StatusOK, "GET", "/api/links", ""))
	require.Check(t, len(list.Links) == 1 && list.Links[0].Token == made.Token, "%+v", list)
	c.Want(http.StatusNotFound, "POST", "/api/links", `{"dataset":"nothing"}`)
	c.Want(http.StatusNoContent, "DELETE", "/api/links/"+made.Token, "")
	c.Want(http.StatusNotFound, "DELETE", "/api/links/"+made.Token, "")
}
