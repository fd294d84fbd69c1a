package browser

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// answered is the condition that the last question to the server has its answer on
// the page.
const answered = `!document.querySelector("[data-asking]")`

// change does something in the lab and waits until the answer to it, the last
// one, is shown.
func (p *page) change(act func()) {
	p.t.Helper()
	const shown = `document.querySelector(".stage img")?.currentSrc + performance.getEntriesByName("picture").length`
	get[bool](p, `(globalThis.before = `+shown+`, true)`)
	act()
	p.wait(answered + ` && (i => i?.complete && i.naturalWidth > 0)(document.querySelector(".stage img")) && ` + shown + ` !== globalThis.before`)
}

func TestSlidersAreLive(t *testing.T) {
	p := fresh(t)
	p.visitStage("/lab?data=moons")
	slider := `[data-field=C] input[type=range]`
	p.wait(element(slider))

	p.change(func() {
		get[bool](p, "("+element(slider)+".focus(), true)")
		p.keys(kb.ArrowRight + kb.ArrowRight + kb.ArrowRight)
	})
	p.wait(`new URLSearchParams(location.search).get("C") === document.querySelector("#f-C").value`)
	byKey := p.value("#f-C")
	require.Check(t, byKey != "1", "the arrow keys left C at 1")

	// The pointer goes to the right end; every answer on the way is drawn.
	at := p.reach(slider)
	width := get[float64](p, element(slider)+".clientWidth")
	left := at.X - width/2
	position := get[float64](p, element(slider)+".value / "+element(slider)+".max")
	x := left + 8 + position*(width-16)
	p.do(chromedp.MouseEvent(chromedp.MousePressed, x, at.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	for i := range 4 {
		x += (left + width - 8 - x) * float64(i+1) / 4
		p.change(func() { p.do(chromedp.MouseEvent(chromedp.MouseMoved, x, at.Y, chromedp.ButtonLeft)) })
	}
	p.do(chromedp.MouseEvent(chromedp.MouseReleased, x, at.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	p.wait(`new URLSearchParams(location.search).get("C") === document.querySelector("#f-C").value`)
	p.wait(`document.querySelector("#answer details.points")`) // the fine answer has the table, the coarse ones do not
	byMouse, vectors := p.value("#f-C"), p.number("Support vectors")
	require.Check(t, byMouse != byKey && vectors != "", "C = %s by keys and %s by pointer, %q support vectors", byKey, byMouse, vectors)

	p.reload()
	c, n := p.value("#f-C"), p.number("Support vectors")
	require.Check(t, c == byMouse && n == vectors, "C = %s with %s SVs before the reload, C = %s with %s after", byMouse, vectors, c, n)
}

// A picture that is coarser because many ask says so, and is asked for once more.
func TestCoarserPictures(t *testing.T) {
	t.Parallel()
	for path, control := range map[string]string{"/lab?data=moons": "#f-C", "/lessons/soft-margin": "form[data-live] input[type=text]"} {
		p := open(t, start(t))
		p.visit(path)
		p.wait(element(control))
		get[bool](p, `(() => {
			const real = window.fetch;
			let many = true;
			window.fetch = async (...args) => {
				const answer = await real(...args);
				if (!many) return answer;
				many = false;
				return Response.json({ ...(await answer.json()), coarser: "Many are asking." });
			};
			return true;
		})()`)
		get[bool](p, `((f) => { f.value = "7"; f.dispatchEvent(new Event("input", { bubbles: true })); f.dispatchEvent(new Event("change", { bubbles: true })); return true; })(`+element(control)+`)`)
		p.wait(`document.querySelector("[data-status]").textContent === "Many are asking."`)
		p.wait(`document.querySelector("[data-status]").textContent === ""`)
	}
}

// A question that is refused for now is asked again by itself, when the server says, and the
// page tells so meanwhile.
func TestRefusedForNow(t *testing.T) {
	p := fresh(t)
	for refusal, told := range map[string]string{
		`Promise.resolve(new Response("", { status: 429, headers: { "Retry-After": "1" } }))`: "Too many requests from here: asking again in 1 s.",
		`Promise.resolve(new Response("", { status: 503, headers: { "Retry-After": "1" } }))`: "The server is busy: asking again in 1 s.",
		`Promise.reject(new TypeError("no network"))`:                                         "The server cannot be reached: asking again in ",
	} {
		p.visitStage("/lab?data=moons")
		get[bool](p, `(() => {
			const real = window.fetch;
			globalThis.refused = true;
			window.fetch = (...args) => globalThis.refused ? `+refusal+` : real(...args);
			globalThis.before = document.querySelector(".stage img").currentSrc;
			const f = document.querySelector("#f-C");
			f.value = "7";
			f.dispatchEvent(new Event("input", { bubbles: true }));
			f.dispatchEvent(new Event("change", { bubbles: true }));
			return true;
		})()`)
		p.wait(`document.querySelector("[data-status]").textContent.startsWith(` + strconv.Quote(told) + `)`)
		get[bool](p, `!(globalThis.refused = false)`)
		p.wait(`document.querySelector("[data-status]").textContent === "" && document.querySelector(".stage img").currentSrc !== globalThis.before`)
	}
}

func TestKernelShowsItsParameters(t *testing.T) {
	p := fresh(t)
	p.visitStage("/lab?data=circles")
	shows := func(fields ...string) {
		t.Helper()
		for _, f := range []string{"gamma", "coef0", "degree"} {
			p.wait(`Boolean(document.querySelector("[data-field=` + f + `]").getClientRects().length) === ` + map[bool]string{true: "true", false: "false"}[strings.Contains(strings.Join(fields, " "), f)])
		}
	}
	shows("gamma")
	rbf := p.text(`[data-formula-of=kernel]`)
	p.change(func() { p.choose("#f-kernel", "poly") })
	shows("gamma", "coef0", "degree")
	poly := p.text(`[data-formula-of=kernel]`)
	require.Check(t, poly != rbf, "the formula stayed %s", poly)
	p.change(func() { p.choose("#f-kernel", "linear") })
	shows()
	p.change(func() { p.choose("#f-kernel", "rbf") })
	shows("gamma")

	get[bool](p, "(document.activeElement.blur(), true)")
	before := p.value("#f-kernel")
	p.change(func() { p.keys("k") })
	after := p.value("#f-kernel")
	require.Check(t, after != before && p.query().Get("kernel") == after,
		"k leads from %s to %s, the address says %s", before, after, p.query().Get("kernel"))
	p.change(func() { p.choose("#f-conformal", "gradient") })
	for i := range 3 {
		p.picture(".trio figure:nth-child(" + string(rune('1'+i)) + ") img")
	}
	p.wait(`document.querySelector("[data-field=cores]").getClientRects().length`)
}

func TestBadNumberStaysBesideItsField(t *testing.T) {
	p := fresh(t)
	p.visitStage("/lab?data=moons&gamma=2")
	picture := `document.querySelector(".stage img").currentSrc`
	before := get[string](p, picture)
	p.fill("#f-C", "-3")
	p.wait(answered + ` && document.querySelector("#f-C-error").getClientRects().length`)
	require.Check(t, get[string](p, picture) == before && p.query().Get("C") != "-3", "a number that is refused changes the picture")
	e := p.text("#f-C-error")
	require.Check(t, strings.Contains(e, "-3") || strings.Contains(e, "0"), "beside C: %q", e)
	c, g, bad := p.value("#f-C"), p.value("#f-gamma"), get[string](p, `document.querySelector("#f-C").ariaInvalid`)
	require.Check(t, c == "-3" && g == "2" && bad == "true", "C = %s, gamma = %s, invalid %s", c, g, bad)
	p.change(func() { p.fill("#f-C", "3") })
	p.wait(`!document.querySelector("#f-C-error").getClientRects().length`)
	p.wait(`(q => q.get("C") === "3" && q.get("gamma") === "2")(new URLSearchParams(location.search))`)

	// A comma is a decimal point, for the slider too.
	p.change(func() { p.fill("#f-C", "1,5") })
	p.wait(`new URLSearchParams(location.search).get("C") === "1.5"`)
	at := `Number(document.querySelector("[data-field=C] input[type=range]").value)`
	comma := get[float64](p, at)
	p.change(func() { p.fill("#f-C", "30") })
	p.change(func() { p.fill("#f-C", "1.5") })
	require.Equal(t, get[float64](p, at), comma, "for 1.5 the slider stands at")
}

// pixel returns the position of a data point in the window.
func (p *page) pixel(s, t float64) point {
	p.t.Helper()
	return get[point](p, `((s, t) => {
		const stage = document.querySelector(".stage"), image = stage.querySelector("img"), box = image.getBoundingClientRect();
		const { limits: l, ...f } = JSON.parse(stage.dataset.stage).frames[image.naturalWidth];
		const k = image.clientWidth / image.naturalWidth;
		return {
			X: box.left + k * (f.left + ((s - l.x_min) / (l.x_max - l.x_min)) * f.width),
			Y: box.top + k * (f.top + ((l.y_max - t) / (l.y_max - l.y_min)) * f.height),
		};
	})(`+number(s)+", "+number(t)+")")
}

func TestPointsTellAboutThemselves(t *testing.T) {
	p := fresh(t)
	p.visitStage("/lab?data=moons&C=1")
	p.reach(".stage")

	// Numbers are written as on the rest of the page.
	numbers := require.Value(chromedp.Run(p.ctx, chromedp.Evaluate[string](`import(document.querySelector("script[src$='/lab.js']").src.replace("lab.js", "number.js"))
		.then((m) => [0, 0.5, -2, 12345.6, 23456789, 1e-7, -1e-5].map((v) => m.brief(v, 4)).join(" "))`, chromedp.EvalAwaitPromise)))(t)
	require.Equal(t, numbers, "0 0.5 −2 12346 2.346·10⁷ 10⁻⁷ −10⁻⁵", "numbers")

	// A support vector, as the table of points has it.
	type row struct{ Row, Coordinates, Label, F, Margin, Slack, Weight, Role string }
	sv := get[row](p, `(() => {
		const cells = [...document.querySelectorAll("details.points tbody tr")].map((r) => [...r.cells].map((c) => c.textContent.trim()));
		const [Row, Coordinates, Label, F, Margin, Slack, Weight, Role] = cells.find((c) => c[7].includes("inside"));
		return { Row, Coordinates, Label, F, Margin, Slack, Weight, Role };
	})()`)
	at := get[[]float64](p, `JSON.parse(document.querySelector(".stage").dataset.stage).points[`+sv.Row+` - 1].slice(0, 2)`)
	place := p.pixel(at[0], at[1])
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, place.X, place.Y))
	p.wait(`document.querySelector(".tip").getClientRects().length`)
	tip := p.text(".tip")
	for _, part := range []string{"Point " + sv.Row + ",", "class " + sv.Label, "x1 = ", "x2 = ", "f(x) = " + sv.F, "= " + sv.Margin, "slack = " + sv.Slack, "inside the margin", "weight " + sv.Weight} {
		require.Check(t, strings.Contains(tip, part), "hovering over point %s shows %q without %q", sv.Row, tip, part)
	}
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, 2, 2))
	p.wait(`!document.querySelector(".tip").getClientRects().length`)

	// By keyboard the same, read out.
	get[bool](p, `(document.querySelector(".stage").focus(), true)`)
	seen := map[string]bool{}
	for range 3 {
		p.keys(kb.ArrowRight)
		p.wait(`document.querySelector(".tip").getClientRects().length`)
		said := p.text("[data-readout]")
		seen[said] = true
		require.SaysAll(t, said, []string{"Point ", "x1 = ", "f(x) = ", "margin y·f = "}, "the arrow keys read out")
	}
	require.Equal(t, len(seen), 3, "three steps read out … points")
	p.keys(kb.Escape)
	p.wait(`!document.querySelector(".tip").getClientRects().length`)
}

// What the model says of a string follows while it is typed.
func TestTryingIsLive(t *testing.T) {
	p := fresh(t)
	p.visit("/lab?data=dna&k=4")
	p.fill("#f-try", "GATTACATTG")
	p.wait(answered + ` && document.querySelector("#tried strong")?.textContent === "ACATTG"`)
	p.fill("#f-try", "TGCCCGATGCCCG")
	p.wait(answered + ` && document.querySelector("#tried strong")?.textContent === "TGCCCG"`)
	p.wait(`new URLSearchParams(location.search).get("try") === "TGCCCGATGCCCG"`)
}

// Points are generated in the lab while their number is dragged: title, picture and address
// follow, and once a point is drawn by hand the controls of what generates them are gone.
func TestGeneratedPointsAreLive(t *testing.T) {
	p := fresh(t)
	p.visitStage("/lab?data=new-moons,n=60")
	p.change(func() { p.fill(`[name="gen.n"]`, "90") })
	p.wait(`document.querySelector("h1").textContent === "Moons, 90 points"`)
	require.Equal(t, p.query().Get("data"), "new-moons,n=90", "the address says")
	require.Says(t, p.text(".caption"), "90 points", "the picture shows")
	p.act("edit")
	p.change(func() { p.press(0.5, 0.5) })
	p.wait(`document.querySelector('[data-field="gen.n"]').hidden`)
}

// The curves that judge a classifier are there again when nothing moves any more.
func TestCurvesFollow(t *testing.T) {
	p := fresh(t)
	p.visit("/lab?data=moons&test_fraction=0.3")
	roc := `[...document.querySelectorAll("#answer img")].find((i) => i.alt.includes("ROC"))`
	p.wait(roc + ` !== undefined`)
	was := get[string](p, roc+".currentSrc")
	p.change(func() { p.fill("#f-C", "30") })
	p.wait(`(` + roc + `)?.src.includes("C=30")`)
	get[bool](p, "("+roc+".scrollIntoView(), true)")
	p.wait(roc + `.naturalWidth > 0`)
	require.Check(t, get[string](p, roc+".currentSrc") != was, "the curve is still that of before")
}

// differ is the mean difference of two pictures, 0 to 255, each an image or a canvas, at the
// size of the first.
const differ = `(a, b) => {
	const { clientWidth: w, clientHeight: h } = a;
	const pixels = (i) => {
		const c = new OffscreenCanvas(w, h).getContext("2d");
		c.drawImage(i, 0, 0, w, h);
		return c.getImageData(0, 0, w, h).data;
	};
	const [p, q] = [pixels(a), pixels(b)];
	return p.reduce((sum, v, i) => sum + Math.abs(v - q[i]), 0) / p.length;
}`

// While a slider moves, a canvas shows what the image will; once it rests, the image equals
// the SVG to download.
func TestMotion(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"data=moons&test_fraction=0.3", "data=new-cross", "data=moons&show=heat&slack=true", "data=iris&learner=mcm&rho=0.1&conformal=eigen"} {
		p := open(t, start(t))
		p.visitStage("/lab?" + query)
		slider := element("[data-field=C] input[type=range]")
		p.wait(slider)
		p.change(func() {
			get[bool](p, "((r) => { r.value = 700; r.dispatchEvent(new Event('input', { bubbles: true })); return true; })("+slider+")")
		})
		get[bool](p, "(globalThis.moved = document.querySelector('canvas.motion'), true)")
		require.Must(t, get[bool](p, "Boolean(globalThis.moved?.isConnected)"), "%s: nothing moved: %s", query, p.text("[data-status]"))
		p.change(func() { get[bool](p, "("+slider+".dispatchEvent(new Event('change', { bubbles: true })), true)") })
		require.Check(t, !get[bool](p, "globalThis.moved.isConnected"), "%s: the canvas stays over the picture that rests", query)
		d := get[float64](p, "("+differ+")(document.querySelector('.stage img'), globalThis.moved)")
		require.Check(t, d <= 4, "%s: the picture that moved differs from the one that rests by %.2f of 255", query, d)
		get[bool](p, `(fetch(document.querySelector("#answer .main-figure .downloads a").href).then((r) => r.blob()).then(async (b) => {
			const i = new Image();
			i.src = "data:image/svg+xml," + encodeURIComponent(await b.text());
			await i.decode();
			globalThis.exported = i;
		}), true)`)
		p.wait("globalThis.exported")
		d = get[float64](p, "("+differ+")(document.querySelector('.stage img'), globalThis.exported)")
		require.Check(t, d <= 0, "%s: the picture that rests differs from the SVG by %.4f of 255", query, d)
	}
}
