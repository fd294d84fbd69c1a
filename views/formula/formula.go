// Package formula converts formulas in a subset of TeX to MathML Core on the
// server, so that pages show mathematics without scripts and without fonts of
// their own.
//
// Unknown commands are errors, never wrong formulas; [MathML] names
// the command and its place. The output has no style attributes, so a strict
// Content-Security-Policy does not affect it. What MathML Core leaves to style
// sheets is marked by classes that the page's style sheet must define:
//
//	math mtd:first-child { padding-left: 0; }   math mtd:last-child { padding-right: 0; }
//	math .left { text-align: left; }            math .right { text-align: right; }
//	math .aligned > mtr > mtd { padding-inline: 0; }
//	math .aligned > mtr > mtd.right:not(:first-child) { padding-left: 2em; }
//	math .substack > mtr > mtd { padding-block: 0; }
//	math .overline { border-top: 0.06em solid; padding-top: 0.12em; }
//	math .underline { border-bottom: 0.06em solid; padding-bottom: 0.12em; }
//	math .back { margin-left: -0.1667em; }
//
// Spacing follows TeX's classes of atoms (Knuth, The TeXbook, chapter 18) where MathML Core's
// operator dictionary differs.
package formula

import (
	"context"
	"fmt"
	"io"

	"github.com/a-h/templ"
)

// MathML converts a formula in TeX, without its dollar signs, to a <math> element: inline or, if
// display is set, as a block, in which sums have their limits above and below. The element is safe
// to embed in HTML and well-formed XML.
//
// An error names the fault, its byte position in tex, from 0, and known alternatives, if any.
func MathML(tex string, display bool) (string, error) {
	p := parser{tex: tex, style: style{display: display}}
	nodes, err := p.formula()
	if err != nil {
		return "", err
	}
	math := el("math", nodes...)
	if display {
		math.set("display", "block")
	}
	return math.String(), nil
}

// Inline renders a formula within a line of text. Rendering returns the errors of [MathML], so a
// page with an invalid formula fails.
func Inline(tex string) templ.Component { return component{tex, false} }

// Display renders a formula as a block. Rendering returns the errors of [MathML].
func Display(tex string) templ.Component { return component{tex, true} }

type component struct {
	tex     string
	display bool
}

func (c component) Render(_ context.Context, w io.Writer) error {
	m, err := MathML(c.tex, c.display)
	if err != nil {
		return fmt.Errorf("%w, in $%s$", err, c.tex)
	}
	_, err = io.WriteString(w, m)
	return err
}
