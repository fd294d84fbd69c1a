package browser

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// The legend hides layers of the picture, by click and by key, also while something moves; the
// address keeps what is hidden.
func TestLegendHidesLayers(t *testing.T) {
	p := fresh(t)
	p.visitStage("/lab?data=moons&test_fraction=0.3")
	p.wait(element("[data-layer=held]"))
	keep := func(name string) {
		get[bool](p, "(globalThis."+name+" = document.querySelector('.stage img').cloneNode(), true)")
		p.wait(name + ".complete && " + name + ".naturalWidth > 0")
	}
	apart := func(one string) float64 {
		return get[float64](p, "("+differ+")(document.querySelector('.stage img'), "+one+")")
	}
	pressed := func(layer, want string) {
		t.Helper()
		got := get[string](p, element("[data-layer="+layer+"]")+".getAttribute('aria-pressed')")
		require.Check(t, got == want, "the toggle of %s is pressed: %s, want %s", layer, got, want)
	}
	keep("whole")
	p.change(func() { p.click("[data-layer=held]") })
	pressed("held", "false")
	pressed("margin", "true")
	require.Check(t, p.query().Get("hide") == "held", "the address is %s", p.where())
	require.Check(t, apart("whole") != 0, "the picture without the held-out points is the same")

	// The group is one stop of the keyboard, with arrows from entry to entry.
	get[bool](p, "("+element("[data-layer=boundary]")+".focus(), true)")
	p.keys(kb.ArrowRight)
	p.change(func() { p.keys(" ") })
	require.Equal(t, get[string](p, "document.activeElement.dataset.layer"), "margin", "focus")
	pressed("margin", "false")
	n := get[int](p, `document.querySelectorAll(".legend-toggles button[tabindex='0']").length`)
	require.Check(t, n == 1, "the legend has %d stops", n)

	// While something moves both stay hidden.
	slider := element("[data-field=C] input[type=range]")
	p.change(func() {
		get[bool](p, "((r) => { r.value = 700; r.dispatchEvent(new Event('input', { bubbles: true })); return true; })("+slider+")")
	})
	get[bool](p, "(globalThis.moved = document.querySelector('canvas.motion'), true)")
	p.change(func() { get[bool](p, "("+slider+".dispatchEvent(new Event('change', { bubbles: true })), true)") })
	d := apart("moved")
	require.Check(t, d <= 4, "the picture that moved differs from the one that rests by %.2f of 255", d)
	pressed("margin", "false")

	p.visitStage("/lab?" + p.query().Encode())
	p.wait(element("[data-layer=held]"))
	pressed("held", "false")
	p.change(func() { p.click("[data-layer=held]") })
	p.change(func() { p.click("[data-layer=margin]") })
	require.Check(t, !p.query().Has("hide"), "nothing is hidden, and the address is %s", p.where())
}
