package formula

// class is the class of an atom, which determines the space around it.
type class int

const (
	none class = iota // beyond the ends of a row
	ord
	op
	bin
	rel
	opening
	closing
	punct
	inner // dots
	glue  // spaces, which do not affect the classes around them
)

// atom is a part of a formula that can carry scripts.
type atom struct {
	class class
	node  *node
	core  *node // the operator <mo> inside node that the spacing goes to, or nil
	pos   int   // byte position

	name   bool // a function with a name: op without core
	limits bool // scripts are limits
	fenced bool // between \left and \right
	dots   bool // \dots: low or centred, depending on what follows
	bar    bool // a bar that may open or close
}

func operator(c class, text string) atom {
	n := leaf("mo", text)
	return atom{class: c, node: n, core: n}
}

// arrange determines the classes of a row's atoms and the spaces between them, and returns their
// elements. edge is the class assumed before and after the row: none, or ord for the cells of
// aligned equations. In scripts operators have no space around them.
func arrange(atoms []atom, edge class, script bool) []*node {
	atoms = pairBars(atoms)
	ordinary(atoms, edge)
	var out []*node
	for i := range atoms {
		a := &atoms[i]
		if a.class == glue {
			out = append(out, a.node)
			continue
		}
		prev, next := neighbour(atoms, i, -1), neighbour(atoms, i, 1)
		before, after := edge, edge
		if prev != nil {
			before = prev.class
			if !prev.name && gap(prev, a, script) {
				out = append(out, space(thin))
			}
		}
		if next != nil {
			after = next.class
		}
		if a.dots && (after == bin || after == rel) {
			a.node.text = "⋯"
		}
		if a.core != nil {
			spacing(a, before, after, script)
		}
		if a.class == bin && (prev == nil || next == nil) {
			a.core.set("form", "infix") // otherwise prefix or postfix at the ends of a cell
		}
		out = append(out, a.node)
		if a.name && next != nil && (after == ord || after == op || after == opening || after == inner) {
			apply := leaf("mo", "\u2061") // function application, invisible
			if gap(a, next, script) {
				apply.set("rspace", thin)
			}
			out = append(out, apply)
		}
	}
	return out
}

// neighbour returns the next atom from i in a direction that is not a space.
func neighbour(atoms []atom, i, step int) *atom {
	for i += step; i >= 0 && i < len(atoms); i += step {
		if atoms[i].class != glue {
			return &atoms[i]
		}
	}
	return nil
}

// gap reports whether a thin space belongs between two atoms that are not operators:
// around function names (but not before their parentheses) and dots.
func gap(a, b *atom, script bool) bool {
	switch {
	case b.name && (a.class == ord || a.class == closing || a.class == inner):
		return true
	case a.name:
		return b.class == op || b.class == inner || b.class == ord && !b.fenced
	case script:
		return false
	case b.class == inner:
		return a.class == ord || a.class == closing
	}
	return a.class == inner && (b.class == ord || b.class == opening || b.class == punct || b.class == inner)
}

// spacing corrects the space around an operator where the operator dictionary of
// MathML Core differs from TeX.
func spacing(a *atom, before, after class, script bool) {
	left, right := "", ""
	switch a.class {
	case op:
		if before != ord && before != closing && before != inner {
			left = "0"
		}
		if after == none || after == opening || after == closing || after == punct {
			right = "0"
		}
	case bin:
		if script {
			left, right = "0", "0"
		}
	case rel:
		if a.core.text == ":" { // a punctuation mark in the dictionary
			left, right = "0.2778em", "0.2778em"
		}
		if script || before == none || before == rel || before == opening {
			left = "0"
		}
		if script || after == none || after == rel || after == closing || after == punct {
			right = "0"
		}
	case punct:
		if script || after == none || after == closing || after == punct {
			right = "0"
		}
	}
	if left != "" {
		a.core.set("lspace", left)
	}
	if right != "" {
		a.core.set("rspace", right)
	}
}

// ordinary turns operators without an operand on one side into ordinary signs: the minus of -x, the
// dots of k(⋅, ⋅).
func ordinary(atoms []atom, edge class) {
	for i := range atoms {
		a := &atoms[i]
		if a.class != bin {
			continue
		}
		before, after := edge, edge
		if prev := neighbour(atoms, i, -1); prev != nil {
			before = prev.class
		}
		next := neighbour(atoms, i, 1)
		if next != nil {
			after = next.class
		}
		switch before {
		case ord, closing, inner:
			if after != none && after != rel && after != closing && after != punct {
				continue
			}
		}
		a.class = ord
		switch {
		case a.core.text != "+" && a.core.text != "−" && a.core.text != "±" && a.core.text != "∓", after == none, after == rel, after == closing, after == punct:
			a.core.set("lspace", "0").set("rspace", "0")
		default:
			a.core.set("form", "prefix")
		}
	}
}

// pairBars distinguishes opening from closing bars, and joins || into norms. Bars pair up within
// the same parentheses; an odd number, as in P(y|x), stays unpaired.
func pairBars(atoms []atom) []atom {
	levels := [][]int{nil} // bars of the open parentheses
	drop := map[int]bool{}
	for i, a := range atoms {
		switch {
		case a.bar:
			top := len(levels) - 1
			levels[top] = append(levels[top], i)
		case a.class == opening:
			levels = append(levels, nil)
		case a.class == closing:
			top := len(levels) - 1
			pairLevel(atoms, levels[top], drop)
			if levels = levels[:top]; top == 0 {
				levels = [][]int{nil}
			}
		}
	}
	for _, bars := range levels {
		pairLevel(atoms, bars, drop)
	}
	if len(drop) == 0 {
		return atoms
	}
	var kept []atom
	for i, a := range atoms {
		if !drop[i] {
			kept = append(kept, a)
		}
	}
	return kept
}

// pairLevel pairs the bars of one level and adds the first of two joined bars to drop.
func pairLevel(atoms []atom, bars []int, drop map[int]bool) {
	var open []string
	type mark struct {
		at     int
		double bool // joined with the preceding bar
		class  class
	}
	var marks []mark
	for k := 0; k < len(bars); k++ {
		i, kind := bars[k], atoms[bars[k]].core.text
		double := false
		if kind == "|" && k+1 < len(bars) && atoms[i].node == atoms[i].core && (len(open) == 0 || open[len(open)-1] != "|") {
			if j := bars[k+1]; j == i+1 && atoms[j].core.text == "|" && atoms[j].pos == atoms[i].pos+1 {
				i, kind, double = j, "‖", true
				k++
			}
		}
		if n := len(open); n > 0 && open[n-1] == kind {
			open = open[:n-1]
			marks = append(marks, mark{i, double, closing})
		} else {
			open = append(open, kind)
			marks = append(marks, mark{i, double, opening})
		}
	}
	for _, m := range marks {
		a := &atoms[m.at]
		if m.double {
			a.core.text = "‖"
			drop[m.at-1] = true
		}
		switch {
		case len(open) > 0:
			a.class = ord
			a.core.set("lspace", "0").set("rspace", "0")
		case m.class == opening:
			a.class = opening
			a.core.set("form", "prefix")
		default:
			a.class = closing
			a.core.set("form", "postfix")
		}
	}
}
