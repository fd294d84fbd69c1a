package kernel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// An expression is made of kernels and numbers:
//
//	sum     = product { "+" product }
//	product = factor { "*" factor }
//	factor  = number | kernel | "(" sum ")"
//	kernel  = name [ "(" [ parameter "=" value { "," parameter "=" value } ] ")" ]
//
// Omitted values take their defaults. A kernel that is not combined is an expression with a single
// part.
type expression struct {
	parts []part // the kernels, in order of appearance
	root  node
}

// part is a kernel in an expression.
type part struct {
	Kernel
	row Entry
}

// node is a number, a part, or the sum or product of other nodes, left to right.
type node struct {
	kind   nodeKind
	number float64
	part   int // index of the part
	of     []node
}

type nodeKind int

const (
	isPart nodeKind = iota
	isNumber
	isSum
	isProduct
)

// Bounds that keep an expression from causing excessive work.
const (
	maxExpression = 2000
	maxParts      = 32
	maxDepth      = 16 // of nested brackets
)

// expression returns k as an expression, with fitted state attached to the parts it belongs to.
// It does not check the bounds of parameters.
func (k Kernel) expression() (expression, error) {
	row, err := Lookup(k.Name)
	if err != nil {
		return expression{}, err
	}
	e := expression{parts: []part{{k, row}}}
	if k.Name == combined.Name {
		if e, err = parse(k.Values.Text(expressionParam.Name), false); err != nil {
			return expression{}, fmt.Errorf("kernel %s: %w", k.Name, err)
		}
	}
	learnt := k.Fitted
	for i := range e.parts {
		p := &e.parts[i]
		if p.Fitted = nil; p.row.Learns() && len(learnt) > 0 {
			p.Fitted, learnt = learnt[:1], learnt[1:]
		}
	}
	return e, nil
}

// takes returns the kind of objects that all parts compare.
func (e expression) takes() dataset.Kind { return e.parts[0].row.Takes }

// learns returns the number of parts that are fitted to the training set.
func (e expression) learns() int {
	return lists.Count(e.parts, func(p part) bool { return p.row.Learns() })
}

// definite reports whether every matrix of n is positive semidefinite: the parts and constants are,
// and sums and products preserve it.
func (e expression) definite(n node) bool {
	switch n.kind {
	case isPart:
		p := e.parts[n.part]
		return p.row.PSD && p.Values.Number("coef0") >= 0
	case isNumber:
		return n.number >= 0
	}
	return !slices.ContainsFunc(n.of, func(n node) bool { return !e.definite(n) })
}

// only returns the subexpression of a node of e with the parts it contains.
func (e expression) only(n node) expression {
	var some expression
	var copied func(n node) node
	copied = func(n node) node {
		if n.kind == isPart {
			some.parts = append(some.parts, e.parts[n.part])
			n.part = len(some.parts) - 1
		}
		n.of = lists.Map(n.of, copied)
		return n
	}
	some.root = copied(n)
	return some
}

// factored splits n into a number times the rest, which is nil if n consists of numbers only.
func (n node) factored() (times float64, rest *node) {
	switch n.kind {
	case isNumber:
		return n.number, nil
	case isProduct:
	default:
		return 1, &n
	}
	times = 1
	var others []node
	for _, m := range n.of {
		if number, rest := m.factored(); rest == nil {
			times *= number
		} else {
			others = append(others, m)
		}
	}
	switch len(others) {
	case 0:
		return times, nil
	case 1:
		return times, &others[0]
	}
	return times, &node{kind: isProduct, of: others}
}

// valuer writes values of the parts of an expression.
type valuer interface {
	part(dst []float64, i int)
}

// eval writes the values of n to dst. stack is scratch for depth() times as many values.
func (n *node) eval(dst, stack []float64, v valuer) {
	switch n.kind {
	case isPart:
		v.part(dst, n.part)
	case isNumber:
		for i := range dst {
			dst[i] = n.number
		}
	default:
		n.of[0].eval(dst, stack, v)
		next, stack := stack[:len(dst)], stack[len(dst):]
		for a := range n.of[1:] {
			n.of[a+1].eval(next, stack, v)
			if n.kind == isSum {
				floats.Add(dst, next)
			} else {
				floats.Mul(dst, next)
			}
		}
	}
}

// depth returns the number of intermediate values that eval holds at once.
func (n *node) depth() int {
	deep := 0
	for i := range n.of {
		below := n.of[i].depth()
		if i > 0 {
			below++
		}
		deep = max(deep, below)
	}
	return deep
}

// String returns the expression with all its values, readable by parse.
func (e expression) String() string { return e.text(e.root) }

func (e expression) text(n node) string {
	switch n.kind {
	case isNumber:
		return strconv.FormatFloat(n.number, 'g', -1, 64)
	case isPart:
		p := e.parts[n.part]
		if len(p.row.Params) == 0 {
			return p.Name
		}
		values := lists.Map(p.row.Params, func(q param.Param) string { return q.Name + "=" + p.Values.Text(q.Name) })
		return p.Name + "(" + strings.Join(values, ", ") + ")"
	}
	sign := lists.Either(n.kind == isProduct, "*", " + ")
	texts := make([]string, len(n.of))
	for i, m := range n.of {
		texts[i] = e.text(m)
		if m.kind == isSum || m.kind == n.kind {
			texts[i] = "(" + texts[i] + ")"
		}
	}
	return strings.Join(texts, sign)
}

// parse parses an expression. Errors give the position of the unexpected character. If strict is
// set, as for user input, values out of bounds are errors.
func parse(text string, strict bool) (expression, error) {
	p := parser{text: text, strict: strict}
	p.e.root = p.sum()
	if !p.end() {
		p.fail(p.at, "expected + or *, found %s", p.here())
	}
	if len(p.e.parts) == 0 {
		p.fail(0, "expected a kernel, found only numbers")
	}
	if p.err != nil {
		return expression{}, p.err
	}
	return p.e, nil
}

// parser parses one text. After the first error it behaves as if the text had ended.
type parser struct {
	text   string
	at     int // byte offset
	strict bool
	depth  int
	e      expression
	err    error
}

// fail records the first error, at a byte offset.
func (p *parser) fail(at int, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("character %d: %s", utf8.RuneCountInString(p.text[:at])+1, fmt.Sprintf(format, args...))
		p.at = len(p.text)
	}
}

// end skips blanks and reports whether the input has ended.
func (p *parser) end() bool {
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		if !unicode.IsSpace(r) {
			return false
		}
		p.at += size
	}
	return true
}

// here returns the text that follows, for messages.
func (p *parser) here() string {
	if p.end() {
		return "the end"
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return strconv.Quote(string(r))
}

// next skips a sign, after blanks, and reports whether it was there.
func (p *parser) next(sign byte) bool {
	if p.end() || p.text[p.at] != sign {
		return false
	}
	p.at++
	return true
}

// while consumes and returns the characters for which belongs is true.
func (p *parser) while(belongs func(r rune) bool) string {
	rest := p.text[p.at:]
	n := strings.IndexFunc(rest, func(r rune) bool { return !belongs(r) })
	if n < 0 {
		n = len(rest)
	}
	p.at += n
	return rest[:n]
}

func (p *parser) sum() node     { return p.several(isSum, '+', p.product) }
func (p *parser) product() node { return p.several(isProduct, '*', p.factor) }

// several parses a sequence separated by a sign. A single element is returned as it is.
func (p *parser) several(kind nodeKind, sign byte, read func() node) node {
	n := node{kind: kind, of: []node{read()}}
	for p.next(sign) {
		n.of = append(n.of, read())
	}
	if len(n.of) == 1 {
		return n.of[0]
	}
	return n
}

func (p *parser) factor() (n node) {
	switch {
	case p.end():
	case p.next('('):
		if p.depth++; p.depth > maxDepth {
			p.fail(p.at-1, "expected at most %d nested brackets", maxDepth)
		}
		if n = p.sum(); !p.next(')') {
			p.fail(p.at, "expected +, * or ), found %s", p.here())
		}
		p.depth--
		return n
	case strings.IndexByte("0123456789.-", p.text[p.at]) >= 0:
		return p.number()
	default:
		if r, _ := utf8.DecodeRuneInString(p.text[p.at:]); unicode.IsLetter(r) {
			return p.kernel()
		}
	}
	p.fail(p.at, "expected a kernel, a number or (, found %s", p.here())
	return n
}

// number parses a number without a leading plus: 0.5, -2, 1e+3.
func (p *parser) number() node {
	first, last := p.at, rune(0)
	text := p.while(func(r rune) bool {
		digit := r >= '0' && r <= '9' || r == '.' || (r == 'e' || r == 'E') && last != 0
		sign := (r == '-' || r == '+') && (last == 'e' || last == 'E') || r == '-' && last == 0
		last = r
		return digit || sign
	})
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		p.fail(first, "expected a finite number, found %q", text)
	}
	return node{kind: isNumber, number: v}
}

func inName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-'
}

func (p *parser) kernel() node {
	first := p.at
	name := p.while(inName)
	row, err := lookup(parts, name)
	switch before := p.e.parts; {
	case err != nil:
		p.fail(first, "%v", err)
	case len(before) > 0 && before[0].row.Takes != row.Takes:
		p.fail(first, "%s compares %s, but %s before it compares %s: all kernels must compare the same kind of object", name, row.Takes.Words(), before[0].Name, before[0].row.Takes.Words())
	case len(before) == maxParts:
		p.fail(first, "expected at most %d kernels", maxParts)
	}
	p.e.parts = append(p.e.parts, part{Kernel{Name: name, Values: p.values(row)}, row})
	return node{kind: isPart, part: len(p.e.parts) - 1}
}

// values parses the parameters of a kernel, if any, and adds the defaults of the others.
func (p *parser) values(row Entry) param.Values {
	given := param.Values{}
	if p.next('(') {
		for first := true; p.err == nil && !p.next(')'); first = false {
			if !first && !p.next(',') {
				p.fail(p.at, "expected a comma or ), found %s", p.here())
				break
			}
			p.end()
			at := p.at
			name := p.while(inName)
			i := slices.IndexFunc(row.Params, func(q param.Param) bool { return q.Name == name })
			switch {
			case name == "":
				p.fail(at, "expected a parameter of %s, found %s", row.Name, p.here())
			case i < 0:
				p.fail(at, "%s has no parameter %s; it has %s", row.Name, name, names(row.Params))
			case given.Has(name):
				p.fail(at, "%s is given twice", name)
			case !p.next('='):
				p.fail(p.at, "expected =, found %s", p.here())
			default:
				p.end()
				at = p.at
				text := strings.TrimSpace(p.while(func(r rune) bool { return r != ',' && r != ')' }))
				if p.strict {
					if err := row.Params[i].Check(text); err != nil {
						p.fail(at, "%v", err)
					}
				}
				given = given.With(name, row.Params[i].Read(text))
			}
		}
	}
	values := param.Values{}
	for _, q := range row.Params {
		v := q.Read(q.Default)
		if given.Has(q.Name) {
			v = given[q.Name]
		}
		values[q.Name] = v
	}
	return values
}

// names lists the names of parameters.
func names(ps []param.Param) string {
	if len(ps) == 0 {
		return "none"
	}
	return strings.Join(lists.Map(ps, func(p param.Param) string { return p.Name }), ", ")
}
