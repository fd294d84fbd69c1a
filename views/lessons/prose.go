package lessons

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"marginlab/ml/lists"
	"marginlab/ml/study"
)

// plainMarkdown renders untrusted Markdown with formulas as in a lesson. HTML is shown as text, and
// pictures as their alternative texts.
var plainMarkdown = sync.OnceValue(func() goldmark.Markdown {
	return newMarkdown(proseRenderer{},
		parser.WithBlockParsers(util.Prioritized(parser.NewThematicBreakParser(), 200), util.Prioritized(parser.NewFencedCodeBlockParser(), 700)),
		parser.WithInlineParsers(util.Prioritized(parser.NewCodeSpanParser(), 50), util.Prioritized(parser.NewLinkParser(), 200)),
	)
})

// Limits on untrusted Markdown, since parsing time grows with their square.
const maxNested, maxBrackets = 20, 2000

// nested matches the beginning of a line nested in too many lists and quotes.
var nested = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:[ \t]*(?:>|(?:[*+-]|[0-9]{1,9}[.)])[ \t])){` + strconv.Itoa(maxNested+1) + `}`)
})

// Prose renders untrusted Markdown as safe HTML. Headings start at the second level. Errors describe
// mistakes in formulas.
func Prose(source string) (string, error) {
	if strings.Count(source, "[") > maxBrackets || nested().MatchString(source) {
		return "", fmt.Errorf("lists and quotes may be nested %d deep on a line, and there may be %d square brackets; take some away", maxNested, maxBrackets)
	}
	var b bytes.Buffer
	err := plainMarkdown().Convert([]byte(source), &b)
	return b.String(), err
}

// proseRenderer writes formulas as MathML, headings below the title of the page, and the texts of
// pictures.
type proseRenderer struct{ formulaRenderer }

func (r proseRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindInlineFormula, r.inline)
	reg.Register(kindDisplayFormula, r.display)
	reg.Register(ast.KindImage, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
		return ast.WalkContinue, nil
	})
	reg.Register(ast.KindHeading, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		_, err := fmt.Fprintf(w, lists.Either(entering, "<h%d>", "</h%d>\n"), max(n.(*ast.Heading).Level, 2))
		return ast.WalkContinue, err
	})
}

// ProseLaTeX renders untrusted Markdown as LaTeX without any commands but those that Prose supports.
func ProseLaTeX(source string) (string, error) {
	if _, err := Prose(source); err != nil {
		return "", err
	}
	src := []byte(source)
	w := &latexWriter{source: src}
	err := ast.Walk(plainMarkdown().Parser().Parse(text.NewReader(src)), w.node)
	return strings.TrimSpace(w.String()) + "\n", err
}

// latexWriter writes the nodes of Markdown as LaTeX.
type latexWriter struct {
	strings.Builder
	source []byte
}

func (w *latexWriter) node(n ast.Node, entering bool) (ast.WalkStatus, error) {
	around := func(before, after string) (ast.WalkStatus, error) {
		if entering {
			w.WriteString(before)
		} else {
			w.WriteString(after)
		}
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.Heading:
		return around([]string{`\section*{`, `\subsection*{`, `\subsubsection*{`}[min(max(n.Level, 2), 4)-2], "}\n\n")
	case *ast.Paragraph:
		return around("", "\n\n")
	case *ast.TextBlock:
		return around("", "\n")
	case *ast.Blockquote:
		return around("\\begin{quote}\n", "\\end{quote}\n\n")
	case *ast.List:
		kind := lists.Either(n.IsOrdered(), "enumerate", "itemize")
		return around("\\begin{"+kind+"}\n", "\\end{"+kind+"}\n\n")
	case *ast.ListItem:
		return around(`\item `, "")
	case *ast.ThematicBreak:
		return around("\\medskip\\hrule\\medskip\n\n", "")
	case *ast.Emphasis:
		return around([]string{`\emph{`, `\textbf{`}[min(n.Level, 2)-1], "}")
	case *ast.CodeSpan:
		return around(`\texttt{`, "}")
	case *ast.Link:
		return around("", " ("+`\texttt{`+study.LaTeXText(string(n.Destination))+"})")
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		if entering {
			code := string(n.Lines().Value(w.source))
			w.WriteString("\\begin{verbatim}\n" + strings.ReplaceAll(code, `\end{verbatim}`, `\end {verbatim}`) + "\\end{verbatim}\n\n")
		}
		return ast.WalkSkipChildren, nil
	case *inlineFormula:
		if n.open {
			return ast.WalkStop, errors.New("a $ is missing after " + n.tex)
		}
		return around("$"+n.tex+"$"+study.LaTeXText(n.marks), "")
	case *displayFormula:
		return around("\\[\n"+n.tex+"\n\\]\n\n", "")
	case *ast.Text:
		if !entering {
			return ast.WalkContinue, nil
		}
		raw := n.Segment.Value(w.source)
		if !n.IsRaw() && n.Parent().Kind() != ast.KindCodeSpan {
			raw = util.ResolveNumericReferences(util.ResolveEntityNames(util.UnescapePunctuations(raw)))
		}
		w.WriteString(study.LaTeXText(string(raw)))
		if n.HardLineBreak() {
			w.WriteString(`\\`)
		}
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.WriteString("\n")
		}
	case *ast.String:
		return around(study.LaTeXText(string(n.Value)), "")
	}
	return ast.WalkContinue, nil
}
