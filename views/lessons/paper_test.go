package lessons

import (
	"strings"
	"testing"
)

// TestEnding: the end of a printed page is what fills a third of it, or all there is.
func TestEnding(t *testing.T) {
	t.Parallel()
	words := func(n int) string { return "<p>" + strings.Repeat("ä", n) + "</p>" }
	figure := `<figure><img src="/a.svg"></figure>`
	for name, c := range map[string]struct {
		parts []string
		want  int
	}{
		"nothing":               {nil, 0},
		"less than a page":      {[]string{words(100), words(100)}, 0},
		"one long part":         {[]string{words(9000), words(3000)}, 1},
		"several short parts":   {[]string{words(4000), words(800), words(800), words(800)}, 1},
		"pictures take room":    {[]string{words(4000), figure, figure, figure}, 1},
		"marks take none":       {[]string{words(4000), strings.Repeat("<b></b>", 1000), words(2500)}, 2},
		"ends of paragraphs do": {[]string{words(4000), strings.Repeat("<p>a</p>", 60)}, 1},
	} {
		if got := ending(c.parts); got != c.want {
			t.Errorf("%s: the end begins at part %d, not %d", name, got, c.want)
		}
	}
}

// TestHalves: the two columns of an ending keep the order and are about as high.
func TestHalves(t *testing.T) {
	t.Parallel()
	for want, parts := range map[int][]string{
		0: nil,
		1: {"abcdef", "ab", "abc"},
		2: {"abc", "ab", "abcdef"},
	} {
		left, right := halves(parts)
		if len(left) != want || len(left)+len(right) != len(parts) {
			t.Errorf("%q: %q and %q", parts, left, right)
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
