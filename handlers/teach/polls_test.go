package teach_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
)

// vote answers what is put to a course.
func vote(c *handlerstest.Client, status int, code, answer string) *goquery.Document {
	c.T.Helper()
	form := c.Page(200, "/course/"+code+"/poll").Find("[data-vote]")
	poll, round := form.Find("[name=poll]").AttrOr("value", ""), form.Find("[name=round]").AttrOr("value", "")
	return c.Send(status, "/course/"+code+"/poll", "poll="+poll+"&round="+round+"&answer="+answer).HTML()
}

// counts returns the counts of a histogram, row by row.
func counts(doc *goquery.Document) []string {
	return handlerstest.Texts(doc.Find(".histogram tbody td > span").Clone().Find(".quiet").Remove().End())
}

// Students answer by the code alone; the teacher sees who answered what, asks again and
// reveals.
func TestPoll(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	tc, a, b := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada), s.Browse(t, handlerstest.Ben)
	code := tc.Course("/lessons/margins", "")
	require.Equal(t, a.Page(200, "/course/"+code+"/poll").Find("h1").Text(), "No question yet", "before a question")

	// The teacher asks from the lesson; students have no such button.
	page := tc.Page(200, "/course/"+code)
	button := page.Find("#line .ask-class button")
	name := button.AttrOr("value", "")
	require.Must(t, name == handlerstest.Numeric && page.Find(".ask-class").Length() >= 3, "the lesson offers %q", name)
	require.Check(t, a.Page(200, "/course/"+code).Find(".ask-class").Length() == 0 && tc.Page(200, "/lessons/margins").Find(".ask-class").Length() == 0,
		"a question can be put to a class by who does not teach it, or to none")
	n := tc.Page(200, "/lessons/margins/line?course="+code).Find(".ask-class").Length()
	require.Check(t, n != 0, "no question of a slide can be put to the class")
	path := tc.Ask(code, handlerstest.Numeric)
	require.Must(t, strings.HasPrefix(path, "/courses/"+code+"/polls/"), "the question is at %s", path)
	require.Check(t, tc.Page(200, "/courses/"+code+"/polls").Find(".polls a").AttrOr("href", "") == path,
		"the question is not in the list of the lesson")

	// The pages of the course tell of it, and the code leads to it.
	told := func(c *handlerstest.Client, path string) int {
		return c.Page(200, path).Find("[data-asked] [data-waits]").Length()
	}
	for _, path := range []string{"/lessons/margins?course=" + code, "/lessons/margins/line?course=" + code, "/lab?course=" + code} {
		require.Check(t, told(a, path) == 1, "%s does not tell of the question", path)
	}
	require.Check(t, told(tc, "/lessons/margins/line?course="+code) == 0, "the slide asks its teacher")
	doc := a.Page(200, "/course/"+code)
	require.Check(t, doc.Find("[data-vote] [name=answer]").Length() == 1 && doc.Find(".verdict").Length() == 0,
		"the code leads to %s", doc.Find("h1").Text())
	require.Check(t, strings.Contains(vote(a, 422, code, "far").Find(".error").Text(), "Give a number"),
		"no number is taken for one")
	vote(a, 200, code, "7")
	doc = vote(a, 200, code, "10/5") // changed
	text := doc.Find(".poll-status").Text()
	require.Check(t, strings.Contains(text, "Your answer counts") && strings.Contains(text, "2") && doc.Find(".verdict").Length() == 0, "after answering: %q", text)
	require.Check(t, told(a, "/lab?course="+code) == 0 && told(b, "/lab?course="+code) == 1,
		"the lab tells those who have answered, or not those who have not")
	vote(b, 200, code, "-3")
	// While the question is open nobody is swayed by what others have answered.
	doc = tc.Page(200, path)
	if n := doc.Find(".poll-count b").Text(); n != "2" || doc.Find(".histogram").Length() != 0 {
		t.Errorf("open: %s answers, %d histograms", n, doc.Find(".histogram").Length())
	}

	// Closed, nothing is taken. Asked again, both rounds stand side by side.
	stale := b.Page(200, "/course/"+code+"/poll").Find("[name=poll]").AttrOr("value", "")
	tc.Send(200, path, "do=close")
	doc = tc.Page(200, path)
	if got := counts(doc); fmt.Sprint(got) != "[1 1]" || doc.Find("tr.right").Length() != 0 {
		t.Errorf("counts %q; %d rows are marked", got, doc.Find("tr.right").Length())
	}
	got := handlerstest.Texts(doc.Find(".histogram tbody th span"))
	require.Check(t, fmt.Sprint(got) == "[−3 2]", "answers %q", got)
	late := b.Send(409, "/course/"+code+"/poll", "poll="+stale+"&round=1&answer=2").HTML()
	if said := late.Find("[role=alert]").Text(); !strings.Contains(said, "closed before your answer came") || late.Find("[data-poll-part]").Length() != 1 {
		t.Errorf("an answer to what is closed is told %q", said)
	}
	if doc := b.Page(200, "/course/"+code+"/poll"); doc.Find("[data-vote]").Length() != 0 || !strings.Contains(doc.Find(".poll-status").Text(), "Closed. Your answer") {
		t.Errorf("closed: %q", doc.Find(".poll-status").Text())
	}
	if doc := a.Page(200, "/course/"+code); doc.Find(".lesson").Length() == 0 {
		t.Errorf("without an open question the code leads to %q", doc.Find("h1").Text())
	}
	tc.Send(200, path, "do=again")
	late = b.Send(409, "/course/"+code+"/poll", "poll="+stale+"&round=1&answer=2&part=1").HTML()
	if said := late.Find("[role=alert]").Text(); !strings.Contains(said, "asked on") || late.Find("[data-vote] [name=round][value='2']").Length() != 1 {
		t.Errorf("an answer to the round before is told %q", said)
	}
	vote(b, 200, code, "2")
	require.Check(t, tc.Page(200, path).Find(".histogram").Length() == 0,
		"the first round is shown while the second is open")
	tc.Send(200, path, "do=close")
	doc = tc.Page(200, path)
	if got := counts(doc); fmt.Sprint(got) != "[1 0 1 1]" || doc.Find(".histogram thead th").Length() != 3 {
		t.Errorf("two rounds: %q", got)
	}
	tc.Send(200, path, "do=reveal")
	got = handlerstest.Texts(tc.Page(200, path).Find("tr.right th span"))
	require.Check(t, fmt.Sprint(got) == "[2]", "right is %q", got)
	doc = b.Page(200, "/course/"+code+"/poll")
	require.Says(t, doc.Find(".verdict.right").Text(), "✓ Right", "revealed: %q", doc.Find(".verdict").Text())
	if doc := a.Page(200, "/course/"+code+"/poll"); !strings.Contains(doc.Find(".poll-status").Text(), "You did not answer") || !strings.Contains(doc.Find(".verdict").Text(), "The answer: 2") {
		t.Errorf("revealed to somebody who did not answer: %q", doc.Text())
	}

	// Another question takes its place; a teacher elsewhere has the token.
	second := tc.Ask(code, handlerstest.Optioned)
	vote(a, 200, code, "1")
	tc.Send(200, second, "do=close")
	got = counts(tc.Page(200, second))
	require.Check(t, len(got) >= 2 && got[place(t, 1)] == "1", "counts of options %q", got)
	secret := tc.Secret(code)
	b.Page(200, secret+"/polls")
	b.Page(200, strings.Replace(second, "/courses/"+code, secret, 1))
	b.Page(404, second)
	b.Send(404, second, "do=close")
	b.Send(404, "/courses/"+code+"/polls", "question="+handlerstest.Numeric)
	tc.Send(404, "/courses/"+code+"/polls", "question=margins/line/nothing")
	tc.Send(422, second, "do=dance")
	tc.Send(200, second, "do=delete")
	tc.Page(404, second)
	tc.Page(404, "/courses/"+code+"/polls/x")
}

// Everybody who follows is told as it happens: the histogram to the teacher, no counts to
// students.
// place is where a class sees an option of handlerstest.Optioned.
func place(t *testing.T, option int) int {
	t.Helper()
	l := all.Find("margins")
	s, _ := l.Screen("two-margins")
	return slices.Index(lessons.Asked{Lesson: l, Screen: s, Question: s.Question("double")}.Order(), option)
}

func TestPollEvents(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	tc, a := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada)
	code := tc.Course("/lessons/margins", "")
	path := tc.Ask(code, handlerstest.Optioned)
	student := bufio.NewReader(a.Open(t.Context(), "GET", "/course/"+code+"/poll/events", nil).Body)
	before, _ := handlerstest.NextEvent(t, student)
	results := bufio.NewReader(tc.Open(t.Context(), "GET", path+"/events", nil).Body)
	vote(a, 200, code, "0")
	tc.Send(200, path, "do=close")
	for {
		e, ok := handlerstest.NextEvent(t, results)
		require.Must(t, ok, "the stream ended without the answer")
		var news struct{ HTML string }
		require.NoError(t, json.Unmarshal([]byte(e.Data), &news))
		doc := require.Value(goquery.NewDocumentFromReader(strings.NewReader(news.HTML)))(t)
		if got := counts(doc); len(got) > 0 && got[place(t, 0)] == "1" {
			break
		}
	}
	handlerstest.NextEvent(t, student) // closed
	tc.Send(200, path, "do=reveal")
	after, _ := handlerstest.NextEvent(t, student)
	require.Check(t, before.Name == "phase" && after.Name == "phase" && before.Data != after.Data && strings.Contains(after.Data, "true"),
		"the student was told %v, then %v", before, after)
}

// First answers in a lesson of a course and in its polls reach the teacher, who sees which
// question fails and how far everybody is; not those outside of the course.
func TestAnswersReachTheTeacher(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	tc, a, b := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada), s.Browse(t, handlerstest.Ben)
	code := tc.Course("/lessons/margins", "")
	answer := func(c *handlerstest.Client, question, given, query string) {
		t.Helper()
		path := "/lessons/" + strings.Replace(question, "/line/", "/line/questions/", 1)
		path = strings.Replace(path, "/two-margins/", "/two-margins/questions/", 1)
		c.Send(200, path, url.Values{"answer": {given}, "query": {query}}.Encode())
	}
	require.Check(t, strings.Contains(tc.Page(200, "/courses/"+code+"/answers").Find(".empty").Text(), "Nobody has answered"),
		"nobody has answered")
	answer(b, handlerstest.Numeric, "2", "") // outside
	answer(a, handlerstest.Numeric, "7", "course="+code)
	answer(a, handlerstest.Numeric, "2", "course="+strings.ToLower(code)) // after it was revealed
	answer(b, handlerstest.Numeric, "7", "course="+code)
	answer(b, handlerstest.Optioned, "1", "course="+code)
	require.Says(t, a.Page(200, "/course/"+code).Find(".course-name summary").Text(), "without a name", "a student is told")
	doc := a.Send(200, "/course/"+code+"/name", "who=+Ada+").HTML()
	text := doc.Find(".course-name summary").Text()
	require.Check(t, strings.Contains(text, "as Ada") && doc.Find(".lesson").Length() == 1, "a student is told %q", text)
	a.Send(422, "/course/"+code+"/name", "who="+strings.Repeat("x", 61))
	tc.Ask(code, handlerstest.Optioned)
	vote(a, 200, code, "0")
	doc = tc.Page(200, "/courses/"+code+"/answers")
	rows := map[string]string{}
	doc.Find(".answers tbody tr").Each(func(_ int, row *goquery.Selection) {
		href := row.Find("a").AttrOr("href", "")
		rows[href] = strings.Join(handlerstest.Texts(row.Find("td").Clone().Find(".quiet").Remove().End()), " | ")
	})
	require.Equal(t, rows["/lessons/margins/line?course="+code], "0 | 2 | 2 of 2 | 7", "the distance")
	require.Equal(t, rows["/lessons/margins/canonical?course="+code], "0 | 0 | 0 of 2 | ", "what nobody has answered")
	require.Equal(t, strings.Join(handlerstest.Texts(doc.Find(".places td")), " "), "0 0 2 0 0", "who has come where")
	students := handlerstest.Texts(doc.Find("table").Last().Find("tbody tr").Find("th, td:nth-child(2), td:nth-child(3), td:nth-child(4)"))
	if got := strings.Join(students, "|"); got != "Ada|2 of 6|0|Functional and geometric margin|anonymous 2|2 of 6|1|Functional and geometric margin" {
		t.Errorf("students: %s", got)
	}

	file := tc.Want(200, "GET", "/courses/"+code+"/answers.csv", "")
	lines := require.Value(csv.NewReader(bytes.NewReader(file.Body)).ReadAll())(t)
	var got []string
	for _, line := range lines {
		got = append(got, strings.Join(slices.Delete(line, 8, 9), ",")) // without the time
	}
	want := []string{
		"name,student,lesson,screen,question,round,answer,right,drawn,misconception", "Ada,1,margins,line,distance,0,7,false,,",
		"Ada,1,margins,two-margins,double,1," + lessons.Letter(place(t, 0)) + ",false,,You took the geometric margin for $y f$: it is divided by $\\lVert\\mathbf w\\rVert$.",
		"anonymous 2,2,margins,line,distance,0,7,false,,", "anonymous 2,2,margins,two-margins,double,0," + lessons.Letter(place(t, 1)) + ",true,,",
	}
	require.Equal(t, cmp.Diff(want, got), "", "diff")
	b.Page(404, "/courses/"+code+"/answers")
	b.Page(200, tc.Secret(code)+"/answers?lesson=risk")

	// Forgetting one's own answers leaves what was told.
	a.Send(200, "/lessons/margins/forget", "")
	require.Equal(t, tc.Page(200, "/courses/"+code+"/answers").Find("table").Last().Find("tbody tr").Length(), 2, "students")
}

// Programs do what the pages of a course do.
func TestCoursesForPrograms(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	tc, a := s.As(t, handlerstest.Teacher), s.As(t, handlerstest.Ada)
	type course struct {
		Code, Title, Page string
		Frozen            []string
		Closed            bool
		Ends              *time.Time
	}
	made := handlerstest.Decode[course](tc.Want(201, "POST", "/api/courses", `{"format": 1, "title": "Monday", "page": "/lessons/margins?b=0.5", "frozen": ["b", "nothing"]}`))
	require.Check(t, made.Title == "Monday" && made.Page == "/lessons/margins?b=0.5" && fmt.Sprint(made.Frozen) == "[b]" && made.Ends == nil,
		"made %+v", made)
	at := "/api/courses/" + made.Code
	list := handlerstest.Decode[struct{ Courses []course }](tc.Want(200, "GET", "/api/courses", ""))
	require.Check(t, len(list.Courses) == 1 && list.Courses[0].Code == made.Code && len(handlerstest.Decode[struct{ Courses []course }](a.Want(200, "GET", "/api/courses", "")).Courses) == 0,
		"listed %+v", list)
	tc.Want(413, "POST", "/api/courses", `{"format": 1, "title": "x", "page": "/lab", "hidden": [`+strings.Repeat(`"",`, 1_500_000)+`""]}`)
	tc.Want(422, "POST", "/api/courses", `{"format": 2, "title": "x", "page": "/lab"}`)
	tc.Want(422, "POST", "/api/courses", `{"format": 1, "title": "x", "page": "https://elsewhere.example/"}`)
	tc.Want(422, "PATCH", at, `{"ends": "soon"}`)
	c := handlerstest.Decode[course](tc.Want(200, "PATCH", at, `{"closed": true, "ends": "2090-01-31T18:00:00Z"}`))
	require.Check(t, c.Closed && c.Ends != nil && c.Ends.Year() == 2090, "changed to %+v", c)
	c = handlerstest.Decode[course](tc.Want(200, "PATCH", at, `{"closed": false, "ends": ""}`))
	require.Check(t, !c.Closed && c.Ends == nil, "changed back to %+v", c)
	file := string(tc.Want(200, "GET", at+"/course.json", "").Body)
	tc.Want(201, "POST", "/api/courses", file)

	type poll struct {
		ID           int64
		Round        int
		Open         bool
		Options      []string
		Rounds       []map[string]int
		Given, Right string
	}
	a.Want(404, "GET", "/api/course/"+made.Code+"/poll", "")
	a.Want(404, "POST", at+"/polls", `{"question": "`+handlerstest.Optioned+`"}`)
	tc.Want(404, "POST", at+"/polls", `{"question": "margins/line/nothing"}`)
	asked := handlerstest.Decode[poll](tc.Want(201, "POST", at+"/polls", `{"question": "`+handlerstest.Optioned+`"}`))
	one := fmt.Sprintf("%s/polls/%d", at, asked.ID)
	seen := handlerstest.Decode[poll](a.Want(200, "GET", "/api/course/"+made.Code+"/poll", ""))
	require.Check(t, len(seen.Options) == 4 && seen.ID == asked.ID && seen.Right == "" && seen.Rounds == nil && seen.Open && asked.Right != "",
		"a student sees %+v", seen)
	vote := fmt.Sprintf(`{"poll": %d, "round": 1, "answer": "1"}`, asked.ID)
	v := handlerstest.Decode[poll](a.Want(200, "POST", "/api/course/"+made.Code+"/poll", vote))
	require.Check(t, v.Given == "1", "answered %+v", v)
	a.Want(422, "POST", "/api/course/"+made.Code+"/poll", strings.Replace(vote, `"1"}`, `"9"}`, 1))
	p := handlerstest.Decode[poll](tc.Want(200, "GET", one, ""))
	require.Check(t, len(p.Rounds) == 1 && p.Rounds[0]["1"] == 1, "counted %+v", p)
	tc.Want(422, "POST", one, `{"do": "dance"}`)
	p = handlerstest.Decode[poll](tc.Want(200, "POST", one, `{"do": "again"}`))
	require.Check(t, p.Round == 2 && p.Open, "asked again: %+v", p)
	a.Want(409, "POST", "/api/course/"+made.Code+"/poll", vote)
	tc.Want(200, "POST", one, `{"do": "reveal"}`)
	v = handlerstest.Decode[poll](a.Want(200, "GET", "/api/course/"+made.Code+"/poll", ""))
	require.Check(t, v.Right == asked.Right && !v.Open, "revealed: %+v", v)
	require.Equal(t, len(handlerstest.Decode[struct{ Polls []poll }](tc.Want(200, "GET", at+"/polls", "")).Polls), 1, "polls")
	require.Equal(t, strings.Count(string(tc.Want(200, "GET", at+"/answers.csv", "").Body), "\n"), 2, "lines of answers")
	tc.Want(200, "GET", at+"/handins.csv", "")
	a.Want(404, "GET", at+"/answers.csv", "")
	tc.Want(204, "DELETE", one, "")
	tc.Want(404, "GET", one, "")
	a.Want(404, "DELETE", at, "")
	tc.Want(204, "DELETE", at, "")
	tc.Want(404, "GET", at, "")
}

// A question to which the answer is drawn is put to a class as any other: what was drawn is
// laid over each other, and tells nobody what is right before that is revealed.
func TestPollDrawn(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	tc, a, b := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada), s.Browse(t, handlerstest.Ben)
	code := tc.Course("/lessons/procedures", "")
	path := tc.Ask(code, "procedures/hinge/shape")
	const hinge, flat = "3 2.5 2 1.5 1 0.5 0 0 0 0 0", "1 1 1 1 1 1 1 1 1 1 1"
	doc := a.Page(200, "/course/"+code)
	require.Must(t, doc.Find("[data-vote] [data-sketch]").Length() == 1 && doc.Find("[data-vote] template img").Length() == 1,
		"there is nothing to draw into")
	require.Check(t, strings.Contains(vote(a, 422, code, "1 2").Find(".error").Text(), "whole curve"),
		"half a drawing is taken for one")
	vote(a, 200, code, flat)
	vote(b, 200, code, flat)
	doc = vote(a, 200, code, hinge)
	if text := doc.Text(); !strings.Contains(text, "Your drawing counts") || strings.Contains(text, "is off by") {
		t.Errorf("after drawing: %s", doc.Find(".poll-status").Text())
	}
	require.Equal(t, doc.Find("[name=answer]").AttrOr("value", ""), hinge, "the drawing that may be changed")
	tc.Send(200, path, "do=close")
	doc = tc.Page(200, path)
	alt := doc.Find(".overlay img").AttrOr("alt", "")
	if got := doc.Find(".poll-count b").Text(); got != "2" || doc.Find(".histogram table").Length() != 0 || !strings.Contains(alt, "a sketch: 2.") || strings.Contains(alt, "computed") {
		t.Errorf("%s drawings, and the picture of them is %q", got, alt)
	}
	for _, uri := range []string{doc.Find(".overlay source").AttrOr("srcset", ""), doc.Find(".overlay img").AttrOr("src", "")} {
		require.Check(t, strings.HasPrefix(uri, "data:image/svg+xml,"), "the picture is %.40q", uri)
	}
	uri := doc.Find(".overlay source").AttrOr("srcset", "")
	require.Check(t, !strings.Contains(uri, " "), "the source for dark pages ends at a space")
	tc.Send(200, path, "do=reveal")
	doc = tc.Page(200, path)
	if got := counts(doc); fmt.Sprint(got) != "[1 1]" || !strings.Contains(doc.Find(".overlay img").AttrOr("alt", ""), "computed") {
		t.Errorf("near and far: %q", got)
	}
	if doc = b.Page(200, "/course/"+code+"/poll"); !strings.Contains(doc.Find(".verdict").Text(), "off by") || !strings.Contains(doc.Find(".poll figure img").AttrOr("src", ""), "drawn=") {
		t.Errorf("revealed: %s", doc.Find(".verdict").Text())
	}
	doc = a.Page(200, "/course/"+code+"/poll")
	require.Check(t, doc.Find(".verdict.right").Length() == 1, "the hinge is not right")
	if doc = tc.Page(200, "/course/"+code+"/poll"); !strings.Contains(doc.Find(".poll figure img").AttrOr("src", ""), "solved=1") || !strings.Contains(doc.Find(".poll figure img").AttrOr("src", ""), "width=640") || !strings.Contains(doc.Find(".verdict").Text(), "The answer is the curve above.") {
		t.Errorf("revealed to somebody who drew nothing: %s", doc.Find(".poll").Text())
	}

	// Drawings are told in words, and their heights go into the file.
	code = tc.Course("/lessons/procedures", "")
	tc.Ask(code, "procedures/hinge/shape")
	vote(a, 200, code, flat)
	vote(b, 200, code, "1 1 1 1 1 1 1 1 1 1 1.0004")
	if got := tc.Page(200, "/courses/"+code+"/answers").Find(".answers td.words").Text(); !strings.Contains(got, "the median drawing: 1 at y f(x) = −2, still at 3") {
		t.Errorf("the wrong drawings: %q", got)
	}
	file := string(tc.Want(200, "GET", "/courses/"+code+"/answers.csv", "").Body)
	require.Check(t, strings.Contains(file, `,"1 at y f(x) = −2, still at 3",false,`) && strings.Contains(file, ","+flat+",\n"),
		"as a file:\n%s", file)
}
