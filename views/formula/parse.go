package formula

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxDepth bounds the nesting depth of formulas.
const maxDepth = 64

// style is TeX's style of a part. MathML applies the same rules itself, but the places of limits
// and spaces depend on it.
type style struct {
	display bool // limits above and below
	script  bool // smaller, without space around operators
}

// parser reads TeX from left to right.
type parser struct {
	tex      string
	pos      int
	depth    int
	style    style
	font     font
	unstyled bool // letters look as in text in every font
}

func (p *parser) formula() ([]*node, error) {
	atoms, err := p.list("")
	if err != nil {
		return nil, err
	}
	if p.pos < len(p.tex) {
		return nil, p.stray()
	}
	return arrange(atoms, none, p.style.script), nil
}

// errorf returns an error about a position.
func errorf(what string, pos int, format string, args ...any) error {
	return fmt.Errorf("formula: %s at %d %s", what, pos, fmt.Sprintf(format, args...))
}

// stray returns the error for an unmatched end of a list.
func (p *parser) stray() error {
	what := p.peek()
	switch what {
	case "":
		return errorf("the end", p.pos, "comes too early")
	case "}":
		return errorf(what, p.pos, "closes nothing")
	case "&", `\\`:
		return errorf(what, p.pos, `is outside a table; the tables are %s`, environmentNames())
	case `\right`, `\middle`:
		return errorf(what, p.pos, `has no \left`)
	case `\end`:
		return errorf(what, p.pos, `has no \begin`)
	}
	return errorf(what, p.pos, "is out of place")
}

// skip skips white space.
func (p *parser) skip() {
	for p.pos < len(p.tex) && strings.IndexByte(" \t\r\n", p.tex[p.pos]) >= 0 {
		p.pos++
	}
}

// peek returns the next token: a command with its backslash or one character; empty
// at the end.
func (p *parser) peek() string {
	p.skip()
	rest := p.tex[p.pos:]
	if rest == "" {
		return ""
	}
	if rest[0] != '\\' {
		_, n := utf8.DecodeRuneInString(rest)
		return rest[:n]
	}
	n := 1
	for n < len(rest) && isLetter(rest[n]) {
		n++
	}
	if n == 1 && n < len(rest) {
		_, size := utf8.DecodeRuneInString(rest[1:])
		n += size
	}
	return rest[:n]
}

// accept reads a token if it comes next.
func (p *parser) accept(token string) bool {
	if p.peek() != token {
		return false
	}
	p.pos += len(token)
	return true
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// list reads atoms up to the end of a group, cell, fences or the input, or up to the token end,
// which it does not consume.
func (p *parser) list(end string) ([]atom, error) {
	var atoms []atom
	for {
		token := p.peek()
		switch token {
		case end, "", "}", "&", `\\`, `\end`, `\right`, `\middle`:
			return atoms, nil
		case `\displaystyle`, `\textstyle`:
			at := p.pos
			p.pos += len(token)
			p.style = style{display: token == `\displaystyle`}
			rest, err := p.list(end)
			if err != nil {
				return nil, err
			}
			n := el("mstyle", arrange(rest, none, false)...).set("displaystyle", fmt.Sprint(p.style.display)).set("scriptlevel", "0")
			return append(atoms, atom{class: ord, node: n, pos: at}), nil
		}
		a, err := p.nucleus()
		if err != nil {
			return nil, err
		}
		if a.class != glue {
			if a, err = p.scripts(a); err != nil {
				return nil, err
			}
		}
		atoms = append(atoms, a)
	}
}

// within calls read with another style and font and then restores the old ones.
func (p *parser) within(s style, f font, read func() error) error {
	oldStyle, oldFont := p.style, p.font
	p.style, p.font = s, f
	err := read()
	p.style, p.font = oldStyle, oldFont
	return err
}

// operand reads the argument of a command or script: a group in braces or one token, as in \frac12.
func (p *parser) operand(of string, at int) ([]atom, error) {
	switch p.peek() {
	case "{":
		return p.group()
	case "", "}", "&", `\\`, `\end`, `\right`, `\middle`, "^", "_", "'":
		return nil, errorf(of, at, "needs an argument at %d", p.pos)
	}
	if at := p.pos; isDigit(p.tex[at]) { // \frac12 is one half
		p.pos++
		a, err := p.digits(p.tex[at:p.pos], at)
		return []atom{a}, err
	}
	a, err := p.nucleus()
	if err != nil {
		return nil, err
	}
	return []atom{a}, nil
}

// group reads { ... }.
func (p *parser) group() (atoms []atom, err error) {
	at := p.pos
	p.pos++
	err = p.within(p.style, p.font, func() error {
		atoms, err = p.list("")
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case p.accept("}"):
		return atoms, nil
	case p.peek() == "":
		return nil, errorf("{", at, "is not closed")
	}
	return nil, p.stray()
}

// argument reads an operand as one element in a style.
func (p *parser) argument(of string, at int, s style) (n *node, err error) {
	err = p.within(s, p.font, func() error {
		atoms, err := p.operand(of, at)
		n = row(arrange(atoms, none, s.script))
		return err
	})
	return n, err
}

// single reads an operand as one atom, keeping the class of a single one.
func (p *parser) single(of string, at int) (atom, error) {
	atoms, err := p.operand(of, at)
	if err == nil && len(atoms) == 1 && atoms[0].class != glue {
		return atoms[0], nil
	}
	return atom{class: ord, node: row(arrange(atoms, none, p.style.script))}, err
}

// scripts reads the subscript and superscript of an atom, in any order.
func (p *parser) scripts(a atom) (atom, error) {
	var sub, sup *node
	var primes string
	limits := a.limits && (a.class != op || p.style.display)
	small := style{script: true}
	for {
		token, at := p.peek(), p.pos
		var err error
		switch token {
		case "_":
			if sub != nil {
				return a, errorf("_", at, "is a second subscript; put braces around the first part")
			}
			p.pos++
			sub, err = p.argument("_", at, small)
		case "^":
			if sup != nil {
				return a, errorf("^", at, "is a second superscript; put braces around the first part")
			}
			p.pos++
			sup, err = p.argument("^", at, small)
			if primes != "" {
				sup = el("mrow", leaf("mo", primes), sup)
				primes = ""
			}
		case "'":
			if sup != nil {
				return a, errorf("'", at, "is a second superscript; put braces around the first part")
			}
			p.pos++
			primes += "′"
		case `\limits`, `\nolimits`:
			if a.class != op {
				return a, errorf(token, at, "must follow an operator such as \\sum")
			}
			p.pos += len(token)
			limits = token == `\limits`
		default:
			if primes != "" {
				sup = leaf("mo", primes)
			}
			if limits && a.core != nil && a.class == op && !p.style.display && (sub != nil || sup != nil) {
				a.core.set("movablelimits", "false")
			}
			if base := a.node; base == a.core && slices.Contains(base.attrs, "minsize") && (sub != nil || sup != nil) {
				// Browsers stretch an operator in a row, not one under scripts;
				// the empty name makes it a row.
				a.node = el("mrow", base, leaf("mi", ""))
			}
			a.node = attach(a.node, sub, sup, limits)
			return a, nil
		}
		if err != nil {
			return a, err
		}
	}
}

// attach adds scripts or limits, if not nil, to an element.
func attach(base, sub, sup *node, limits bool) *node {
	tags := [3]string{"msub", "msup", "msubsup"}
	if limits {
		tags = [3]string{"munder", "mover", "munderover"}
	}
	switch {
	case sub == nil && sup == nil:
		return base
	case sup == nil:
		return el(tags[0], base, sub)
	case sub == nil:
		return el(tags[1], base, sup)
	}
	return el(tags[2], base, sub, sup)
}

// nucleus reads one atom without scripts.
func (p *parser) nucleus() (a atom, err error) {
	token, at := p.peek(), p.pos
	if p.depth++; p.depth > maxDepth {
		return a, errorf(token, at, "is nested more than %d levels deep", maxDepth)
	}
	defer func() {
		p.depth--
		a.pos = at
	}()
	if token == "{" {
		atoms, err := p.group()
		return atom{class: ord, node: row(arrange(atoms, none, p.style.script))}, err
	}
	if token[0] == '\\' {
		p.pos += len(token)
		return p.command(token, at)
	}
	c := token[0]
	switch {
	case isLetter(c):
		return p.letters()
	case isDigit(c), c == '.' && p.pos+1 < len(p.tex) && isDigit(p.tex[p.pos+1]) && (p.pos == 0 || p.tex[p.pos-1] != '.'):
		return p.number()
	}
	p.pos += len(token)
	switch token {
	case "+":
		return operator(bin, "+"), nil
	case "-":
		return operator(bin, "−"), nil
	case "*":
		return operator(bin, "∗"), nil
	case "=", "<", ">", ":":
		return operator(rel, token), nil
	case "(", "[":
		return fence(opening, token), nil
	case ")", "]":
		return fence(closing, token), nil
	case ",", ";":
		return operator(punct, token), nil
	case "/", ".", "?", "!":
		return flat(token), nil
	case "|":
		return bar("|"), nil
	case "~":
		return atom{class: glue, node: space(spaces[" "])}, nil
	case "_", "^", "'": // a script without base
		p.pos = at
		return atom{class: ord, node: el("mrow")}, nil
	}
	if s, ok := characters()[token]; ok {
		return p.symbol(s)
	}
	switch c {
	case '$':
		return a, errorf(token, at, `is not allowed; write the formula without dollar signs around it, and the sign itself as \$`)
	case '%', '#':
		return a, errorf(token, at, `is not known; write \%s`, token)
	}
	return a, errorf(fmt.Sprintf("%q", token), at, "is not known; symbols without a key are commands, such as \\le")
}

// characters maps characters to their symbols, for formulas that contain them directly.
var characters = sync.OnceValue(func() map[string]symbol {
	m := map[string]symbol{}
	for _, s := range symbols() {
		if s.text[0] >= utf8.RuneSelf && s.text != "‖" {
			m[s.text] = s
		}
	}
	return m
})

// flat returns an operator without surrounding space.
func flat(text string) atom {
	a := operator(ord, text)
	a.core.set("lspace", "0").set("rspace", "0")
	return a
}

// fence returns a delimiter of letter height.
func fence(c class, text string) atom {
	a := operator(c, text)
	a.core.set("stretchy", "false")
	side(a)
	return a
}

// side marks which side a bar is on, since both look alike.
func side(a atom) {
	if a.core.text != "|" && a.core.text != "‖" {
		return
	}
	switch a.class {
	case opening:
		a.core.set("form", "prefix")
	case closing:
		a.core.set("form", "postfix")
	}
}

func bar(text string) atom {
	a := fence(ord, text)
	a.bar = true
	return a
}

// letters reads one letter, or a word if the font forms words.
func (p *parser) letters() (atom, error) {
	start := p.pos
	p.pos++
	if p.font == roman || p.font == italic {
		for p.pos < len(p.tex) && isLetter(p.tex[p.pos]) {
			p.pos++
		}
	}
	return p.identifier(p.tex[start:p.pos], start)
}

// identifier returns a name in the current font.
func (p *parser) identifier(name string, at int) (atom, error) {
	text, err := p.inFont(name, at)
	n := leaf("mi", text)
	// MathML slants single letters unless told otherwise; TeX sets these upright.
	if r, size := utf8.DecodeRuneInString(text); size == len(text) {
		if 'Α' <= r && r <= 'Ω' || r == '∇' || p.font == roman && isLetter(text[0]) {
			n.set("mathvariant", "normal")
		}
	}
	return atom{class: ord, node: n}, err
}

// inFont converts letters and digits to the current font; other characters are unchanged.
func (p *parser) inFont(s string, at int) (string, error) {
	if p.unstyled {
		return s, nil
	}
	var b strings.Builder
	for _, r := range s {
		l, ok := p.font.letter(r)
		if !ok && r < utf8.RuneSelf && r != '.' {
			return "", errorf(string(r), at, "does not exist in this font")
		}
		b.WriteRune(l)
	}
	return b.String(), nil
}

// number reads digits with at most one decimal point.
func (p *parser) number() (atom, error) {
	start, point := p.pos, false
	for p.pos < len(p.tex) {
		c := p.tex[p.pos]
		if c == '.' && !point && p.pos+1 < len(p.tex) && isDigit(p.tex[p.pos+1]) {
			point = true
		} else if !isDigit(c) {
			break
		}
		p.pos++
	}
	return p.digits(p.tex[start:p.pos], start)
}

// digits returns a number in the current font.
func (p *parser) digits(number string, at int) (atom, error) {
	text, err := p.inFont(number, at)
	return atom{class: ord, node: leaf("mn", text)}, err
}

func (p *parser) symbol(s symbol) (atom, error) {
	switch s.class {
	case ord:
		return p.identifier(s.text, p.pos)
	case inner:
		return atom{class: inner, node: leaf("mi", s.text)}, nil
	case opening, closing:
		return fence(s.class, s.text), nil
	}
	a := operator(s.class, s.text)
	a.limits = s.class == op && !strings.Contains("∫∬∭∮", s.text)
	if s.text == "∣" || s.text == "∥" {
		a.core.set("stretchy", "false")
	}
	return a, nil
}

// suggestions lists the commands with the same beginning as an unknown one.
func suggestions(name string) string {
	var like []string
	for _, known := range commandNames() {
		if name != "" && isLetter(name[0]) && known[0] == name[0] {
			like = append(like, `\`+known)
		}
	}
	if like == nil {
		return ""
	}
	return "; with the same letter begin " + strings.Join(like, " ")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
