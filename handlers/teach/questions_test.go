package teach_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"mime/multipart"
	"net/url"
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// write adds an own question to a course and returns its name.
func write(c *handlerstest.Client, base, fields string) string {
	c.T.Helper()
	list := c.Send(200, base+"/questions", fields).HTML()
	slug := list.Find(".polls a").Last().AttrOr("href", "")
	return "own/course/" + slug[strings.LastIndex(slug, "/")+1:]
}

// A teacher writes questions of every kind; students answer them as those of lessons.
func TestOwnQuestions(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	tc, a, b := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada), s.Browse(t, handlerstest.Ben)
	code := tc.Course("/lessons/margins", "")
	base := "/courses/" + code
	tc.Page(200, base+"/questions/new?kind=options")
	options := write(tc, base, "kind=options&ask=Why+$\\alpha$?&option.0=because&wrong.0=habit&option.2=so&wrong.2=&right=2&explain=That+is+so.")
	number := write(tc, base, "kind=number&ask=How+many?&right=10&within=2")
	words := write(tc, base, "kind=words&ask=Who?&right=Vapnik%3B+Chervonenkis")
	opinion := write(tc, base, "kind=words&ask=What+did+you+learn?")
	slide := "/lessons/margins/two-margins"
	point := write(tc, base, "kind=point&ask=Where?&right=1+1&within=0.5&slide="+url.QueryEscape("http://localhost"+slide))
	if form := tc.Page(200, base+"/questions/"+point[len("own/course/"):]); form.Find(".point-stage img").Length() != 1 || form.Find(".point-right").Length() != 1 || form.Find("[name=slide]").AttrOr("value", "") != slide {
		t.Error("the form of a point does not show its picture")
	}
	for _, wrong := range []string{
		"kind=options&ask=a&option.0=one&right=0", "kind=options&ask=a&option.0=one&option.1=two", "kind=number&ask=a&right=x",
		"kind=number&ask=a&right=1&within=0", "kind=number&ask=a&right=1&within=-1", "kind=number&ask=a&right=1&within=x", "kind=number&ask=a&right=" + strings.Repeat("1", 501),
		"kind=point&ask=a&right=1+1&within=1&slide=/lessons/" + strings.Repeat("x", 2000),
		"kind=words&ask=", "kind=words&ask=a%24b", "kind=point&ask=a&right=1+1&within=1&slide=/lessons/none", "kind=song&ask=a",
	} {
		doc := tc.Send(422, base+"/questions", wrong).HTML()
		require.Check(t, doc.Find("[role=alert]").Length() != 0, "%s: no fault is told", wrong)
	}
	a.Page(404, base+"/questions")

	// The slides of the course offer them, to the teacher alone.
	require.Equal(t, tc.Page(200, "/lessons/margins/line?course="+code).Find(".own-questions [name=question]").Length(), 5,
		"own questions that the slide offers")
	require.Check(t, a.Page(200, "/lessons/margins/line?course="+code).Find(".own-questions").Length() == 0,
		"a student's slide has the teacher's questions")
	require.Equal(t, tc.Page(200, base+"/remote").Find("[data-key^='own/']").Length(), 0,
		"the remote asks before a slide is shown")
	tc.Send(204, base+"/present", "path=/lessons/margins/line&part=picture")
	require.Equal(t, tc.Page(200, base+"/remote").Find("[data-key^='own/']").Length(), 5,
		"own questions that the remote offers")

	for _, c := range []struct{ name, ada, ben, bad, counts, labels string }{
		{options, "1", "0", "2", "1 1", ""},
		{number, "9", "13", "many", "1 1", "9 13"},
		{words, " vapnik ", "Mercer", " ", "1 1", "mercer vapnik"},
		{opinion, "$a$ *b*", "$A$  *b*", "", "2", "＄a＄ ∗b∗"},
		{point, "1.2 1.1", "3;-1", "3", "1 1", "near enough farther off"},
	} {
		path := tc.Ask(code, c.name)
		vote(a, 422, code, url.QueryEscape(c.bad))
		vote(a, 200, code, url.QueryEscape(c.ada))
		vote(b, 200, code, url.QueryEscape(c.ben))
		n := tc.Page(200, path).Find(".histogram, .point-marks").Length()
		require.Check(t, n == 0, "%s: answers show while it is open", c.name)
		tc.Send(200, path, "do=reveal")
		doc := tc.Page(200, path)
		require.Equal(t, strings.Join(counts(doc), " "), c.counts, "%s: counts", c.name)
		labels := strings.Join(handlerstest.Texts(doc.Find(".histogram tbody th > span:first-of-type")), " ")
		require.Check(t, c.labels == "" || labels == c.labels, "%s: labels %q", c.name, labels)
		right := a.Page(200, "/course/"+code+"/poll").Find(".verdict.right").Length() == 1
		wrong := b.Page(200, "/course/"+code+"/poll").Find(".verdict:not(.right)").Length() == 1
		judged := c.name != opinion
		require.Check(t, right == judged && wrong == judged, "%s: right %t, wrong %t", c.name, right, wrong)
	}
	require.Check(t, tc.Page(200, base+"/polls").Find(".polls a[href*='/polls/']").Length() == 5,
		"the list does not lead to the answers")
	poll := b.Page(200, "/course/"+code+"/poll")
	require.Check(t, poll.Find(".point-marks circle").Length() == 1 && poll.Find(".point-right").Length() == 1,
		"the student does not see the own point and the right one")

	// Afterwards: by question with the misconception, and as CSV.
	doc := tc.Page(200, base+"/answers?lesson=own")
	require.Equal(t, doc.Find("table.answers tbody tr").Length(), 5, "answers to … questions")
	rows := require.Value(csv.NewReader(strings.NewReader(string(tc.Fetch("GET", base+"/answers.csv", "").Body))).ReadAll())(t)
	found := map[string]bool{}
	for _, row := range rows[1:] {
		found[row[4]+" "+row[6]+" "+row[7]+" "+row[10]] = true
	}
	for _, want := range []string{"q2 9 true ", "q3 vapnik true ", "q3 Mercer false ", "q4 $a$ *b*  ", "q5 1.2 1.1 true "} {
		require.Check(t, found[want], "the CSV has no %q: %q", want, rows)
	}
	require.Check(t, strings.Contains(fmt.Sprint(rows), "false") && strings.Contains(fmt.Sprint(rows), "habit"),
		"the CSV does not tell the misconception")

	// What was asked is not changed, but can be deleted with its answers.
	tc.Send(409, base+"/questions/q2", "kind=number&ask=How+few?&right=1")

	// The next course has them: by a copy, by its file, or taken over.
	from := tc.Page(200, base+"/copy").Find("[name=from]").AttrOr("value", "")
	n := func(doc interface{ Length() int }) int { return doc.Length() }
	copied := tc.Send(200, "/courses", "target=/lessons/margins&title=Next&from="+from).HTML()
	next := strings.TrimSpace(copied.Find(".course-code").Text())
	require.Equal(t, n(tc.Page(200, "/courses/"+next+"/questions").Find(".polls a")), 5, "the copy has … questions")
	b.Send(404, "/courses", "target=/lessons/margins&title=Mine&from="+code)
	file := string(tc.Fetch("GET", base+"/course.json", "").Body)
	require.Check(t, strings.Contains(file, "Vapnik; Chervonenkis"), "the file of the course has no questions")
	third := tc.Course("/lab", "")
	taken := tc.Send(200, "/courses/"+third+"/questions/take", "from="+code).HTML()
	require.Equal(t, n(taken.Find(".polls a")), 5, "questions were taken over")
	b.Send(404, "/courses/"+third+"/questions/take", "from="+code)
	tc.Send(200, base+"/questions/q2", "do=delete")
	require.Equal(t, n(tc.Page(200, base+"/answers?lesson=own").Find("table.answers tbody tr")), 4, "questions are left")
	a.Page(200, "/course/"+code+"/poll")
}

// How far a number may be off by default is a share of the right one, however small that is.
func TestOwnTolerance(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
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
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	tc := s.Browse(t, handlerstest.Teacher)
	bringIn := func(status int, question string) string {
		t.Helper()
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part := require.Value(w.CreateFormFile("file", "course.json"))(t)
		fmt.Fprintf(part, `{"format":1,"title":"A","page":"/lab","questions":[{"ask":"a",%s}]}`, question)
		require.NoError(t, w.Close())
		return tc.Want(status, "POST", "/courses/import", form.String(), "Content-Type", w.FormDataContentType()).HTML().Find(".error").Text()
	}
	for question, fault := range map[string]string{
		`"kind":"number","right":"1","options":["$"]`:                                                "Only a question of the kind options has options.",
		`"kind":"words","wrong":["a"]`:                                                               "Only a question of the kind options has options.",
		`"kind":"options","right":"0","options":["a","b"]`:                                           "two to 6 options",
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
}

// Names are hidden by one key on all pages of a teacher, and come back.
func TestNamesHidden(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
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
	gallery := tc.Page(200, base)
	var ids []string
	for _, box := range gallery.Find("input[name=run]").EachIter() {
		ids = append(ids, box.AttrOr("value", ""))
	}
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
	n := named()
	require.Must(t, n == len(pages), "%d of %d pages name students", n, len(pages))
	doc := tc.Send(200, base+"/names", "hidden=1&from=answers&lesson=margins").HTML()
	require.Check(t, doc.Find("h1").Text() == "Answers" && strings.Contains(doc.Text(), "student 1"), "hiding names does not lead back to the answers")
	require.Equal(t, named(), 0, "pages name students whose names are hidden")
	require.Says(t, string(tc.Fetch("GET", base+"/handins.csv", "").Body), "Byron", "the file has no names")
	require.Says(t, string(tc.Send(200, base+"/names", "").Body), `"hidden":false`, "the key answers")
	require.Equal(t, named(), len(pages), "pages that name students again")
	b.Send(404, base+"/names", "hidden=0")
}
