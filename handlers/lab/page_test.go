package lab_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"gonum.org/v1/gonum/floats/scalar"

	"marginlab/handlers"
	"marginlab/handlers/handlerstest"
	"marginlab/handlers/pictures"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/web/jobs"
)

func TestScripts(t *testing.T) { handlerstest.Scripts(t) }

// answer asks for what the lab's script asks for.
func answer(c *handlerstest.Client, form string) (reply struct {
	HTML   string
	Live   bool
	Took   float64
	Errors map[string]string
	Query  string
}, doc *goquery.Document, size int,
) {
	c.T.Helper()
	a := c.Fetch("POST", "/lab/live", form)
	if err := json.Unmarshal(a.Body, &reply); err != nil || a.Status != 200 {
		c.T.Fatal(err, a.Status)
	}
	doc = require.Value(goquery.NewDocumentFromReader(strings.NewReader(reply.HTML)))(c.T)
	return reply, doc, len(a.Body)
}

// Large data are trained on while one looks, and the browser receives no more of them than it
// draws.
func TestLiveWithManyPoints(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Alice)
	data := c.Moons(t, 20000)
	for _, tc := range []struct {
		form         string
		most, points int
		drawn        string
	}{
		{"", 1_200_000, 5000, "Drawn: 5000 of 20000 points, all "},
		{"&coarse=1", 500_000, 0, "Drawn: 2000 of 20000 points, all "},
	} {
		reply, doc, size := answer(c, "stage=720&test_fraction=0.3&gamma=2&data="+data+tc.form)
		stage := require.JSON[struct{ Points, Rows []any }](t, doc.Find(".stage").AttrOr("data-stage", ""))
		caption := doc.Find(".caption").Text()
		require.Check(t, size <= tc.most && len(stage.Points) == tc.points && len(stage.Rows) == tc.points && strings.Contains(caption, tc.drawn),
			"%q: %d bytes, %d points: %s", tc.form, size, len(stage.Points), caption)
		require.Check(t, reply.Took > 0 && reply.Live && doc.Find(".problem").Length() == 0,
			"%q: trained for %g s, goes on live: %v, %s", tc.form, reply.Took, reply.Live, doc.Find(".problem").Text())
		legend := doc.Find(".headline div:nth-child(3) strong").Text()
		require.Says(t, caption, ", all "+legend+" support vectors.",
			"%q: the number says %s support vectors, the caption", tc.form, legend)
	}
}

// What takes longer than a page waits is offered as a run, beside a picture of the points,
// and is not asked for again while something moves.
func TestNotLiveWhereTrainingIsSlow(t *testing.T) {
	t.Parallel()
	s := handlerstest.ServeWith(t, false, handlers.Config{Patience: time.Second}, jobs.Config{})
	c := s.Browse(t, handlerstest.Alice)
	data := s.Moons(t, 4000)
	reply, doc, _ := answer(c, "gamma=2000&C=100000&learner=mcm&stage=720&data="+data)
	if said := doc.Find(".problem").Text(); !strings.Contains(said, "Save it as a run") || reply.Live == (reply.Took > 0.5) {
		t.Errorf("after %g s, live %v: %q", reply.Took, reply.Live, said)
	}
	require.Says(t, doc.Find(".caption").Text(), "4000 points", "the picture shows")

	// A page waits less, so that it is there, unless its button says otherwise.
	for wait, waits := range map[string]string{"": "true", "&wait=1": "false"} {
		page := c.Page(200, "/lab?gamma=2000&C=100000&learner=mcm&data="+data+wait)
		if got := page.Find("#lab").AttrOr("data-waits", ""); got != waits || (page.Find("#answer noscript").Length() > 0) != (waits == "true") {
			t.Errorf("%q: its script goes on to wait: %s", wait, got)
		}
		require.Says(t, page.Find(".problem").Text(), "Save it as a run", "%q", wait)
		if src := page.Find(".stage img").AttrOr("src", ""); !strings.HasPrefix(src, "/lab/figures/points.svg?") {
			t.Errorf("the picture of the points is %s", src)
		} else if a := c.Fetch("GET", src, ""); !bytes.Contains(a.Body, []byte("<svg")) {
			t.Errorf("%s: %.200s", src, a.Body)
		}
	}
}

// A point that cannot be read is quoted as far as one reads it.
func TestWrongPointIsQuotedInShort(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Alice)
	require.Says(t, string(c.Send(422, "/runs", "data=drawing&points=word").Body), "point 1: expected one or two numbers and a label, found “word”", "one word")
	page := c.Send(422, "/runs", "data=drawing&points="+strings.Repeat("1,", 1000)).Body
	said := require.Value(goquery.NewDocumentFromReader(bytes.NewReader(page)))(t).Find(".problem").Text()
	require.Check(t, strings.Contains(said, `point 1: expected one or two numbers and a label, found “1,1,`) && len(said) < 200, "%s", said)
}

// A printed page says what was trained, with the parameters as used.
func TestPrintedSettings(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Alice)
	for query, want := range map[string]string{
		"C=3":                                  "SVM, C 3, kernel rbf, γ 0.5",
		"C=3&kernel=combined&expression=rbf*2": "SVM, C 3, kernel combined, expression rbf*2",
	} {
		_, live, _ := answer(c, query)
		for _, doc := range []*goquery.Selection{c.Page(200, "/lab?"+query).Selection, live.Selection} {
			require.Equal(t, doc.Find(".set").Text(), want, "%s", query)
		}
		name := c.Page(200, "/lab?"+query).Find("#f-name")
		whole := name.AttrOr("title", "")
		require.Check(t, whole != "" && whole == name.AttrOr("placeholder", ""), "%s: the title of the name is %q", query, whole)
	}
}

// The first picture of more than two features shows a plane that meets the boundary, whatever
// is separated; the selects of the axes say what is shown; and no axis shows a constant.
func TestFirstPlaneMeetsTheBoundary(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Alice)
	var wide strings.Builder
	wide.WriteString("same,a,b,c,label\n")
	for i := range 60 {
		fmt.Fprintf(&wide, "3,%d,%d,%d,%d\n", i*i%17, i*7%23, i%2*20+i*3%11, i%2)
	}
	set := c.As(t, handlerstest.Alice).Upload("", wide.String()).ID
	queries := []string{"data=" + set, "data=" + set + "&on=pca", "data=" + set + "&features=a,b", "data=" + set + "&x=c", "data=" + set + "&x=pca&y=b"}
	for _, b := range dataset.Builtins {
		d := require.Value(b.Load())(t)
		if d.Kind() != dataset.KindVectors || len(d.Features) < 3 || d.Len() > 200 {
			continue
		}
		for _, positive := range append([]string{""}, d.Classes...) {
			for _, kernel := range []string{"rbf", "linear", "poly", "laplacian"} {
				queries = append(queries, "data="+b.Slug+"&positive="+positive+"&kernel="+kernel)
			}
		}
	}
	for _, q := range queries {
		doc := c.Page(200, "/lab?"+q)
		caption := doc.Find(".caption").Text()
		src, _ := doc.Find(".stage img").Attr("src")
		if svg := string(c.Fetch("GET", src, "").Body); strings.Contains(svg, "not in view") || !strings.Contains(svg, "f = 0") && !strings.Contains(svg, "boundary") {
			t.Errorf("%s: no boundary: %s", q, caption)
		}
		x, y := doc.Find("#f-x option[selected]").AttrOr("value", ""), doc.Find("#f-y option[selected]").AttrOr("value", "")
		shown := lists.Either(x == "pca", "over PC 1", "over "+x+" and "+y+".")
		require.Check(t, strings.Contains(caption, shown) && x == "pca" == (y == "pca"),
			"%s: the axes are said to be %s and %s: %s", q, x, y, caption)
		require.Check(t, doc.Find("#f-x option[value=same]").Length() == 0,
			"%s: an axis may show the constant column", q)
	}
}

// What the lab says of a place in the picture is what the model says of a point there.
func TestPlacesInThePicture(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Alice)
	said := func(form string) pictures.Place {
		t.Helper()
		a := c.Fetch("POST", "/lab/at", form)
		require.Must(t, a.Status == 200, "%s: %d %s", form, a.Status, a.Body)
		return require.JSON[struct{ Place pictures.Place }](t, a.Body, "%s", form).Place
	}
	for form, machines := range map[string]int{
		"data=moons&gamma=3&conformal=gradient": 1, "data=iris&on=shown&x=petal_length&y=sepal_width": 3,
		"data=iris&on=pca": 3, "data=sine&learner=ridge&target=value": 1, "data=hill&learner=ridge&target=value": 1,
	} {
		_, doc, _ := answer(c, form+"&test_fraction=0&stage=720")
		for _, p := range require.JSON[struct{ Points [][]any }](t, doc.Find(".stage").AttrOr("data-stage", "")).Points[:5] {
			said := said(fmt.Sprintf("%s&test_fraction=0&at.s=%v&at.t=%v", form, p[0], p[1]))
			want := []any{p[3]}
			if len(p) > 9 {
				want = p[9].([]any)
			}
			require.Must(t, len(want) == machines && len(said.Scores) == machines,
				"%s: %d machines, %d scores", form, len(want), len(said.Scores))
			for k, f := range want {
				if got := said.Scores[k]; !scalar.EqualWithinAbsOrRel(*got.Value, f.(float64), 1e-9, 1e-5) { // the point has six digits
					t.Errorf("%s: at %v, %v: %s = %v, the point there has %v", form, p[0], p[1], got.Name, *got.Value, f)
				}
			}
			require.Check(t, len(p) <= 9 || said.Class == p[8].(string), "%s: %q, the point there is %v", form, said.Class, p)
		}
	}
	for _, form := range []string{"data=dna", "data=drawing", "data=moons&C=-1"} {
		said := said(form + "&at.s=0&at.t=0")
		require.Check(t, len(said.Scores) == 0 && said.Class == "", "%s: %v", form, said)
	}
}

// Points too many for an address come back in pictures that need none: embedded, without links.
func TestPointsThatNoAddressHolds(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Alice)
	var points strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&points, "%d.%04d,%d,%d\n", i%7, i, i%11, 1-2*(i%2))
	}
	form := url.Values{"points": {points.String()}, "C": {"1"}, "kernel": {"linear"}}
	_, doc, _ := answer(c, form.Encode())
	form.Set("C", "none")
	page := require.Value(goquery.NewDocumentFromReader(bytes.NewReader(c.Fetch("POST", "/runs", form.Encode()).Body)))(t)
	for name, doc := range map[string]*goquery.Document{"answer": doc, "refused": page} {
		require.Check(t, doc.Find(`.figure img[src^="data:"]`).Length() > 0, "%s: no picture", name)
		require.Check(t, doc.Find(`[src*="/lab/figures/"], [srcset*="/lab/figures/"], [href*="/lab/figures/"]`).Length() == 0, "%s: a picture's address holds the points", name)
	}
}
