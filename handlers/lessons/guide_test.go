package lessons_test

import (
	"encoding/csv"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/views/lessons/all"
)

// Every lesson has a page for those who teach it, a worksheet with all its questions, and
// the answers apart from it.
func guidesAndWorksheets(t *testing.T, s *handlerstest.Server) {
	c := s.Browse(t, handlerstest.Alice)
	for _, path := range []string{"/lessons/margins/worksheet/answers", "/lessons/margins/line/notes"} {
		s.Browse(t, handlerstest.Bob).Page(403, path) // who teaches no course
	}
	c.Course("/lessons/margins", "")
	for _, l := range all.Lessons() {
		questions := 0
		for _, s := range l.Screens {
			questions += len(s.Questions)
		}
		path := "/lessons/" + l.Slug
		href, _ := c.Page(200, path+"/guide").Find(".toolbar a").First().Attr("href")
		require.Check(t, href == path+"/"+l.Screens[0].Slug, "the guide of %s presents %s", l.Slug, href)
		sheet, answers := c.Page(200, path+"/worksheet"), c.Page(200, path+"/worksheet/answers")
		n := sheet.Find(".worksheet-item").Length()
		require.Check(t, n == questions && n == answers.Find(".worksheet-right").Length(), "%s: %d items for %d questions", l.Slug, n, questions)
		require.Check(t, sheet.Find(".worksheet-right").Length() == 0, "%s: answers on the worksheet", l.Slug)
		pictures := sheet.Find(".worksheet-figures img")
		require.Check(t, pictures.Length() != 0 && answers.Find(".worksheet-figures").Length() == 0,
			"%s: %d pictures on the worksheet, %d with the answers", l.Slug, pictures.Length(), answers.Find(".worksheet-figures").Length())
		require.Check(t, !strings.Contains(answers.Text(), "%s") && !strings.Contains(answers.Text(), "$"),
			"%s: an answer is not filled in", l.Slug)
	}
	text := strings.Join(handlerstest.Texts(c.Page(200, "/lessons/margins/worksheet/answers").Find(".worksheet-right")), "|")
	require.Check(t, strings.Contains(text, "Yes.|2|The functional one doubles"), "answers of margins: %s", text)
	const drawn = "/lessons/procedures/hinge/questions/"
	for _, path := range []string{"/lessons/procedures/worksheet/answers", "/lessons/procedures"} {
		doc := c.Page(200, path)
		solved := doc.Find(`.printed-answers img[src*="/sketch.svg?"], img.worksheet-right`).FilterFunction(func(_ int, i *goquery.Selection) bool { return strings.HasPrefix(i.AttrOr("src", ""), drawn) })
		require.Must(t, solved.Length() == 1 && strings.Contains(solved.AttrOr("alt", ""), " at "),
			"%s: %d pictures of what is right where it is drawn, told as %q", path, solved.Length(), solved.AttrOr("alt", ""))
		said := doc.Find(".printed-answers p, .worksheet-item p").Text()
		require.Check(t, !strings.Contains(said, " at −1.5, "), "%s: a list of heights", path)
		whole := c.Page(200, solved.AttrOr("src", "")).Text()
		require.Check(t, strings.Contains(whole, "computed") && !strings.Contains(whole, "your sketch"),
			"%s: %s", path, whole)
	}
	empty := c.Page(200, c.Page(200, "/lessons/procedures/worksheet").Find(".worksheet-sketch").First().AttrOr("src", "")).Text()
	require.Check(t, !strings.Contains(empty, "computed"), "on the worksheet: %s", empty)
	c.Page(404, "/lessons/nothing/guide")
	c.Page(404, "/lessons/nothing/worksheet")
}

// What comes with the steps of a replay is not on paper as empty axes: it is left out as
// long as it gives answers away, and whole otherwise.
func replaysOnPaper(t *testing.T, s *handlerstest.Server) {
	c := s.Browse(t, handlerstest.Bob)
	const lesson, chart = "/lessons/procedures", "objectives.svg"
	printed := func(path string) []string {
		return handlerstest.Attrs(c.Page(200, path).Find("#smo .printed"), "src")
	}
	for _, src := range printed(lesson) {
		require.Check(t, !strings.Contains(src, chart), "the chart without curves is printed: %s", src)
	}
	srcs := printed(lesson + "?everything=1")
	i := slices.IndexFunc(srcs, func(src string) bool { return strings.Contains(src, chart) })
	require.Must(t, i >= 0, "the chart is not printed where all is shown: %q", srcs)
	whole, sofar := c.Fetch("GET", srcs[i], "").Body, c.Fetch("GET", strings.ReplaceAll(srcs[i], "&paper=1", ""), "").Body
	for _, src := range handlerstest.Attrs(c.Page(200, lesson+"/deck").Find("main img"), "src") {
		says := string(c.Fetch("GET", src, "").Body)
		require.Check(t, !strings.Contains(says, "Answer to see more") && !strings.Contains(says, "Press Step"), "a slide on paper asks for an answer or a step: %s", src)
	}
	require.Check(t, len(whole) >= len(sofar)+1000, "the printed chart has no curves: %d bytes, %d at the first step", len(whole), len(sofar))
}

// Who owns a course finds the questions of a lesson with their answers as GIFT and as CSV on
// its page; nobody else does.
func questionFiles(t *testing.T, s *handlerstest.Server) {
	bob, c := s.Browse(t, handlerstest.Bob), s.Browse(t, handlerstest.Alice)
	c.Course("/lessons/margins", "")
	for _, name := range []string{"/questions.gift", "/questions.csv"} {
		bob.Page(403, "/lessons/margins"+name)
		c.Page(404, "/lessons/nothing"+name)
		for who, want := range map[*handlerstest.Client]int{bob: 0, c: 1} {
			n := who.Page(200, "/lessons/margins").Find(`.teach a[href="/lessons/margins` + name + `"]`).Length()
			require.Check(t, n == want, "%s: %d links, want %d", name, n, want)
		}
	}
	sign := regexp.MustCompile(`(?s)\\\\|\\[~=#{}:]`) // escaped
	for _, l := range all.Lessons() {
		path := "/lessons/" + l.Slug + "/questions"
		gift := string(c.Want(200, "GET", path+".gift", "").Body)
		rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(c.Want(200, "GET", path+".csv", "").Body), "\ufeff"))).ReadAll()
		require.Must(t, err == nil, "%s: %v", l.Slug, err)
		var numbers, choices, drawings int
		for _, row := range rows[1:] {
			switch row[2] {
			case "choice":
				choices++
				require.Check(t, slices.Contains(row[7:], row[4]),
					"%s: the answer %q is none of the options", row[0], row[4])
			case "number":
				numbers++
			case "drawing":
				drawings++
			}
		}
		questions := 0
		for _, s := range l.Screens {
			questions += len(s.Questions)
		}
		require.Check(t, numbers+choices+drawings == questions,
			"%s: %d lines for %d questions", l.Slug, len(rows)-1, questions)
		// Without what is escaped, signs that mean something stand where they should.
		bare := sign.ReplaceAllString(gift, "")
		if n := strings.Count(bare, "{"); n != numbers+choices || n != strings.Count(bare, "}") || n != strings.Count(bare, "[html]") || strings.Count(bare, "{#") != numbers || strings.Count(bare, "\n=") != choices || strings.Count(bare, "=") != choices {
			t.Errorf("%s: %d questions of %d and %d in\n%s", l.Slug, n, numbers, choices, gift)
		}
	}
}
