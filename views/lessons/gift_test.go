package lessons

import (
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// unescaped reads GIFT text as Moodle does: a backslash takes the meaning from the sign behind it.
func unescaped(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\~`, "~", `\=`, "=", `\#`, "#", `\{`, "{", `\}`, "}", `\:`, ":").Replace(s)
}

// Every character with a meaning in GIFT is escaped, in text and formulas, and read back.
func TestGIFTEscapes(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{`a = b`, `a \= b`},
		{`~hidden~ #1: {x}`, `\#1\: \{x\}`},
		{`*so* it is`, `<em>so</em> it is`},
		{`$\frac{1}{2} = \nabla f$`, `\\(\\frac\{1\}\{2\} \= \\nabla f\\)`},
		{`$a \\ b < c$ & "d"`, `\\(a \\\\ b &lt; c\\) &amp; &\#34;d&\#34;`},
		{"two\n\nlines", `two lines`},
	} {
		got := giftText(c[0])
		require.Equal(t, got, c[1], "%q", c[0])
		require.Check(t, giftEscaped(unescaped(got)) == got, "%q is read as %q", got, unescaped(got))
	}
}

func TestGIFT(t *testing.T) {
	t.Parallel()
	l := &Lesson{Slug: "l"}
	s := &Screen{Slug: "s", Title: "One: two"}
	var text strings.Builder
	require.NoError(t, GIFT(&text, "Margin Lab/A and B", []Asked{
		{l, s, &Question{Slug: "pick", Ask: "Is $x = 1$?", Options: []string{"Yes: 1", "No"}, Wrong: []string{"", "It is {1}."}, Explain: "As it is."}, Truth{Value: 0}},
		{l, s, &Question{Slug: "count", Ask: "How many?", Explain: "There are %s."}, Truth{Value: 40}},
		{l, s, &Question{Slug: "draw", Ask: "Draw.", Sketch: &Sketch{}}, Truth{}},
	}))
	const want = `// 1 question is left out, as the answer is a drawing.

$CATEGORY: Margin Lab//A and B

// l/s/pick
::One\: two (pick)::[html]Is \\(x \= 1\\)? {
=Yes\: 1
~No#It is \{1\}.
####As it is.
}

// l/s/count
::One\: two (count)::[html]How many? {#40:0.4
####There are 40.
}
`
	require.Check(t, text.String() == want, "got\n%s\nwant\n%s", text.String(), want)
}
