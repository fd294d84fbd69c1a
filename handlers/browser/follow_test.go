package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// TestFollow: a phone shows the slide, the part and the state of the teacher's slides as they
// are turned, by the keyboard or by the teacher's own phone; what a student has answered stays.
func TestFollow(t *testing.T) {
	host, hand, teacher, student, code := class(t, "title=Margins&target=/lessons/margins&handins=true")
	phone := open(t, teacher.server)
	phone.use(host)
	phone.size(360, 740)
	student.visit("/course/" + code)
	student.visit("/course/" + code + "/follow")
	student.wait(`document.querySelector("[data-place='0']")`)
	teacher.visit("/lessons/margins/line?course=" + code)
	student.wait(`document.querySelector(".follow.shows-picture .figure img")`)
	student.fits(360)
	before := get[string](student, element(".follow .figure img")+".getAttribute(\"src\")")

	// Parts, the state of controls, and slides.
	teacher.visit("/lessons/margins/line?course=" + code + "#words")
	student.wait(`document.querySelector(".follow.shows-words .words")`)
	teacher.visit("/lessons/margins/line?course=" + code + "&b=1#picture")
	student.wait(`document.querySelector(".follow.shows-picture .figure img")?.getAttribute("src") !== ` + quote(before) + ` && document.querySelector(".follow .figure img").src.includes("b=1")`)

	// The phone of the teacher turns the slides.
	phone.visit("/courses/" + code + "/remote")
	phone.fits(360)
	phone.wait(`document.querySelector("[data-state]").textContent.includes("On the screen: Picture")`)
	phone.tabTo(".pairing summary")
	phone.keys(" ")
	phone.wait(`document.querySelector(".pairing[open]")`)
	phone.click(".remote [data-key=PageDown]")
	phone.wait(`!document.querySelector("[data-state]").textContent.includes("On the screen: Picture")`)
	teacher.wait(`location.hash !== "#picture"`)

	// Its box says what students may, also after a change from elsewhere.
	for _, free := range []string{"1", "0"} {
		host.do(t, "POST", "/courses/"+code+"/present", "free="+free)
		phone.wait(`document.querySelector("[data-free]").checked === (` + free + ` === 1)`)
	}

	// Its pad moves a dot over the picture, on the projector and on the phone of the student.
	teacher.visit("/lessons/margins/line?course=" + code + "#picture")
	student.wait(`document.querySelector(".follow.shows-picture .figure img")`)
	pad := `const pad = document.querySelector("[data-pad]"), box = pad.getBoundingClientRect(), at = (x, y) => ({pointerId: 1, clientX: box.left + x * box.width, clientY: box.top + y * box.height, bubbles: true}); pad.setPointerCapture = () => {}; `
	phone.wait(`document.querySelector("[data-pad]:not([hidden])")`)
	phone.fits(360)
	// A page that has just loaded may not listen yet: the finger presses until it is seen.
	get[bool](phone, `(() => {`+pad+`globalThis.finger = setInterval(() => pad.dispatchEvent(new PointerEvent("pointerdown", at(0.5, 0.25))), 100); return true})()`)
	for _, p := range []*page{teacher, student} {
		p.wait(`(() => { const dot = document.querySelector(".main-figure .stage .pointer-dot"); if (!dot) return false;
			const stage = dot.parentElement, image = stage.querySelector("img"), frames = JSON.parse(stage.dataset.stage).frames, f = frames[image.naturalWidth], k = image.clientWidth / image.naturalWidth;
			const d = dot.getBoundingClientRect(), b = image.getBoundingClientRect();
			return Math.abs((d.left + d.right) / 2 - b.left - k * (f.left + f.width / 2)) < 2 && Math.abs((d.top + d.bottom) / 2 - b.top - k * (f.top + f.height / 4)) < 2 })()`)
	}
	get[bool](phone, `(() => {`+pad+`clearInterval(finger); pad.dispatchEvent(new PointerEvent("pointerup", at(0.5, 0.25))); return true})()`)
	teacher.wait(`!document.querySelector(".pointer-dot")`)
	student.wait(`!document.querySelector(".pointer-dot")`)

	// The names of students are hidden by a key.
	teacher.keys("h")
	teacher.wait(`document.querySelector(".slide-note")?.textContent === "Names are hidden"`)

	// A question is answered on the phone, and the answer stays while the teacher unfolds all.
	teacher.visit("/lessons/margins/line?course=" + code + "#ask-distance")
	student.wait(`document.querySelector(".follow.shows-ask [data-question]")`)
	student.fill(".follow [name=answer]", "2")
	student.click(".follow [data-question] [type=submit]")
	student.wait(`document.querySelector(".follow .verdict.right")`)
	teacher.keys("e")
	student.wait(`document.querySelector(".follow.shows-ask:not([data-folded])")`)
	require.Check(t, student.visible(".follow .verdict.right"), "the answer is gone")

	// The teacher asks the class without leaving the slide.
	teacher.keys("q")
	teacher.wait(`document.querySelector("dialog.class-results[open] .poll-count")`)
	student.wait(`document.querySelector("[data-asked].floating [data-waits]")`)
	student.click("[data-pause]") // not covered
	student.click("[data-pause]")
	student.click(".follow [data-question] [type=submit]")
	student.wait(`document.querySelector(".follow .error")`)
	require.Check(t, !student.visible(".follow .verdict"), "the slide tells the solution while the class is asked")
	teacher.keys("c")
	teacher.wait(`document.querySelector("dialog.class-results .histogram")`)

	// After a change made elsewhere, deleting the answers still asks first.
	poll := strings.TrimSuffix(get[string](teacher, `document.querySelector("[data-results]").dataset.results`), "/events")
	host.post(t, poll, "do=again")
	teacher.wait(`!document.querySelector("dialog.class-results .histogram")`)
	kept := get[bool](teacher, `(window.confirm = () => false, document.querySelector("dialog.class-results [value=delete]").click(), document.querySelector("dialog.class-results[open]") !== null)`)
	require.Check(t, kept, "answers are deleted without a question")
	host.post(t, poll, "do=close")
	teacher.keys(kb.Escape)
	teacher.wait(`!document.querySelector("dialog.class-results")`)

	// Paused, the slide stays until the student follows again.
	student.click("[data-pause]")
	teacher.visit("/lessons/margins/two-margins?course=" + code + "#words")
	student.wait(`document.querySelector("[data-follow-status]").textContent.includes("moved on")`)
	student.click("[data-pause]")
	student.wait(`document.querySelector(".follow.shows-words")`)
	student.run("follow", func() { student.inspect("follow", "/course/"+code+"/follow", hand) })
	phone.run("remote", func() { phone.inspect("remote", "/courses/"+code+"/remote", host) })
}
