package lessons

import (
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// Prose has no HTML of its writer, and refuses what would take long to read.
func TestProse(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"# A\n### B":                     "<h2>A</h2>\n<h3>B</h3>\n",
		"a <b>c</b> &lt; ![pic](/x.png)": "<p>a &lt;b&gt;c&lt;/b&gt; &lt; pic</p>\n",
		"[x](javascript:alert(1))":       "<p><a href=\"\">x</a></p>\n",
		"[x](https://example.com) `a<b`": "<p><a href=\"https://example.com\">x</a> <code>a&lt;b</code></p>\n",
		"cost \\$5":                      "<p>cost $5</p>\n",
		strings.Repeat("-", 60):          "<hr>\n",
	} {
		got, err := Prose(source)
		require.Check(t, err == nil && got == want, "%q: %q, %v, want %q", source, got, err, want)
	}
	for _, source := range []string{"$x", "$\\nothing$", strings.Repeat(">", 100), strings.Repeat("- 1. > ", 50), strings.Repeat("[a](", 3000)} {
		got, err := Prose(source)
		require.Check(t, err != nil, "%.20q is shown as %.50q", source, got)
	}
	got, err := ProseLaTeX("# A_1\n\n- *a* & **b**\n- $x_1$\n\n1. `c_d`\n\n> 5 %\n\n$$x^2$$\n\n```\n\\end{verbatim}\n```\n")
	want := "\\section*{A\\_1}\n\n\\begin{itemize}\n\\item \\emph{a} \\& \\textbf{b}\n\\item $x_1$\n\\end{itemize}\n\n\\begin{enumerate}\n\\item \\texttt{c\\_d}\n\\end{enumerate}\n\n\\begin{quote}\n5 \\%\n\n\\end{quote}\n\n\\[\nx^2\n\\]\n\n\\begin{verbatim}\n\\end {verbatim}\n\\end{verbatim}\n"
	require.Check(t, err == nil && got == want, "%q, %v", got, err)
}
