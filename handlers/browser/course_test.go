package browser

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// TestCourse follows a course from the lab of the teacher to the picture of all
// boundaries: one student with scripts, one without.
func TestCourse(t *testing.T) {
	t.Parallel()
	s := start(t)
	teacher := open(t, s)
	teacher.visitStage("/lab?data=moons&C=10&test_fraction=0.3")
	teacher.change(func() { teacher.fill("#f-gamma", "2") })
	teacher.click(".teach > summary")
	teacher.follow(func() { teacher.clickText("button", "Set up a course") })
	teacher.fill("#f-title", "Soft margins")
	teacher.click(`[name="control.gamma"][value=frozen]`)
	teacher.click(`[name="control.kernel"][value=frozen]`)
	teacher.click(`[name="control.learner"][value=hidden]`)
	teacher.choose(`[name="group.conformal"]`, "hidden")
	teacher.choose(`[name="group.data"]`, "hidden")
	teacher.follow(func() { teacher.clickText("button", "Create course") })
	code := teacher.text(".course-code")
	require.Check(t, !strings.Contains(teacher.where(), "teach/"), "the projector shows the secret: %s", teacher.where())
	require.Equal(t, teacher.text("#gallery h2"), "Nothing handed in yet", "an empty gallery says")

	ada := open(t, s)
	ada.visit("/")
	ada.fill("#f-code", strings.ToLower(code))
	ada.follow(func() { ada.clickText("button", "Open") })
	ada.picture(".stage img")
	ada.wait(`document.querySelector("[data-field=C] input[type=range]")`)
	require.Equal(t, ada.value("#f-gamma"), "2", "gamma")
	for _, css := range []string{"#f-kernel", "#f-gamma", "[data-field=gamma] input[type=range]"} {
		require.Check(t, get[bool](ada, element(css)+".matches(':disabled')"), "%s can be changed", css)
	}
	for _, css := range []string{"#f-learner", "#f-conformal", "#f-data", "#f-points", "[data-act=edit]"} {
		require.Check(t, !get[bool](ada, "Boolean("+element(css)+")"), "%s is there", css)
	}
	get[bool](ada, "(document.activeElement.blur(), true)")
	ada.keys("k")
	ada.change(func() { ada.fill("#f-C", "100") })
	ada.wait(`new URLSearchParams(location.search).get("C") === "100"`)
	q := ada.query()
	require.Check(t, q.Get("course") == code && !q.Has("kernel") && q.Get("gamma") == "2" && q.Get("data") == "moons", "the address says %v", q)
	require.Equal(t, ada.value("#f-kernel"), "rbf", "the key k leads to")
	at := ada.where()
	ada.fill("#f-who", "Ada")
	ada.follow(func() { ada.keys(kb.Enter) })
	ada.picture(".stage img")
	require.Equal(t, ada.text(".course-banner .handed-in a"), "Ada", "handed in as")
	require.Equal(t, ada.where(), at, "the lab after handing in")
	teacher.wait(`document.querySelector("#gallery h2").textContent.trim() === "1 run handed in"`)
	teacher.picture(".gallery tbody img")

	ben := open(t, s)
	ben.noScript()
	ben.visitStage("/course/" + code)
	ben.fill("#f-C", "0.1")
	ben.follow(func() { ben.clickText("button", "Hand in") })
	require.Equal(t, ben.text(".handed-in a"), "anonymous 2", "handed in as")
	teacher.click(`.gallery tbody tr input`)
	teacher.wait(`document.querySelectorAll(".gallery tbody tr").length === 2`)
	require.Check(t, get[bool](teacher, `document.querySelector(".gallery tbody tr input").checked`), "news unchoose what was chosen")
	teacher.picture(".gallery-columns .figure img")
	got := get[string](teacher, `[...document.querySelectorAll(".gallery tbody th")].map((e) => e.textContent.trim()).join(", ")`)
	require.Check(t, got == "Ada, anonymous 2", "in the gallery: %s", got)
	got = get[string](teacher, `[...document.querySelectorAll(".gallery thead th")].map((e) => e.textContent.trim()).join(" ")`)
	require.Check(t, got == "Select Picture Name Test accuracy Handed in C Training accuracy SVs Margin 1/|w|", "the columns are not the settings that differ: %s", got)

	teacher.click(`.gallery tbody tr:nth-child(2) input`)
	teacher.follow(func() { teacher.clickText("button", "Compare selected") })
	teacher.picture(".side-by-side .figure:nth-child(2) img")
	teacher.picture("#h-overlay + .figure img")
	require.Check(t, strings.Contains(teacher.where(), "/courses/"+code+"/compare?"), "the comparison is at %s", teacher.where())
	teacher.visit("/courses/" + code)

	// Ada withdraws in the middle of her work, which stays as it is.
	ada.change(func() { ada.fill("#f-C", "50") })
	ada.wait(`new URLSearchParams(location.search).get("C") === "50"`)
	ada.follow(func() { ada.clickText("button", "Withdraw") })
	require.Equal(t, ada.value("#f-C"), "50", "after the withdrawal C")
	teacher.wait(`document.querySelector("#gallery h2").textContent.trim() === "1 run handed in"`)
	secret := teacher.value(".share")
	colleague := s.client()
	for _, now := range []struct{ closed, offers string }{{"1", "Open for hand-ins"}, {"0", "Close for hand-ins"}} {
		colleague.post(t, strings.TrimPrefix(secret, s.url)+"/close", "closed="+now.closed)
		teacher.wait(`document.querySelector(".course-state > form button").textContent.trim() === ` + quote(now.offers))
	}
	teacher.follow(func() { teacher.clickText("button", "Close for hand-ins") })
	ben.follow(func() { ben.click(".course-banner .links a") })
	require.Check(t, !ben.visible("#f-who"), "a closed course takes hand-ins")
}

// courseOf sets a course up in which some have handed in, and returns its code.
func courseOf(t *testing.T, teacher *client, hands ...string) string {
	t.Helper()
	form := url.Values{
		"target": {"/lab?data=moons&gamma=2&test_fraction=0.3"}, "title": {"Soft margins: what does C do?"}, "handins": {"true"},
		"group.evaluation": {"frozen"}, "control.kernel": {"frozen"}, "control.learner": {"hidden"}, "group.conformal": {"hidden"},
	}
	code := strings.TrimPrefix(teacher.post(t, "/courses", form.Encode()), "/courses/")
	for _, h := range hands {
		hand := teacher.server.client()
		hand.post(t, "/course/"+code+"/handins", "course="+code+"&"+h)
		hand.settle(t)
	}
	return code
}

func TestCoursePages(t *testing.T) {
	t.Parallel()
	s := start(t)
	teacher, student := s.client(), s.client()
	few := courseOf(t, teacher, "who=Ada&C=0.1&gamma=0.5", "C=10&gamma=2", "who=A+very+long+name+that+somebody+typed+in+for+the+fun+of+it&C=1000&gamma=40")
	student.post(t, "/course/"+few+"/handins", "course="+few+"&who=Eve")
	student.settle(t)
	lesson := strings.TrimPrefix(teacher.post(t, "/courses", "title=A+lesson&target=/lessons/margins&control.b=frozen&control.w2=hidden"), "/courses/")
	_, secret, _ := strings.Cut(teacher.get(t, "/courses/"+few).body, s.url+"/teach/")
	secret, _, _ = strings.Cut(secret, `"`)
	_, run, _ := strings.Cut(teacher.get(t, "/courses/"+few).body, `name="run" value="`)
	run, _, _ = strings.Cut(run, `"`)
	_, own, _ := strings.Cut(student.get(t, "/runs").body, `href="/runs/`)
	own, _, _ = strings.Cut(own, `"`)

	pages := []looked{
		{"courses", "/courses", teacher},
		{"course-wrong", "/course?code=nosuch", student},
		{"course-new", "/courses/new?target=%2Flab%3Fdata%3Diris", teacher},
		{"course-lab", "/course/" + few, student},
		{"course-lesson", "/course/" + lesson, student},
		{"gallery", "/courses/" + few, teacher},
		{"course-copy", "/courses/" + few + "/copy", teacher},
		{"gallery-link", "/teach/" + secret, student},
	}
	if walks {
		empty := courseOf(t, teacher)
		var hands []string
		for _, c := range []string{"0.01", "0.1", "0.3", "1", "3", "10", "100", "1000"} {
			hands = append(hands, "C="+c+"&gamma=3&kernel=poly", "C="+c+"&gamma=0.5&who=Student+"+c)
		}
		many := courseOf(t, teacher, hands...)
		teacher.post(t, "/courses/"+many+"/close", "closed=1")
		pages = append(pages, []looked{
			{"courses-empty", "/courses", student},
			{"course-new-lesson", "/courses/new?target=%2Flessons%2Fsoft-margin", teacher},
			{"course-run", "/runs/" + own, student},
			{"gallery-empty", "/courses/" + empty, teacher},
			{"gallery-many", "/courses/" + many + "?sort=C", teacher},
			{"gallery-run", "/courses/" + few + "/runs/" + run, teacher},
		}...)
	}
	inspectAll(t, s, pages)
	p := open(t, s)
	p.use(teacher)
	p.size(360, 740)
	p.visit("/courses/" + few)
	right := get[float64](p, `Math.max(...[...document.querySelectorAll(".gallery tr")].map((row) => row.cells[3].getBoundingClientRect().right))`)
	require.Check(t, right <= 360, "on a phone the column that ranks ends at %g px", right)
	p.use(student)
	p.visitStage("/lab?course=" + few)
	if !get[bool](p, `((field) => {
		field.focus();
		const { left, top, width, height } = field.getBoundingClientRect();
		return document.elementFromPoint(left + width / 2, top + height / 2) === field;
	})(`+element("#f-who")+`)`) {
		t.Error("on a phone the picture of the lab covers the field that has the keyboard")
	}
}
