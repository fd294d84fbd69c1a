package manual

import (
	"bytes"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// tables parses tables whose lines begin and end with a bar, without alignment. Goldmark's own
// table extension compiles its regular expressions at every start of the program.
type tables struct{}

// Extend adds tables to a Markdown converter.
func (t tables) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithParagraphTransformers(util.Prioritized(t, 200)))
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(t, 500)))
}

// Transform replaces a paragraph that is a table.
func (tables) Transform(p *ast.Paragraph, reader text.Reader, _ parser.Context) {
	source, table := reader.Source(), east.NewTable()
	for i, line := range p.Lines().Sliced(0, p.Lines().Len()) {
		line = trimmed(line, source)
		bars := line.Value(source)
		if len(bars) < 2 || bars[0] != '|' || bars[len(bars)-1] != '|' || i == 1 && len(bytes.Trim(bars, "|-")) > 0 {
			return
		}
		row := east.NewTableRow(nil)
		for from := line.Start + 1; from < line.Stop; {
			to := from + bytes.IndexByte(source[from:line.Stop], '|')
			cell := east.NewTableCell()
			cell.Lines().Append(trimmed(text.NewSegment(from, to), source))
			row.AppendChild(row, cell)
			from = to + 1
		}
		switch i {
		case 0:
			table.AppendChild(table, east.NewTableHeader(row))
		case 1: // the line below the names
		default:
			table.AppendChild(table, row)
		}
	}
	if p.Lines().Len() > 2 {
		p.Parent().ReplaceChild(p.Parent(), p, table)
	}
}

// trimmed returns a segment without surrounding white space.
func trimmed(s text.Segment, source []byte) text.Segment {
	s = s.TrimLeftSpace(source)
	return s.TrimRightSpace(source)
}

// RegisterFuncs registers the renderers of the parts of a table.
func (tables) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	between := func(before, after string) renderer.NodeRendererFunc {
		return func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering {
				_, err := w.WriteString(before)
				return ast.WalkContinue, err
			}
			_, err := w.WriteString(after)
			return ast.WalkContinue, err
		}
	}
	r.Register(east.KindTable, between("<table>\n", "</tbody>\n</table>\n"))
	r.Register(east.KindTableHeader, between("<thead>\n<tr>\n", "</tr>\n</thead>\n<tbody>\n"))
	r.Register(east.KindTableRow, between("<tr>\n", "</tr>\n"))
	header, cell := between("<th>", "</th>\n"), between("<td>", "</td>\n")
	r.Register(east.KindTableCell, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Parent().Kind() == east.KindTableHeader {
			return header(w, source, n, entering)
		}
		return cell(w, source, n, entering)
	})
}
