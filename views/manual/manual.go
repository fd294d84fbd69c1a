// Package manual holds the manual: one Markdown file per topic, shown by the web pages, the
// terminal and the man pages.
package manual

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed *.md
var files embed.FS

// Dashboard is a Grafana dashboard to which the manual links.
//
//go:embed dashboard.json
var Dashboard []byte

// Topic is a page of the manual. Its text is in the file Slug.md.
type Topic struct {
	Slug    string
	Title   string // the file's first heading
	Summary string // half a line, without a full stop

	page *page
}

// Topics lists the manual in reading order.
var Topics = []Topic{
	{"lab", "The lab", "train, read the picture, edit points, save runs", new(page)},
	{"data", "Data files", "file formats, missing values, generators", new(page)},
	{"learners", "Learners and kernels", "SVM, MCM, kernel ridge, conformal maps, kernels", new(page)},
	{"compare", "Comparison and search", "runs, tests of significance, hyperparameters", new(page)},
	{"studies", "Studies", "learners compared over several data sets", new(page)},
	{"reports", "Reports", "text with frozen evidence, repeated by one command", new(page)},
	{"teaching", "Lessons and teaching", "slides, courses, questions to a class, embedding", new(page)},
	{"terminal", "The terminal", "every command, with examples", new(page)},
	{"api", "The JSON API", "data sets, runs and searches for programs", new(page)},
	{"server", "Operating a server", "network, proxy, workers, backup, limits", new(page)},
	{"claims", "What the lecture claims", "MCM and conformal maps put to the test", new(page)},
	{"speed", "How fast it is", "measured against LIBSVM, HiGHS and others", new(page)},
}

// page is a parsed file.
type page struct {
	once     sync.Once
	source   []byte
	root     ast.Node
	sections []Section
}

// Section is a heading with the text below it, up to the next heading.
type Section struct {
	Level int    // 1 is the title of the topic
	ID    string // URL fragment
	Title string
	Text  string // plain, in lower case, for the search
}

var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(tables{}), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
})

// Find returns the topic with a slug.
func Find(slug string) (Topic, bool) {
	i := slices.IndexFunc(Topics, func(t Topic) bool { return t.Slug == slug })
	if i < 0 {
		return Topic{}, false
	}
	return Topics[i], true
}

// Source returns the Markdown of the topic.
func (t Topic) Source() []byte {
	source, err := files.ReadFile(t.Slug + ".md")
	if err != nil {
		panic(fmt.Sprintf("manual: %v", err)) // embedded: a test reads every topic
	}
	return source
}

// parse parses the file on first use.
func (t Topic) parse() *page {
	t.page.once.Do(func() {
		p := t.page
		p.source = t.Source()
		p.root = markdown().Parser().Parse(text.NewReader(p.source))
		for n := p.root.FirstChild(); n != nil; n = n.NextSibling() {
			if h, ok := n.(*ast.Heading); ok {
				id, _ := h.AttributeString("id")
				name, _ := id.([]byte)
				p.sections = append(p.sections, Section{Level: h.Level, ID: string(name), Title: inline(p.source, h, nil)})
				continue
			}
			if s := len(p.sections); s > 0 {
				p.sections[s-1].Text += " " + strings.ToLower(inline(p.source, n, nil))
			}
		}
	})
	return t.page
}

// Sections returns the headings of the topic, its title first.
func (t Topic) Sections() []Section { return t.parse().sections }

// HTML returns the topic as HTML. Links to other topics lead to the pages below /manual.
func (t Topic) HTML() (string, error) {
	p := t.parse()
	var b bytes.Buffer
	if err := markdown().Renderer().Render(&b, p.source, p.root); err != nil {
		return "", fmt.Errorf("the manual's page %s: %w", t.Slug, err)
	}
	html := strings.ReplaceAll(b.String(), `href="dashboard.json"`, `href="/manual/dashboard.json"`)
	for _, other := range Topics {
		html = strings.ReplaceAll(html, `href="`+other.Slug+".md", `href="/manual/`+other.Slug)
	}
	html = strings.ReplaceAll(html, "<table>", `<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>`)
	return strings.ReplaceAll(html, "</table>", "</table></div>"), nil
}

// Fragment converts a piece of Markdown to HTML.
func Fragment(source string) (string, error) {
	var b bytes.Buffer
	err := markdown().Convert([]byte(source), &b)
	return b.String(), err
}

// Hit is a section that a search found.
type Hit struct {
	Topic Topic
	Section
}

// Search returns the sections whose headings contain every word of the query, followed by those
// whose text does.
func Search(query string) (hits []Hit) {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	holds := func(text string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	}
	var below []Hit
	for _, t := range Topics {
		for _, s := range t.Sections() {
			switch heading := strings.ToLower(s.Title); {
			case holds(heading):
				hits = append(hits, Hit{t, s})
			case holds(heading + s.Text):
				below = append(below, Hit{t, s})
			}
		}
	}
	return append(hits, below...)
}

// Printer writes the parts of a page one after the other. Texts are one line each, to
// be wrapped; Strong and Emphasis mark a part of a text.
type Printer interface {
	Heading(level int, text string)
	Paragraph(text string)
	Item(depth int, mark, text string) // of a list; depth counts from 0
	Code(text string)                  // verbatim, with line breaks
	Strong(text string) string
	Emphasis(text string) string
}

// Print writes the topic to a printer.
func (t Topic) Print(to Printer) {
	p := t.parse()
	for n := p.root.FirstChild(); n != nil; n = n.NextSibling() {
		block(p.source, n, to, 0)
	}
}

// block prints a block and those within it.
func block(source []byte, n ast.Node, to Printer, depth int) {
	switch n := n.(type) {
	case *ast.Heading:
		to.Heading(n.Level, inline(source, n, to))
	case *ast.List:
		number := n.Start
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			mark := "-"
			if n.IsOrdered() {
				mark = fmt.Sprintf("%d.", number)
				number++
			}
			for c := item.FirstChild(); c != nil; c = c.NextSibling() {
				if c == item.FirstChild() {
					to.Item(depth, mark, inline(source, c, to))
				} else {
					block(source, c, to, depth+1)
				}
			}
		}
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		to.Code(string(n.Lines().Value(source)))
	case *east.Table:
		to.Code(table(source, n))
	default:
		to.Paragraph(inline(source, n, to))
	}
}

// mostColumns is the width to which tables are printed, in characters.
const mostColumns = 94

// table returns a table as aligned text. One that is too wide is printed in parts, each with the
// first column.
func table(source []byte, n *east.Table) string {
	var rows [][]string
	var widths []int
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			s := inline(source, cell, nil)
			if i := len(cells); i == len(widths) {
				widths = append(widths, 0)
			}
			widths[len(cells)] = max(widths[len(cells)], len([]rune(s)))
			cells = append(cells, s)
		}
		rows = append(rows, cells)
	}
	var b strings.Builder
	for from, to := 1, 1; ; from = to {
		for wide := widths[0]; to < len(widths) && (to == from || wide+2+widths[to] <= mostColumns); to++ {
			wide += 2 + widths[to]
		}
		for _, cells := range rows {
			var line strings.Builder
			for i, s := range cells {
				if i == 0 || from <= i && i < to {
					line.WriteString(s + strings.Repeat(" ", widths[i]-len([]rune(s))+2))
				}
			}
			b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		}
		if to == len(widths) {
			return b.String()
		}
		b.WriteString("\n")
	}
}

// inline returns the text of a node on one line, marked up by the printer, or plain if it is nil.
func inline(source []byte, n ast.Node, to Printer) string {
	var b strings.Builder
	if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 && n.FirstChild() == nil { // code
		b.Write(n.Lines().Value(source))
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Value(source))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.CodeSpan:
			if s := inline(source, c, nil); to != nil {
				b.WriteString(to.Strong(s))
			} else {
				b.WriteString(s)
			}
		case *ast.Emphasis:
			if s := inline(source, c, nil); to != nil {
				b.WriteString(to.Emphasis(s))
			} else {
				b.WriteString(s)
			}
		case *ast.AutoLink:
			b.Write(c.URL(source))
		default:
			b.WriteString(inline(source, c, to))
			if c.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
	}
	return strings.TrimSpace(b.String())
}
