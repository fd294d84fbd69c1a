package lessons

import (
	"strings"
	"testing"

	"github.com/a-h/templ"

	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// rendered returns the output of a component.
func rendered(t *testing.T, c templ.Component) (string, error) {
	t.Helper()
	var b strings.Builder
	err := c.Render(t.Context(), &b)
	return b.String(), err
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	const x, big = `<math><mi>x</mi></math>`, `<math display="block"><mi>x</mi></math>`
	for words, want := range map[string]string{
		"The *margin* of $x$.":                "<p>The <em>margin</em> of <span class=\"nowrap\">" + x + ".</span></p>",
		"$x$ is, $x$?! and $x$":               "<p>" + x + " is, <span class=\"nowrap\">" + x + "?!</span> and " + x + "</p>",
		"*stress on $x$*":                     "<p><em>stress on " + x + "</em></p>",
		"One\n\n$$x$$\n\ntwo":                 "<p>One</p>\n" + big + "\n<p>two</p>",
		"One\n$$\nx\n$$\ntwo":                 "<p>One</p>\n" + big + "\n<p>two</p>",
		"- $x$\n- b":                          "<ul>\n<li>" + x + "</li>\n<li>b</li>\n</ul>",
		"1. a\n2. b":                          "<ol>\n<li>a</li>\n<li>b</li>\n</ol>",
		"### Why $x$":                         "<h3>Why " + x + "</h3>",
		"> The slides say $x$.":               "<p class=\"slip\">The slides say <span class=\"nowrap\">" + x + ".</span></p>",
		"> one\n\n> two":                      "<p class=\"slip\">one</p>\n<p class=\"slip\">two</p>",
		`5 \$ and 2 \* 3`:                     "<p>5 $ and 2 * 3</p>",
		`<script>alert(1)</script> a < b & c`: "<p>&lt;script&gt;alert(1)&lt;/script&gt; a &lt; b &amp; c</p>",
		"~Drag *it*.~":                        "<p class=\"on-screen\">Drag <em>it</em>.</p>",
		"The probe. ~Drag $x$.~ Why?":         "<p>The probe. <span class=\"on-screen\">Drag <span class=\"nowrap\">" + x + ".</span></span> Why?</p>",
		"<div onclick=\"x\">\n\nno":           "<p>&lt;div onclick=&quot;x&quot;&gt;</p>\n<p>no</p>",
		"[here](javascript:alert)":            "<p>[here](javascript:alert)</p>",
	} {
		got, err := renderWords("kernels/a", words)
		require.Check(t, err == nil && strings.TrimSpace(got) == want, "%q\n is %q, %v\nwant %q", words, got, err, want)
	}
	for words, want := range map[string]string{
		"A price of 5 $ and more":      "a $ is missing after",
		"One\n\n$$x\n\ntwo":            "a $$ is missing after",
		`What is $\nosuchcommand{x}$?`: "nosuchcommand",
		`$$\frac{1}$$`:                 "frac",
		"> $\\left( x$":                "left",
		"The probe. ~Drag it.":         "a ~ is missing",
		"    x = 1":                    "indented",
		" \n\n":                        "has no words",
	} {
		if got, err := renderWords("kernels/a", words); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "kernels/a") {
			t.Errorf("%q is %q, %v; want an error with %q", words, got, err, want)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"a *b* $x$, c", "$$x$$", "$$\nx\n", "> $x", "- a\n  $$x$$\n", "1. > $$", "### #", "$", "$$", "$$$$", "\\$", "<b>", "- > - $$\n\n$$"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := renderWords("kernels/a", s)
		require.Check(t, err != nil || !strings.Contains(got, "<script") && !strings.Contains(got, "<!--") && !strings.Contains(got, " style="),
			"%q is %q", s, got)
	})
}

// A control that the demo does not list has its default; Unlisted is called if it is set.
func TestControls(t *testing.T) {
	t.Parallel()
	size := NumberControl{Name: "size", Default: "2", Min: 1, Max: 5}
	n := IntegerControl{Name: "n", Default: "3"}
	on := SwitchControl{Name: "on", Default: "true"}
	pick := ChoiceControl{Name: "pick", Default: "a"}
	word := TextControl{Name: "word", Default: "cat", Max: 8}
	at := PlaceControl{X: NumberControl{Name: "ax", Default: "1"}, Y: NumberControl{Name: "ay", Default: "-1"}}
	d := &Demo{Controls: []Control{size, n, on, at, word}}
	form := map[string]string{"word": " a\x00b\xff é ", "size": "4.50", "n": "7", "on": "false", "ay": "0.5", "pick": "b"}
	in, wrong := d.NewInput(func(name string) string { return form[name] }, nil)
	require.Must(t, len(wrong) == 0, "%v", wrong)
	var unlisted []string
	in.Unlisted = func(name string) { unlisted = append(unlisted, name) }
	require.Check(t, size.Of(in) == 4.5 && size.Text(in) == "4.50" && n.Of(in) == 7 && !on.Of(in) && at.Of(in) == [2]float64{1, 0.5} && word.Of(in) == "ab é" && len(unlisted) == 0,
		"%v %q %v %v %v %q, unlisted %q", size.Of(in), size.Text(in), n.Of(in), on.Of(in), at.Of(in), word.Of(in), unlisted)
	got := pick.Of(in)
	require.Check(t, got == "a" && len(unlisted) == 1 && unlisted[0] == "pick", "a choice that is not listed is %q, told %q", got, unlisted)
	j, err := at.Handle("end", in).MarshalJSON()
	want := `{"label":"end","x":1,"y":0.5,"x_param":"ax","y_param":"ay"}`
	require.Check(t, err == nil && string(j) == want, "handle %s, %v; want %s", j, err, want)
	ps := d.Params()
	require.Check(t, len(ps) == 6 && ps[0].Kind == 0 && ps[1].Name == "n" && ps[4].Name == "ay" && ps[5].Kind == param.Text, "fields %+v", ps)
	if _, wrong := d.NewInput(func(string) string { return "9" }, nil); len(wrong) != 2 { // size and on
		t.Errorf("wrong: %v", wrong)
	}
	in, wrong = d.NewInput(func(name string) string { return map[string]string{"word": "much too long"}[name] }, nil)
	require.Check(t, len(wrong) == 1 && wrong[0].Field == "word" && word.Of(in) == "cat",
		"a text that is too long: %q, %v", word.Of(in), wrong)
}
