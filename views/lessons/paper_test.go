package lessons

import (
	"strings"
	"testing"

	"marginlab/views"
)

// TestSettings: what is printed of controls is plain text, without the source of a formula.
func TestSettings(t *testing.T) {
	t.Parallel()
	d := DemoView{Fields: []views.Field{
		{Label: "training error", Symbol: "R_emp", Value: "0.05"},
		{Label: "price", Symbol: "C", Value: "-1"},
		{Label: "sorted", Kind: "switch", Value: "true"},
	}}
	if got, want := d.Settings(), "training error = 0.05 · price C = −1 · sorted: on"; got != want {
		t.Errorf("printed is %q, not %q", got, want)
	}
}

// TestEnding: the end of what is printed is what fills a third of a page, and nothing where
// all of it has room below.
func TestEnding(t *testing.T) {
	t.Parallel()
	words := func(n int) string { return "<p>" + strings.Repeat("ä", n) + "</p>" }
	figure := `<figure><img src="/a.svg"></figure>`
	for name, c := range map[string]struct {
		parts []string
		left  float64
		want  int
	}{
		"nothing":                   {nil, 0, 0},
		"room for all":              {[]string{words(2000), words(2000)}, 0.7, 2},
		"room for less":             {[]string{words(2000), words(2000), words(2000)}, 0.7, 2},
		"one long part":             {[]string{words(9000), words(3000)}, 0.7, 1},
		"several short parts":       {[]string{words(4000), words(800), words(800), words(800)}, 0.7, 1},
		"less than a third in all":  {[]string{words(1000), words(800)}, 0.25, 0},
		"pictures take room":        {[]string{words(4000), figure, figure, figure}, 0.7, 1},
		"marks take none":           {[]string{words(4000), strings.Repeat("<b></b>", 1000), words(2500)}, 0.7, 2},
		"the ends of paragraphs do": {[]string{words(4000), strings.Repeat("<p>a</p>", 60)}, 0.7, 1},
	} {
		if got := ending(c.parts, c.left); got != c.want {
			t.Errorf("%s: the end begins at part %d, not %d", name, got, c.want)
		}
	}
}

// TestHints: a text tells those who do not see it what is in its hints, too, without marks.
func TestHints(t *testing.T) {
	t.Parallel()
	const text = "The *probe*. ~Drag $x$.~"
	if got := Spoken(text); got != "The probe. Drag x." {
		t.Errorf("spoken: %q", got)
	}
	if got := Printed(text); got != "The *probe*." {
		t.Errorf("printed: %q", got)
	}
	if got := Printed("~All of it.~"); got != "" {
		t.Errorf("a hint printed: %q", got)
	}
	if got, err := rendered(t, Text(Literal("a~b"))); err != nil || strings.Contains(got, "~") {
		t.Errorf("a name: %q, %v", got, err)
	}
}
