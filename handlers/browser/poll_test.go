package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// TestPoll: a teacher's question appears on a waiting phone, the answer in the histogram,
// and the right answer on the phone again; nobody reloads a page.
func TestPoll(t *testing.T) {
	host, hand, teacher, student, code := class(t, "title=Margins&target=/lessons/margins&handins=true")
	course := "/courses/" + code
	student.visit("/course/" + code + "/poll")
	require.Equal(t, student.text("h1"), "No question yet", "before a question")
	teacher.visit("/lessons/margins?course=" + code)
	teacher.follow(func() { teacher.click("#two-margins .ask-class button") })
	poll := strings.TrimPrefix(teacher.where(), teacher.base)
	poll, _, _ = strings.Cut(poll, "?")
	student.wait(`document.querySelectorAll("[data-vote] [type=radio]").length === 4`)
	student.click("[data-vote] [type=radio][value='1']")
	student.click("[data-vote] [type=submit]")
	student.wait(`document.querySelector(".poll-status")?.textContent.includes("Your answer counts")`)
	teacher.wait(`document.querySelector(".poll-count b").textContent === "1" && !document.querySelector(".histogram")`)
	student.click(".course-name summary")
	student.fill("#f-name", "Ada")
	teacher.follow(func() { teacher.clickText("button", "Close") })
	teacher.wait(`[...document.querySelectorAll(".histogram tbody tr")].some((row) => row.textContent.includes("The functional one doubles") && row.textContent.includes("100"))`)
	student.follow(func() { student.clickText("button", "Save") })
	require.Equal(t, student.text(".course-name summary"), "Your teacher sees your answers as Ada", "named")
	teacher.follow(func() { teacher.clickText("button", "Reveal the answer") })
	student.wait(`document.querySelector(".verdict.right")`)

	host.post(t, course+"/polls", "question=margins/line/distance")
	for name, path := range map[string]string{"poll-results": poll, "polls": course + "/polls", "answers-of-a-course": course + "/answers", "course-screen": course + "/screen", "course-edit": course + "/edit"} {
		teacher.run(name, func() { teacher.inspect(name, path, host) })
	}
	teacher.visit(course + "/answers")
	require.Check(t, teacher.visible(".answers tbody tr"), "how the questions were answered is not shown")
	get[bool](teacher, element(".answers a")+".focus(), true")
	student.visit("/course/" + code + "/poll")
	student.fill("[data-vote] [name=answer]", "7")
	student.click("[data-vote] [type=submit]")
	teacher.wait(`[...document.querySelectorAll(".answers tbody tr")].some((row) => row.querySelector("a").search === "?course=` + code + `" && row.cells[2].textContent.trim() === "1")`)
	require.Check(t, get[bool](teacher, `document.activeElement.matches(".answers a")`), "an answer has taken the keyboard from where it was")
	student.run("poll", func() { student.inspect("poll", "/course/"+code+"/poll", hand) })

	// A late answer does not replace a newer one.
	teacher.visit(course + "/screen")
	get[bool](teacher, `(window.answers = [], window.fetch = () => new Promise((resolve) => window.answers.push((text) => resolve(new Response("<p data-count>" + text + "</p>")))),
		[0, 1].forEach(() => document.dispatchEvent(new Event("visibilitychange"))), window.answers[1]("newer"), true)`)
	teacher.wait(`document.querySelector("[data-count]").textContent === "newer"`)
	get[bool](teacher, `(window.answers[0]("older"), true)`)
	teacher.wait(`window.answers.length > 2`) // it asks again
	require.Equal(t, teacher.text("[data-count]"), "newer", "after a late answer")
}

// TestPollElsewhere: a student on another page of the course is told of a question, keeps
// the keyboard where it is, and is told no more once it is answered.
func TestPollElsewhere(t *testing.T) {
	t.Parallel()
	s := start(t)
	host, hand := s.client(), s.client()
	code := strings.TrimPrefix(host.post(t, "/courses", "title=Slack&target=/lab&handins=true"), "/courses/")
	polls := "/courses/" + code + "/polls"
	student := open(t, s)
	student.use(hand)
	for _, look := range []struct {
		name, path, question, focus string
		width, height               int64
	}{
		{"the lab on a phone", "/lab?course=" + code, "margins/line/distance", "#f-who", 360, 740},
		{"a lesson", "/lessons/soft-margin?course=" + code, "margins/two-margins/double", "[data-switch]", 1280, 800},
		{"a slide", "/lessons/soft-margin/c?course=" + code, "margins/classifier/sign", "[rel=next]", 1024, 768},
	} {
		student.run(look.name, func() {
			student.size(look.width, look.height)
			student.visit(look.path)
			student.wait(`document.querySelector("[data-asked]").childElementCount === 0`)
			get[bool](student, element(look.focus)+".focus(), true")
			poll := host.post(t, polls, "question="+look.question)
			student.wait(`document.querySelector("[data-asked].floating [data-waits]")`)
			if !get[bool](student, `(({top, bottom}) => 0 < top && bottom <= innerHeight)(document.querySelector("[data-asked]").getBoundingClientRect())`) {
				student.t.Error("the notice is out of sight")
			}
			require.Check(student.t, get[bool](student, `document.activeElement.matches(`+quote(look.focus)+`)`), "the notice has taken the keyboard")
			student.fits(look.width)
			student.click("[data-later]")
			require.Check(student.t, !student.visible("[data-asked]"), "put off, the notice stays")
			host.post(t, poll, "do=again")
			student.wait(`!document.querySelector("[data-asked]").hidden`)
			student.follow(func() { student.click("[data-asked] a") })
			student.wait(`document.querySelector("[data-vote]")`)
			host.post(t, poll, "do=close")
		})
	}
}

// TestPollDrawn: a question to which the answer is drawn appears on a phone, is drawn by a
// finger, can be drawn anew, and lies over the others on the teacher's page.
func TestPollDrawn(t *testing.T) {
	host, _, teacher, student, code := class(t, "title=Places&target=/lessons/hard-margin")
	teacher.size(1024, 768)
	teacher.visit("/lessons/hard-margin/primal?course=" + code + "#ask-place")
	teacher.click("#ask-place .ask-class button") // where it can be seen
	teacher.wait(`document.querySelector("dialog.class-results [data-results]")`)
	poll := strings.TrimSuffix(get[string](teacher, `document.querySelector("[data-results]").dataset.results`), "/events")
	student.visit("/course/" + code + "/poll")
	const layer, box = ".sketch-layer", "[data-vote] [name=answer]"
	student.wait(element(layer) + " && " + element("[data-sketch] img") + ".complete")
	student.fits(360)
	get[bool](student, element(".knot")+".focus(), true")
	for _, key := range []string{kb.ArrowUp, kb.ArrowUp, kb.ArrowRight, kb.ArrowUp} {
		student.keys(key)
	}
	drawn := student.value(box)
	student.click("[data-vote] [type=submit]")
	student.wait(`document.querySelector(".poll-status").textContent.includes("Your drawing counts") && document.querySelector(".sketch-layer")`)
	again := student.value(box)
	require.Check(t, again == drawn && drawn != "", "%q was drawn, and %q may be changed", drawn, again)
	teacher.wait(`document.querySelector(".class-results .poll-count b").textContent === "1"`)
	teacher.keys("c")
	teacher.wait(`document.querySelector(".class-results .overlay img")?.alt.includes("median of the class")`)
	teacher.run("overlay", func() { teacher.inspect("poll-overlay", poll, host) })
	teacher.follow(func() { teacher.clickText("button", "Reveal the answer") })
	student.wait(`document.querySelector(".verdict")?.textContent.includes("off by") && document.querySelector(".poll figure img").src.includes("drawn=")`)
	student.fits(360)
}

// TestPollOffline: an answer that does not reach the server is sent again until it does, and
// one that comes too late is told so; the student stays on the page.
func TestPollOffline(t *testing.T) {
	t.Parallel()
	s := start(t)
	host, hand := s.client(), s.client()
	course := host.post(t, "/courses", "title=Margins&target=/lessons/margins")
	code := strings.TrimPrefix(course, "/courses/")
	poll := host.post(t, course+"/polls", "question=margins/two-margins/double")
	student := open(t, s)
	student.use(hand)
	student.size(360, 740)
	student.visit("/course/" + code + "/poll")
	get[bool](student, `(window.there = window.fetch, window.fetch = () => Promise.reject(new TypeError("no network")), true)`)
	student.click("[data-vote] [type=radio][value='1']")
	student.click("[data-vote] [type=submit]")
	student.wait(`document.querySelector(".poll-status").textContent.includes("not counted yet: stay here")`)
	student.fits(360)
	get[bool](student, `(window.fetch = window.there, true)`)
	student.wait(`document.querySelector(".poll-status").textContent.includes("Your answer counts")`)

	// It does not learn that the question has ended.
	get[bool](student, `(window.fetch = (to, how) => how?.method === "POST" ? window.there(to, how) : Promise.reject(new TypeError("no network")), true)`)
	host.post(t, poll, "do=close")
	student.expect("409")
	student.click("[data-vote] [type=radio][value='2']")
	student.click("[data-vote] [type=submit]")
	student.wait(`document.querySelector("[data-poll-part] [role=alert]")?.textContent.includes("closed before your answer arrived")`)
	require.Says(t, student.text(".poll-status"), "Closed. Your answer", "of the answer that counts is said")
	student.fits(360)
}

// class sets up a course, with its teacher at a large window and a student with a phone.
func class(t *testing.T, form string) (host, hand *client, teacher, student *page, code string) {
	t.Helper()
	t.Parallel()
	s := start(t)
	host, hand = s.client(), s.client()
	code = strings.TrimPrefix(host.post(t, "/courses", form), "/courses/")
	teacher, student = open(t, s), open(t, s)
	teacher.use(host)
	student.use(hand)
	teacher.size(1280, 720)
	student.size(360, 740)
	return host, hand, teacher, student, code
}
