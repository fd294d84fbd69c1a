package browser

import (
	"strings"
	"testing"
)

// TestPoll: what a teacher asks appears on a phone that waits, an answer in the histogram,
// and what is right on the phone again; nobody loads a page anew.
func TestPoll(t *testing.T) {
	t.Parallel()
	s := start(t)
	host, hand := s.client(), s.client()
	course := host.post(t, "/courses", "title=Margins&target=/lessons/margins&handins=true")
	code := strings.TrimPrefix(course, "/courses/")
	teacher, student := open(t, s), open(t, s)
	teacher.use(host)
	student.use(hand)
	student.size(360, 740)
	student.visit("/course/" + code + "/poll")
	if h := student.text("h1"); h != "No question yet" {
		t.Errorf("before a question: %q", h)
	}
	teacher.visit("/lessons/margins?course=" + code)
	teacher.follow(func() { teacher.click("#two-margins .ask-class button") })
	poll := strings.TrimPrefix(teacher.where(), s.url)
	poll, _, _ = strings.Cut(poll, "?")
	student.wait(`document.querySelectorAll("[data-vote] [type=radio]").length === 4`)
	student.click("[data-vote] [type=radio][value='1']")
	student.click("[data-vote] [type=submit]")
	student.wait(`document.querySelector(".poll-status")?.textContent.includes("Your answer counts")`)
	teacher.wait(`document.querySelectorAll(".histogram tbody tr")[1].textContent.includes("100")`)
	student.click(".course-name summary")
	student.fill("#f-name", "Ada")
	student.follow(func() { student.clickText("button", "Use it") })
	if said := student.text(".course-name summary"); said != "Your teacher sees your first answers, as Ada" {
		t.Errorf("after a name was given: %q", said)
	}
	teacher.follow(func() { teacher.clickText("button", "Reveal the answer") })
	student.wait(`document.querySelector(".verdict.right")`)

	host.post(t, course+"/polls", "question=margins/line/distance")
	for name, path := range map[string]string{"poll-results": poll, "polls": course + "/polls", "answers-of-a-course": course + "/answers", "course-screen": course + "/screen", "course-edit": course + "/edit"} {
		teacher.run(name, func() { teacher.inspect(name, path, host) })
	}
	student.run("poll", func() { student.inspect("poll", "/course/"+code+"/poll", hand) })
}
