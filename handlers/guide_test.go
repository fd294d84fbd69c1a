package handlers

import (
	"strings"
	"testing"

	"marginlab/ml/dataset"
	"marginlab/views/lessons/all"
)

// Every lesson has a page for those who teach it, a worksheet with all its questions, and
// the answers apart from it.
func TestGuidesAndWorksheets(t *testing.T) {
	t.Parallel()
	c := serve(t, false, dataset.DefaultLimits).browse(t, alice)
	for _, l := range all.Lessons {
		questions := 0
		for _, s := range l.Screens {
			questions += len(s.Questions)
		}
		path := "/lessons/" + l.Slug
		if href, _ := c.page(200, path+"/guide").Find(".toolbar a").First().Attr("href"); href != path+"/"+l.Screens[0].Slug {
			t.Errorf("the guide of %s presents %s", l.Slug, href)
		}
		sheet, answers := c.page(200, path+"/worksheet"), c.page(200, path+"/worksheet/answers")
		if n := sheet.Find(".worksheet-item").Length(); n != questions || n != answers.Find(".worksheet-right").Length() {
			t.Errorf("%s: %d items for %d questions", l.Slug, n, questions)
		}
		if sheet.Find(".worksheet-right").Length() > 0 {
			t.Errorf("%s: answers on the worksheet", l.Slug)
		}
		if strings.Contains(answers.Text(), "%s") || strings.Contains(answers.Text(), "$") {
			t.Errorf("%s: an answer is not filled in", l.Slug)
		}
	}
	if text := strings.Join(texts(c.page(200, "/lessons/margins/worksheet/answers").Find(".worksheet-right")), "|"); !strings.Contains(text, "Yes.|2|The functional one doubles") {
		t.Errorf("answers of margins: %s", text)
	}
	c.page(404, "/lessons/nothing/guide")
	c.page(404, "/lessons/nothing/worksheet")
}
