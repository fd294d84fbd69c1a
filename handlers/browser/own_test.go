package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// TestOwnQuestions: questions that the teacher has written are asked by a key on the slides and
// from the remote; a student presses on a picture.
func TestOwnQuestions(t *testing.T) {
	host, hand, teacher, student, code := class(t, "title=Margins&target=/lessons/margins")
	course := "/courses/" + code
	host.post(t, course+"/questions", "kind=point&ask=Where%3F&right=1+1&within=0.5&slide=/lessons/margins/two-margins")
	host.post(t, course+"/questions", "kind=words&ask=Who%3F&right=Vapnik")
	phone := open(t, teacher.server)
	phone.use(host)
	phone.size(360, 740)
	teacher.visit("/lessons/margins/line?course=" + code)
	teacher.keys("m")
	teacher.wait(`document.querySelector(".own-questions[open]")`)
	teacher.click(".own-questions [name=question]")
	teacher.wait(`document.querySelector("dialog.class-results[open] .poll-count")`)

	student.visit("/course/" + code + "/poll")
	student.wait(element(".point-stage img") + ".complete")
	student.fits(360)
	says := get[string](student, element(".point-stage img")+".alt")
	require.Check(t, !strings.Contains(says, "Answer to see more"), "the picture asks for an answer to its lesson: %s", says)
	student.click(".point-stage img") // in its middle
	student.wait(`document.querySelector(".point-marks circle") && document.querySelector("[name=answer]").value.split(" ").length === 2`)
	student.click("[data-vote] [type=submit]")
	student.wait(`document.querySelector(".poll-status").textContent.includes("Your answer counts")`)
	teacher.wait(`document.querySelector(".class-results .poll-count b").textContent === "1"`)
	teacher.keys("v")
	teacher.wait(`document.querySelector(".class-results .point-marks .point-right") && document.querySelectorAll(".class-results .point-marks circle").length === 1`)
	student.wait(`document.querySelector(".verdict") && document.querySelector(".point-right")`)
	teacher.keys(kb.Escape)
	teacher.wait(`!document.querySelector("dialog.class-results")`)
	student.run("point", func() { student.inspect("own-point", "/course/"+code+"/poll", hand) })

	phone.visit(course + "/remote")
	phone.click(".remote-own summary")
	phone.click(".remote-own [data-key='own/q2']")
	teacher.wait(`document.querySelector("dialog.class-results[open] h1")?.textContent.includes("Who?")`)
	student.wait(`document.querySelector("h1").textContent.includes("Who?")`)
	phone.fits(360)
	teacher.run("forms", func() {
		teacher.visit(course + "/answers")
		teacher.keys("h")
		teacher.wait(`document.querySelector(".hide-names [role=status]")`)
		teacher.inspect("own-questions", course+"/questions", host)
		teacher.inspect("own-question", course+"/questions/new?kind=options", host)
	})
}
