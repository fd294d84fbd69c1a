package lessons

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/a-h/templ"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"marginlab/ml/param"
	"marginlab/views/formula"
)

// renderWords returns the HTML of a screen's text; where identifies it in errors.
func renderWords(where, source string) (string, error) {
	if strings.TrimSpace(source) == "" {
		return "", fmt.Errorf("the screen %s has no words; write them below its heading in words.md", where)
	}
	var b bytes.Buffer
	if err := markdown().Convert([]byte(source), &b); err != nil {
		return "", fmt.Errorf("the words of the screen %s: %w", where, err)
	}
	html, err := hints(b.String())
	if err != nil {
		return "", fmt.Errorf("the words of the screen %s: %w", where, err)
	}
	return html, nil
}

// firstSentence returns the first sentence of a text, with the display formula it leads to.
func firstSentence(words string) string {
	blocks := strings.Split(strings.TrimSpace(words), "\n\n")
	first := strings.Join(strings.Fields(blocks[0]), " ")
	formula, stressed := false, false
	for i, r := range first {
		switch {
		case r == '$':
			formula = !formula
		case formula:
		case r == '*' || r == '~':
			stressed = !stressed
		case !stressed && strings.ContainsRune(".?!", r) && i+2 < len(first) && first[i+1] == ' ' && !unicode.IsLower(rune(first[i+2])):
			return first[:i+1]
		}
	}
	if len(blocks) > 1 && !strings.ContainsAny(first[max(0, len(first)-1):], ".?!") && strings.HasPrefix(blocks[1], "$$") {
		return first + "\n\n" + blocks[1]
	}
	return first
}

// markdown supports only the syntax documented at New: everything else is text, and escaped.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return newMarkdown(formulaRenderer{},
		parser.WithInlineParsers(util.Prioritized(valueParser{}, 200)),
		parser.WithASTTransformers(util.Prioritized(slips{}, 100)),
	)
})

// newMarkdown supports formulas, rendered by r, lists, code blocks, headings, quotes, emphasis, and
// what the options in more add.
func newMarkdown(r renderer.NodeRenderer, more ...parser.Option) goldmark.Markdown {
	common := []parser.Option{
		parser.WithBlockParsers(
			util.Prioritized(displayParser{}, 100),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(util.Prioritized(inlineParser{}, 100), util.Prioritized(parser.NewEmphasisParser(), 500)),
	}
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(append(common, more...)...)),
		goldmark.WithRenderer(renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(html.NewRenderer(), 1000), util.Prioritized(r, 100)))),
	)
}

// slips turns block quotes into paragraphs of the class slip.
type slips struct{}

func (slips) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	for n := doc.FirstChild(); n != nil; {
		quote := n
		n = n.NextSibling()
		if quote.Kind() != ast.KindBlockquote {
			continue
		}
		for c := quote.FirstChild(); c != nil; c = quote.FirstChild() {
			c.SetAttributeString("class", []byte("slip"))
			doc.InsertBefore(doc, quote, c)
		}
		doc.RemoveChild(doc, quote)
	}
}

// inlineFormula is an inline formula with the punctuation that must stay on its line.
type inlineFormula struct {
	ast.BaseInline
	tex, marks string
	open       bool // its second dollar sign is missing
}

var kindInlineFormula = ast.NewNodeKind("InlineFormula")

func (*inlineFormula) Kind() ast.NodeKind { return kindInlineFormula }

func (f *inlineFormula) Dump(source []byte, level int) {
	ast.DumpHelper(f, source, level, map[string]string{"TeX": f.tex}, nil)
}

// inlineParser reads $…$.
type inlineParser struct{}

func (inlineParser) Trigger() []byte { return []byte{'$'} }

func (inlineParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	tex, after, closed := strings.Cut(string(line[1:]), "$")
	if !closed {
		block.Advance(len(line))
		return &inlineFormula{tex: strings.TrimSpace(tex), open: true}
	}
	f := &inlineFormula{tex: tex, marks: after[:marks(after)]}
	block.Advance(len(tex) + len(f.marks) + 2)
	return f
}

// controlValue marks the place of a control's value.
type controlValue struct {
	ast.BaseInline
	control string
}

var kindControlValue = ast.NewNodeKind("ControlValue")

func (*controlValue) Kind() ast.NodeKind { return kindControlValue }

func (v *controlValue) Dump(source []byte, level int) {
	ast.DumpHelper(v, source, level, map[string]string{"Control": v.control}, nil)
}

// valueParser reads {control}.
type valueParser struct{}

func (valueParser) Trigger() []byte { return []byte{'{'} }

func (valueParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	found := controlName().FindSubmatch(line)
	if found == nil {
		return nil
	}
	block.Advance(len(found[0]))
	return &controlValue{control: string(found[1])}
}

var (
	controlName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\{([a-zA-Z_0-9]+)\}`) })
	valuePlace  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(<data data-control="([a-zA-Z_0-9]+)">)[^<]*`) })
)

// withValues replaces the placeholders of controls in words by their values, missing ones by "…".
func withValues(words string, value func(control string) string) string {
	return valuePlace().ReplaceAllStringFunc(words, func(place string) string {
		found := valuePlace().FindStringSubmatch(place)
		return found[1] + templ.EscapeString(cmp.Or(param.Minus(value(found[2])), "…"))
	})
}

type displayFormula struct {
	ast.BaseBlock
	tex  string
	open bool // its second pair of dollar signs is missing
}

var kindDisplayFormula = ast.NewNodeKind("DisplayFormula")

func (*displayFormula) Kind() ast.NodeKind { return kindDisplayFormula }

func (f *displayFormula) Dump(source []byte, level int) {
	ast.DumpHelper(f, source, level, map[string]string{"TeX": f.tex}, nil)
}

// displayParser parses $$…$$, which may span several lines.
type displayParser struct{}

func (displayParser) Trigger() []byte { return []byte{'$'} }

func (displayParser) Open(_ ast.Node, reader text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	first, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "$$")
	if !ok {
		return nil, parser.NoChildren
	}
	f := &displayFormula{}
	f.add(first)
	reader.AdvanceToEOL()
	return f, parser.NoChildren
}

func (displayParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	f := node.(*displayFormula)
	if !f.open {
		return parser.Close
	}
	line, _ := reader.PeekLine()
	f.add(string(line))
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

func (displayParser) Close(ast.Node, text.Reader, parser.Context) {}

func (displayParser) CanInterruptParagraph() bool { return true }

func (displayParser) CanAcceptIndentedLine() bool { return false }

// add adds a line of the formula; a trailing $$ ends it.
func (f *displayFormula) add(line string) {
	line, closed := strings.CutSuffix(strings.TrimSpace(line), "$$")
	f.tex, f.open = strings.TrimSpace(f.tex+" "+line), !closed
}

// formulaRenderer renders formulas as MathML, and refuses content that would be lost.
type formulaRenderer struct{}

func (r formulaRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindInlineFormula, r.inline)
	reg.Register(kindDisplayFormula, r.display)
	reg.Register(kindControlValue, r.value)
	reg.Register(ast.KindCodeBlock, r.indented)
}

func (formulaRenderer) inline(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	f := n.(*inlineFormula)
	if !entering {
		return ast.WalkContinue, nil
	}
	math, err := mathML(f.tex, "$", false, f.open)
	if f.marks != "" {
		math = `<span class="nowrap">` + math + templ.EscapeString(f.marks) + "</span>"
	}
	_, _ = w.WriteString(math)
	return ast.WalkContinue, err
}

func (formulaRenderer) value(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<data data-control="` + n.(*controlValue).control + `">…</data>`)
	}
	return ast.WalkContinue, nil
}

func (formulaRenderer) display(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	f := n.(*displayFormula)
	if !entering {
		return ast.WalkContinue, nil
	}
	math, err := mathML(f.tex, "$$", true, f.open)
	_, _ = w.WriteString(math + "\n")
	return ast.WalkContinue, err
}

func (formulaRenderer) indented(_ util.BufWriter, source []byte, n ast.Node, _ bool) (ast.WalkStatus, error) {
	line := n.Lines().At(0)
	return ast.WalkStop, fmt.Errorf("%q is indented by four spaces; take them away", bytes.TrimSpace(line.Value(source)))
}

// mathML renders a formula between the given delimiters.
func mathML(tex, signs string, display, open bool) (string, error) {
	if open {
		return "", errors.New("a " + signs + " is missing after " + strconv.Quote(tex))
	}
	math, err := formula.MathML(tex, display)
	if err != nil {
		return "", fmt.Errorf("%w, in %q", err, tex)
	}
	return math, nil
}
