package formula

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// command reads what follows a command, given its name with the backslash and its position.
type command func(p *parser, name string, at int) (atom, error)

// commandTable is built on first use: its entries call the parser, which refers to it.
var commandTable struct {
	sync.Once
	entries map[string]command
}

// commands returns the commands with arguments or special meaning.
func commands() map[string]command {
	commandTable.Do(func() { commandTable.entries = allCommands() })
	return commandTable.entries
}

func allCommands() map[string]command {
	commands := map[string]command{
		"frac": (*parser).fraction, "dfrac": (*parser).fraction, "tfrac": (*parser).fraction,
		"sqrt": (*parser).root, "left": (*parser).fences, "not": (*parser).negation, "dots": (*parser).dots,
		"text": (*parser).words, "textrm": (*parser).words, "textbf": (*parser).words, "textit": (*parser).words,
		"operatorname": (*parser).operatorName, "begin": (*parser).environment, "substack": (*parser).substack,
		"underset": (*parser).stack, "overset": (*parser).stack, "stackrel": (*parser).stack,
		"|": (*parser).norm, "Vert": (*parser).norm, "vert": (*parser).norm,
		"!": (*parser).back, "overline": (*parser).line, "underline": (*parser).line,
	}
	for name := range accents {
		commands[name] = (*parser).accent
	}
	for name := range fonts {
		commands[name] = (*parser).letterFont
	}
	for name := range bigs {
		for _, side := range []string{"", "l", "m", "r"} {
			commands[name+side] = (*parser).big
		}
	}
	return commands
}

// commandNames lists all known commands, without the backslash.
func commandNames() []string {
	names := []string{"displaystyle", "textstyle", "limits", "nolimits", "right", "middle", "end"}
	names = append(names, sortedKeys(commands())...)
	names = append(names, sortedKeys(symbols())...)
	names = append(names, sortedKeys(named)...)
	names = append(names, sortedKeys(spaces)...)
	slices.Sort(names)
	return names
}

// command reads the rest of a command whose name has been read.
func (p *parser) command(token string, at int) (atom, error) {
	name := token[1:]
	if s, ok := symbols()[name]; ok {
		return p.symbol(s)
	}
	if f, ok := commands()[name]; ok {
		return f(p, token, at)
	}
	if limits, ok := named[name]; ok {
		return atom{class: op, node: leaf("mi", name), name: true, limits: limits}, nil
	}
	if width, ok := spaces[name]; ok {
		return atom{class: glue, node: space(width)}, nil
	}
	if name == "limits" || name == "nolimits" {
		return atom{}, errorf(token, at, "must follow an operator such as \\sum")
	}
	return atom{}, errorf(token, at, "is not known%s", suggestions(name))
}

func (p *parser) fraction(name string, at int) (atom, error) {
	inner := style{script: p.style.script || !p.style.display}
	n := el("mfrac")
	switch name {
	case `\dfrac`:
		n.set("displaystyle", "true")
		inner.script = false
	case `\tfrac`:
		n.set("displaystyle", "false")
		inner.script = true
	}
	for range 2 {
		part, err := p.argument(name, at, inner)
		if err != nil {
			return atom{}, err
		}
		n.kids = append(n.kids, part)
	}
	return atom{class: ord, node: n}, nil
}

func (p *parser) root(name string, at int) (atom, error) {
	var index *node
	if p.accept("[") {
		err := p.within(style{script: true}, p.font, func() error {
			atoms, err := p.list("]")
			index = row(arrange(atoms, none, true))
			return err
		})
		if err != nil {
			return atom{}, err
		}
		if !p.accept("]") {
			return atom{}, errorf(name, at, "has an index whose ] is missing at %d", p.pos)
		}
	}
	radicand, err := p.argument(name, at, p.style)
	if err != nil {
		return atom{}, err
	}
	if index != nil {
		return atom{class: ord, node: el("mroot", radicand, index)}, nil
	}
	return atom{class: ord, node: el("msqrt", radicand)}, nil
}

// delimiter reads the delimiter after \left, \right, \middle and \big.
func (p *parser) delimiter(of string, at int) (symbol, error) {
	token := p.peek()
	p.pos += len(token)
	switch token {
	case "(", "[":
		return symbol{token, opening}, nil
	case ")", "]":
		return symbol{token, closing}, nil
	case "|", `\vert`:
		return symbol{"|", ord}, nil
	case `\|`, `\Vert`:
		return symbol{"‖", ord}, nil
	case "/", ".":
		return symbol{token, ord}, nil
	case "<":
		return symbol{"⟨", opening}, nil
	case ">":
		return symbol{"⟩", closing}, nil
	}
	if strings.HasPrefix(token, `\`) {
		if s := symbols()[token[1:]]; s.class == opening || s.class == closing {
			return s, nil
		}
	}
	return symbol{}, errorf(of, at, `needs a delimiter at %d: one of ( ) [ ] \{ \} | \| / < > \langle \rangle \lceil \rceil \lfloor \rfloor \lvert \rvert \lVert \rVert, or a point for none`, p.pos-len(token))
}

// tall returns a delimiter that grows with its content; nil for a point.
func tall(s symbol, form string) []*node {
	if s.text == "." {
		return nil
	}
	n := leaf("mo", s.text).set("form", form)
	switch {
	case s.text == "/" || form == "infix":
		n.set("stretchy", "true").set("symmetric", "true")
	case (s.class == opening) != (form == "prefix"): // ]0, 1[
		n.set("fence", "true")
	}
	return []*node{n}
}

// fences reads \left ... \middle ... \right.
func (p *parser) fences(name string, at int) (atom, error) {
	d, err := p.delimiter(name, at)
	if err != nil {
		return atom{}, err
	}
	nodes := tall(d, "prefix")
	for {
		err := p.within(p.style, p.font, func() error {
			atoms, err := p.list("")
			nodes = append(nodes, arrange(atoms, none, p.style.script)...)
			return err
		})
		if err != nil {
			return atom{}, err
		}
		token, here := p.peek(), p.pos
		if token != `\middle` && token != `\right` {
			return atom{}, errorf(name, at, `has no matching \right before %d; for an invisible one write \right.`, here)
		}
		p.pos += len(token)
		if d, err = p.delimiter(token, here); err != nil {
			return atom{}, err
		}
		if token == `\right` {
			nodes = append(nodes, tall(d, "postfix")...)
			return atom{class: ord, node: el("mrow", nodes...), fenced: true}, nil
		}
		nodes = append(nodes, tall(d, "infix")...)
	}
}

// big reads \big, \bigl, \bigm, \bigr and their larger variants with a delimiter.
func (p *parser) big(name string, at int) (atom, error) {
	d, err := p.delimiter(name, at)
	if err != nil {
		return atom{}, err
	}
	if d.text == "." {
		return atom{}, errorf(name, at, "needs a visible delimiter")
	}
	height, ok := bigs[name[1:]]
	c := d.class
	if !ok {
		height = bigs[name[1:len(name)-1]]
		c = map[byte]class{'l': opening, 'm': rel, 'r': closing}[name[len(name)-1]]
	}
	a := operator(c, d.text)
	a.core.set("stretchy", "true").set("symmetric", "true").set("minsize", height).set("maxsize", height)
	side(a)
	switch {
	case c == ord && d.text == "/":
		a.core.set("lspace", "0").set("rspace", "0")
	case c == ord:
		a.bar = true
	}
	return a, nil
}

func (p *parser) norm(name string, _ int) (atom, error) {
	if name == `\vert` {
		return bar("|"), nil
	}
	return bar("‖"), nil
}

// back returns \!, as a class for the style sheet, because MathML Core has no negative spaces.
func (p *parser) back(string, int) (atom, error) {
	return atom{class: glue, node: space("0").set("class", "back")}, nil
}

// line reads \overline and \underline, which the style sheet draws as borders, because few fonts
// have a stretchy line.
func (p *parser) line(name string, at int) (atom, error) {
	base, err := p.argument(name, at, p.style)
	return atom{class: ord, node: el("mrow", base).set("class", name[1:])}, err
}

func (p *parser) negation(name string, at int) (atom, error) {
	a, err := p.single(name, at)
	if err != nil {
		return a, err
	}
	text, ok := negated[a.node.text]
	if !ok {
		return a, errorf(name, at, "cannot be combined with what follows; allowed are %s", strings.Join(sortedKeys(negated), " "))
	}
	a.node.text = text
	return a, nil
}

func (p *parser) dots(string, int) (atom, error) {
	return atom{class: inner, node: leaf("mi", "…"), dots: true}, nil
}

func (p *parser) accent(name string, at int) (atom, error) {
	base, err := p.argument(name, at, p.style)
	if err != nil {
		return atom{}, err
	}
	acc := accents[name[1:]]
	mark := leaf("mo", acc.text)
	if !acc.stretchy {
		mark.set("stretchy", "false")
	}
	if name == `\vec` {
		mark.set("mathsize", "65%") // the arrow of a text is wider than a letter
	}
	n := el(acc.tag, base, mark)
	if acc.tag == "mover" {
		n.set("accent", "true")
	} else {
		n.set("accentunder", "true")
	}
	return atom{class: ord, node: n, limits: strings.HasSuffix(name, "brace")}, nil
}

func (p *parser) letterFont(name string, at int) (a atom, err error) {
	err = p.within(p.style, fonts[name[1:]], func() error {
		a, err = p.single(name, at)
		return err
	})
	return a, err
}

// stack reads \overset, \underset and \stackrel: the small part, then the large.
func (p *parser) stack(name string, at int) (atom, error) {
	small, err := p.argument(name, at, style{script: true})
	if err != nil {
		return atom{}, err
	}
	a, err := p.single(name, at)
	if err != nil {
		return atom{}, err
	}
	if a.class == op && a.core != nil {
		a.core.set("movablelimits", "false")
	}
	a.bar = false
	if name == `\underset` {
		a.node = el("munder", a.node, small)
	} else {
		a.node = el("mover", a.node, small)
	}
	if name == `\stackrel` {
		a.class = rel
	}
	return a, nil
}

// operatorName reads \operatorname{name} and \operatorname*{name}, which has limits.
func (p *parser) operatorName(name string, at int) (atom, error) {
	limits := p.accept("*")
	raw, start, err := p.raw(name, at)
	if err != nil {
		return atom{}, err
	}
	text := strings.NewReplacer(" ", "", `\,`, "\u2009", `\ `, " ", "~", " ").Replace(raw)
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" \u2009-", r) {
			return atom{}, errorf(name, at, "has %q in its name, at %d or later; allowed are letters, digits, - and spaces", r, start)
		}
	}
	if strings.TrimSpace(text) == "" {
		return atom{}, errorf(name, at, "needs a name")
	}
	n := leaf("mi", text)
	if utf8.RuneCountInString(text) == 1 {
		n.set("mathvariant", "normal")
	}
	return atom{class: op, node: n, name: true, limits: limits}, nil
}

// raw reads { ... } unparsed and returns the position of its content.
func (p *parser) raw(of string, at int) (string, int, error) {
	if !p.accept("{") {
		return "", 0, errorf(of, at, "needs braces at %d", p.pos)
	}
	start, depth := p.pos, 1
	for ; p.pos < len(p.tex); p.pos++ {
		switch p.tex[p.pos] {
		case '\\':
			p.pos++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				p.pos++
				return p.tex[start : p.pos-1], start, nil
			}
		}
	}
	p.pos = len(p.tex)
	return "", 0, errorf(of, at, "has an unclosed brace")
}

// words reads text with formulas between dollar signs.
func (p *parser) words(name string, at int) (atom, error) {
	raw, start, err := p.raw(name, at)
	if err != nil {
		return atom{}, err
	}
	var nodes []*node
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			nodes = append(nodes, prose(name, b.String()))
			b.Reset()
		}
	}
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRuneInString(raw[i:])
		switch {
		case r == '\\':
			next, n := utf8.DecodeRuneInString(raw[i+1:])
			if !strings.ContainsRune(`{}$%#&_ `, next) {
				return atom{}, errorf(`\`+string(next), start+i, `is not known in %s; known are \{ \} \$ \%% \# \& \_`, name)
			}
			b.WriteRune(next)
			size += n
		case r == '$':
			end := strings.IndexByte(raw[i+1:], '$')
			if end < 0 {
				return atom{}, errorf("$", start+i, "is not closed")
			}
			flush()
			sub := parser{tex: p.tex[:start+i+1+end], pos: start + i + 1, depth: p.depth, style: style{script: p.style.script}}
			formula, err := sub.formula()
			if err != nil {
				return atom{}, err
			}
			nodes = append(nodes, formula...)
			size += end + 1
		case r == '{' || r == '}':
		case strings.ContainsRune("%#&^_", r): // special characters of TeX
			return atom{}, errorf(string(r), start+i, `is not known in %s; known are \{ \} \$ \%% \# \& \_`, name)
		case r == '~':
			b.WriteRune('\u00a0')
		case r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r) || r == 0xFFFE || r == 0xFFFF:
			return atom{}, errorf(fmt.Sprintf("%q", r), start+i, "is not text")
		default:
			b.WriteRune(r)
		}
		i += size
	}
	flush()
	return atom{class: ord, node: row(nodes)}, nil
}

// prose returns text that keeps the spaces at its ends.
func prose(name, text string) *node {
	body := strings.Join(strings.Fields(strings.ReplaceAll(text, "\u00a0", "\x00")), " ")
	body = strings.ReplaceAll(body, "\x00", "\u00a0")
	if strings.TrimLeft(text, " \t\r\n") != text {
		body = "\u00a0" + body
	}
	if body != "\u00a0" && strings.TrimRight(text, " \t\r\n") != text {
		body += "\u00a0"
	}
	switch name {
	case `\textbf`:
		return el("mtext", leaf("b", body))
	case `\textit`:
		return el("mtext", leaf("i", body))
	}
	return leaf("mtext", body)
}
