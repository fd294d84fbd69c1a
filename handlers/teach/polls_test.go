package teach_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"marginlab/handlers/handlerstest"
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

// place is where a class sees an option of handlerstest.Optioned.
func place(t *testing.T, option int) int {
	t.Helper()
	l := all.Find("margins")
	s, _ := l.Screen("two-margins")
	return slices.Index(lessons.Asked{Lesson: l, Screen: s, Question: s.Question("double")}.Order(), option)
}

// TestPollEvents: the teacher is sent the histogram as it grows, students no counts.
func TestPollEvents(t *testing.T) {
	s := handlerstest.Fresh(t, false)
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
		news := require.JSON[struct{ HTML string }](t, e.Data)
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
	s := handlerstest.Fresh(t, false)
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
	require.Says(t, a.Page(200, "/course/"+code).Find(".course-name summary").Text(), "your first answers, not your name", "a student is told")
	require.Says(t, a.Page(200, "/course/"+code+"/poll").Find(".course-name summary").Text(), "your answers, not your name", "beside a poll, where answers can be changed")
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
	require.Equal(t, strings.Join(handlerstest.Texts(doc.Find(".places td")), " "), "0 0 2 0 0", "how far the students are")
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
