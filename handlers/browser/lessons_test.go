package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"marginlab/views/lessons"
)

// TestLessonLooks looks at every lesson in both themes: nothing wider than the
// window, nothing that axe-core finds serious, formulas as MathML.
func TestLessonLooks(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	c := start(t).client()
	looks := map[string]string{"lessons": "/lessons", "lesson-index": "/lessons/index"}
	for _, l := range lessons.All {
		looks["lesson-"+l.Slug] = "/lessons/" + l.Slug
	}
	for name, path := range looks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inspect(t, name, path, c)
		})
	}
}

// TestLessonWalk teaches each lesson with the keyboard: from slide to slide by the
// arrow keys, through an algorithm's steps, every question answered wrong and right.
func TestLessonWalk(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	s := start(t)
	for i := range lessons.All {
		l := &lessons.All[i]
		t.Run(l.Slug, func(t *testing.T) {
			t.Parallel()
			p := open(t, s)
			p.use(s.client())
			p.size(1024, 768)
			p.visit("/lessons/" + l.Slug)
			p.follow(func() { p.clickText("a.button", "Present") })
			for k := range l.Screens {
				screen := &l.Screens[k]
				p.wait("location.pathname === " + quote("/lessons/"+l.Slug+"/"+screen.Slug))
				p.loaded()
				p.fits(1024)
				p.shoot("slide-" + l.Slug + "-" + screen.Slug)
				if p.visible(".replay") {
					walkSteps(p)
				}
				for q := range screen.Questions {
					answerBoth(p, &screen.Questions[q])
				}
				if k+1 < len(l.Screens) {
					p.follow(func() { turn(p, kb.ArrowRight) })
				}
			}
			if len(l.Screens) > 1 {
				p.follow(func() { turn(p, kb.ArrowLeft) })
				p.wait("location.pathname.endsWith(" + quote("/"+l.Screens[len(l.Screens)-2].Slug) + ")")
			}
			p.follow(func() { turn(p, kb.Escape) })
			p.wait("location.pathname === " + quote("/lessons/"+l.Slug))
			asked := 0
			for _, s := range l.Screens {
				asked += len(s.Questions)
			}
			want := fmt.Sprintf("%d of %d questions answered, %d right", asked, asked, asked)
			if got := p.text(".lesson-head"); asked > 0 && !strings.Contains(got, want) {
				t.Errorf("%q does not say %q", got, want)
			}
		})
	}
}

// turn presses a key while nothing has the focus.
func turn(p *page, key string) {
	p.t.Helper()
	get[bool](p, "(document.activeElement?.blur(), true)")
	p.keys(key)
}

// walkSteps goes a step on and back by the keyboard, then to the end and to the start.
func walkSteps(p *page) {
	p.t.Helper()
	count := func(want string) {
		p.t.Helper()
		p.wait(element("[data-count]") + ".textContent.startsWith(" + quote(want+" ") + ")")
		p.wait(element(".exhibit") + ".ariaBusy !== 'true'")
	}
	state := func() string { return get[string](p, element(".exhibit")+".textContent.replace(/\\s+/g, ' ').trim()") }
	count("step 0")
	first := state()
	turn(p, " ")
	count("step 1")
	if state() == first {
		p.t.Errorf("%s: the first step changes nothing that is written", p.where())
	}
	p.keys(" ", chromedp.ModifierShift)
	count("step 0")
	if got := state(); got != first {
		p.t.Errorf("%s: a step back does not lead back:\n%s\n%s", p.where(), first, got)
	}
	p.click("[data-go=end]")
	p.wait(element("[data-go=step]") + ".disabled")
	p.click("[data-go=start]")
	count("step 0")
	if got := state(); got != first {
		p.t.Errorf("%s: from the end to the start it is another state", p.where())
	}
}

// answerBoth answers a question wrong, then right.
func answerBoth(p *page, q *lessons.Question) {
	p.t.Helper()
	truth, err := q.Answer(p.ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	form := "#q-" + q.Slug
	give := func(v float64, verdict string) {
		p.t.Helper()
		if len(q.Options) > 0 {
			p.click(fmt.Sprintf("%s input[value=%q]", form, number(v)))
		} else {
			p.fill(form+" input[name=answer]", number(v))
		}
		get[bool](p, "("+element(form+" .verdict")+"?.remove(), true)")
		p.click(form + " button")
		p.wait(element(form+" .verdict strong") + "?.textContent.includes(" + quote(verdict) + ")")
	}
	if len(q.Options) > 0 {
		give(float64((int(truth)+1)%len(q.Options)), "Not quite")
	} else {
		give(3*truth+7, "Not quite")
	}
	give(truth, "Right")
}
