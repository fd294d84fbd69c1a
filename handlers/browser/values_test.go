package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"marginlab/ml/mltest/require"
)

// A regression is live as classes are; its points tell their residuals, and the way to
// classes and back is a choice on the page.
func TestValuesAreLive(t *testing.T) {
	p := fresh(t)
	p.visitStage("/lab?data=sine")
	before := p.number("Training MSE")
	p.change(func() { p.fill("#f-lambda", "0.01") })
	p.wait(`new URLSearchParams(location.search).get("lambda") === "0.01"`)
	p.wait(`document.querySelector("#answer details.points")`)
	after := p.number("Training MSE")
	require.Check(t, after != "" && after != before, "training MSE %q before and %q after", before, after)

	p.reach(".stage")
	type row struct{ Row, Coordinates, Label, F, Residual string }
	one := get[row](p, `(() => {
		const [Row, Coordinates, Label, F, Residual] = [...document.querySelector("details.points tbody tr").cells].map((c) => c.textContent.trim());
		return { Row, Coordinates, Label, F, Residual };
	})()`)
	at := get[[]float64](p, `JSON.parse(document.querySelector(".stage").dataset.stage).points[0].slice(0, 2)`)
	place := p.pixel(at[0], at[1])
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, place.X, place.Y))
	p.wait(`document.querySelector(".tip").getClientRects().length`)
	if tip := p.text(".tip"); !strings.Contains(tip, "value = ") || !strings.Contains(tip, "f(x) = "+one.F) || !strings.Contains(tip, "residual t − f = "+one.Residual) || strings.Contains(tip, "class") {
		t.Errorf("point %+v tells %q", one, tip)
	}

	p.follow(func() { p.choose("#f-data", "moons") })
	l := p.value("#f-target")
	require.Check(t, l == "class" && p.value("#f-learner") == "ridge", "moons open with the target %s", l)
	p.follow(func() { p.choose("#f-target", "value") })
	p.picture(".stage img")
	require.Check(t, !get[bool](p, `Boolean(document.querySelector("#f-positive, [data-editor]"))`) && p.number("Training MSE") != "",
		"±1 as values are still classes")
	p.follow(func() { p.choose("#f-target", "class") })
	p.picture(".stage img")
	require.Check(t, p.number("Training accuracy") != "", "there is no way back to classes")
}
