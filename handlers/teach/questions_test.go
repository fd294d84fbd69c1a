package teach_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
)

// write adds an own question to a course and returns its name.
func write(c *handlerstest.Client, base, fields string) string {
	c.T.Helper()
	slug := c.Send(200, base+"/questions", fields).HTML().Find(".polls a").Last().AttrOr("href", "")
	return "own/course/" + slug[strings.LastIndex(slug, "/")+1:]
}

// How far a number may be off by default is a share of the right one, however small that is.
func TestOwnTolerance(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	tc, a, b := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada), s.Browse(t, handlerstest.Ben)
	code := tc.Course("/lessons/margins", "")
	for _, c := range []struct{ right, near, far string }{{"0.005", "0.00503", "0"}, {"1000", "1009", "1011"}, {"0", "0.009", "0.011"}, {"10&within=0.5", "10", "11"}} {
		path := tc.Ask(code, write(tc, "/courses/"+code, "kind=number&ask=How+much?&explain=Because.&right="+c.right))
		vote(a, 200, code, c.near)
		vote(b, 200, code, c.far)
		tc.Send(200, path, "do=reveal")
		right := a.Page(200, "/course/"+code+"/poll").Find(".verdict.right").Length() == 1
		wrong := b.Page(200, "/course/"+code+"/poll").Find(".verdict:not(.right)").Length() == 1
		require.Check(t, right && wrong, "%s: %s is right: %t, %s is wrong: %t", c.right, c.near, right, c.far, wrong)
		told, number := tc.Page(200, path).Find(".results > p.measure").Text(), strings.Split(c.right, "&")[0]
		require.Check(t, strings.Contains(strings.Join(strings.Fields(told), " "), number+" – Because."), "%s: the page says %q", c.right, told)
	}
}

// Questions of a file are checked as those of the form are.
func TestOwnQuestionsOfFiles(t *testing.T) {
	tc := handlerstest.Fresh(t, false).Browse(t, handlerstest.Teacher)
	bringIn := func(status int, question string) string {
		t.Helper()
		file := fmt.Sprintf(`{"format":1,"title":"A","page":"/lab","questions":[{"ask":"a",%s}]}`, question)
		a := tc.Attach("/courses/import", "course.json", file)
		require.Equal(t, a.Status, status, "%.60s", question)
		return a.HTML().Find(".error").Text()
	}
	for question, fault := range map[string]string{
		`"kind":"number","right":"1","options":["$"]`:                                                "Only a question of the kind options has options.",
		`"kind":"words","explain":"$\\frac1$"`:                                                       `The text cannot be shown: formula: \frac at 0 needs an argument at 6, in $\frac1$.`,
		`"kind":"words","wrong":["a"]`:                                                               "Only a question of the kind options has options.",
		`"kind":"options","right":"0","options":["a","b"]`:                                           "explanation for each of the 2 options",
		`"kind":"options","right":"0","options":["a"],"wrong":[""]`:                                  "2 to 6 options",
		`"kind":"number","right":"1","within":-1`:                                                    "above 0",
		`"kind":"number","right":"1","slide":"` + strings.Repeat("/", 2001):                          "2001 characters",
		`"kind":"number","right":"` + strings.Repeat("1", 501):                                       "501 characters",
		`"kind":"options","options":["a","b"],"wrong":["",""],"right":"0` + strings.Repeat(" ", 500): "501 characters",
	} {
		if strings.Count(question, `"`)%2 == 1 {
			question += `"`
		}
		require.Says(t, bringIn(422, question), fault, "%.60s", question)
	}
	bringIn(200, `"kind":"number","right":"1"`)
	tc.As(t, handlerstest.Teacher).Says(422, "its format is 0; this program reads format 1", "POST", "/api/courses", "{}")
}

// Names are hidden by one key on all pages of a teacher, and come back.
func TestNamesHidden(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	tc, a, b := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada), s.Browse(t, handlerstest.Ben)
	code := tc.Course("/lab?data=moons&n=40", "")
	base := "/courses/" + code
	for i, c := range []*handlerstest.Client{a, b} {
		name := []string{"Ada Byron", "Ben Nevis"}[i]
		c.Send(200, "/course/"+code+"/handins", "course="+code+"&who="+url.QueryEscape(name))
		c.Send(200, "/course/"+code+"/name", "who="+url.QueryEscape(name))
	}
	tc.Ask(code, handlerstest.Numeric)
	vote(a, 200, code, "2")
	ids := handlerstest.Attrs(tc.Page(200, base).Find("input[name=run]"), "value")
	require.Must(t, len(ids) == 2, "%d hand-ins", len(ids))
	pages := []string{base, base + "/answers?lesson=margins", base + "/runs/" + ids[0], base + "/compare?run=" + ids[0] + "&run=" + ids[1], tc.Secret(code), base + "/figures/overlay.svg?run=" + ids[0] + "&run=" + ids[1], base + "/compare/figures/overlay.svg?run=" + ids[0] + "&run=" + ids[1]}
	named := func() (n int) {
		for _, page := range pages {
			if body := string(tc.Fetch("GET", page, "").Body); strings.Contains(body, "Byron") || strings.Contains(body, "Nevis") {
				n++
			}
		}
		return n
	}
	require.Must(t, named() == len(pages), "not all of the %d pages name students", len(pages))
	doc := tc.Send(200, base+"/names", "hidden=1&from=answers&lesson=margins").HTML()
	require.Check(t, doc.Find("h1").Text() == "Answers" && strings.Contains(doc.Text(), "student 1"), "hiding names does not lead back to the answers")
	require.Equal(t, named(), 0, "pages name students whose names are hidden")
	require.Says(t, string(tc.Fetch("GET", base+"/handins.csv", "").Body), "Byron", "the file has no names")
	require.Says(t, string(tc.Send(200, base+"/names", "").Body), `"hidden":false`, "the key answers")
	require.Equal(t, named(), len(pages), "pages that name students again")
	b.Send(404, base+"/names", "hidden=0")
}
