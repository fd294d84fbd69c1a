package formula

import "strings"

// environments maps environments to the delimiters around them and the alignment of their columns,
// l, c or r, which repeats.
var environments = map[string]struct {
	open, close string
	columns     string
	aligned     bool // equations, in display style
}{
	"matrix":  {"", "", "c", false},
	"pmatrix": {"(", ")", "c", false},
	"bmatrix": {"[", "]", "c", false},
	"Bmatrix": {"{", "}", "c", false},
	"vmatrix": {"|", "|", "c", false},
	"Vmatrix": {"‖", "‖", "c", false},
	"array":   {"", "", "", false},
	"cases":   {"{", "", "l", false},
	"aligned": {"", "", "rl", true}, "align*": {"", "", "rl", true}, "split": {"", "", "rl", true},
	"gathered": {"", "", "c", true}, "gather*": {"", "", "c", true},
	"eqnarray*": {"", "", "rcl", true},
}

func environmentNames() string { return strings.Join(sortedKeys(environments), " ") }

// environment reads \begin{name} ... \end{name}.
func (p *parser) environment(begin string, at int) (atom, error) {
	name, _, err := p.raw(begin, at)
	if err != nil {
		return atom{}, err
	}
	env, ok := environments[name]
	if !ok {
		return atom{}, errorf(`\begin{`+name+`}`, at, "is not known; known are %s", environmentNames())
	}
	if name == "array" {
		spec, start, err := p.raw(`\begin{array}`, at)
		if err != nil {
			return atom{}, err
		}
		env.columns = strings.ReplaceAll(spec, " ", "")
		if i := strings.IndexFunc(env.columns, func(r rune) bool { return !strings.ContainsRune("lcr", r) }); i >= 0 || env.columns == "" {
			return atom{}, errorf(`\begin{array}`, at, "has columns %q at %d; allowed are l, c and r", spec, start)
		}
	}
	cell, edge := style{script: p.style.script}, none
	if env.aligned {
		cell, edge = style{display: true}, ord
	}
	table, err := p.table(env.columns, cell, edge)
	if err != nil {
		return atom{}, err
	}
	if name == "array" {
		for _, tr := range table.kids {
			if len(tr.kids) > len(env.columns) {
				return atom{}, errorf(`\begin{array}`, at, "has a row of %d cells for %d columns", len(tr.kids), len(env.columns))
			}
		}
	}
	here := p.pos
	if !p.accept(`\end`) {
		if p.peek() == "" {
			return atom{}, errorf(`\begin{`+name+`}`, at, `has no \end{%s}`, name)
		}
		return atom{}, p.stray()
	}
	if end, _, err := p.raw(`\end`, here); err != nil {
		return atom{}, err
	} else if end != name {
		return atom{}, errorf(`\end{`+end+`}`, here, `is where \end{%s} should be`, name)
	}
	if env.aligned {
		table.set("displaystyle", "true")
		if env.columns == "rl" { // the relations bring their own space
			table.set("class", "aligned")
		}
	}
	if env.open == "" && env.close == "" {
		return atom{class: ord, node: table}, nil
	}
	nodes := []*node{leaf("mo", env.open).set("form", "prefix"), table}
	if env.close != "" {
		nodes = append(nodes, leaf("mo", env.close).set("form", "postfix"))
	}
	return atom{class: ord, node: el("mrow", nodes...), fenced: true}, nil
}

// table reads the rows of a table.
func (p *parser) table(columns string, s style, edge class) (*node, error) {
	table, tr := el("mtable"), el("mtr")
	for {
		var atoms []atom
		err := p.within(s, plain, func() (err error) {
			atoms, err = p.list("")
			return err
		})
		if err != nil {
			return nil, err
		}
		td := el("mtd", arrange(atoms, edge, s.script)...)
		switch columns[len(tr.kids)%len(columns)] {
		case 'l':
			td.set("class", "left")
		case 'r':
			td.set("class", "right")
		}
		tr.kids = append(tr.kids, td)

		here := p.pos
		switch {
		case p.accept("&"):
		case p.accept(`\\`):
			if strings.HasPrefix(p.tex[p.pos:], "[") {
				return nil, errorf(`\\[`, here, `is not known; the style sheet sets the distance of rows`)
			}
			table.kids = append(table.kids, tr)
			tr = el("mtr")
		default:
			if len(tr.kids) > 1 || len(td.kids) > 0 || len(table.kids) == 0 {
				table.kids = append(table.kids, tr)
			}
			return table, nil
		}
	}
}

// substack reads \substack{a \\ b}: the lines of a limit.
func (p *parser) substack(name string, at int) (atom, error) {
	if !p.accept("{") {
		return atom{}, errorf(name, at, "needs braces at %d", p.pos)
	}
	table, err := p.table("c", p.style, none)
	if err != nil {
		return atom{}, err
	}
	if !p.accept("}") {
		return atom{}, errorf(name, at, "has an unclosed brace at %d", p.pos)
	}
	return atom{class: ord, node: table.set("class", "substack")}, nil
}
