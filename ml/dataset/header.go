package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"marginlab/ml/lists"
)

// setNames names the columns, tidied, shortened and made unique.
func (t *Table) setNames(names []string) {
	var long []string
	used := make(map[string]bool)
	for _, name := range names {
		used[tidy(name)] = true
	}
	taken := make(map[string]bool)
	for j := range t.Columns {
		name := cmp.Or(tidy(names[j]), unnamed(j))
		if utf8.RuneCountInString(name) > maxText {
			long = append(long, quote(name))
			name = strings.TrimSpace(string([]rune(name)[:maxText-1])) + "…"
		}
		base := name
		for k := 2; taken[name] || name != base && used[name]; k++ {
			suffix := fmt.Sprintf(" %d", k)
			cut := []rune(base)
			cut = cut[:min(len(cut), maxText-len(suffix))]
			name = strings.TrimSpace(string(cut)) + suffix
		}
		taken[name] = true
		t.Columns[j].Name = name
	}
	if long != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("names of more than %d characters shortened (%s)", maxText, list(long)))
	}
}

// cutHeader removes the first row if it names the columns, and returns the names.
func (t *Table) cutHeader(sep byte) []string {
	if len(t.Lines) == 0 {
		return nil
	}
	names := t.row(0)
	if t.Header = t.Header || t.Kind != "" || (isHeader(names, sep) || t.countsColumns(names, sep)) && !t.isRowOfWords(names, sep) && !t.beginsWithValues(); !t.Header {
		return nil
	}
	t.skipLine()
	if t.Kind == "" {
		t.cutRepeatedHeaders(names)
		if len(t.Lines) > 2 && strings.HasPrefix(t.Columns[0].Cell(1), `{"ImportId":`) { // in files of Qualtrics, below the questions
			t.skipLine()
			t.skipLine()
			t.Notes = append(t.Notes, "2 lines below the names left out")
		}
		names = t.cutSecondLine(t.cutOrange(names), sep)
	}
	return names
}

// orangeTypes lists the types of columns in files of Orange.
var orangeTypes = wordList(`continuous discrete string time c d s t`)

// orangeRole returns the role of a column in files of Orange, in full or as one letter.
func orangeRole(s string) (r role, known bool) {
	switch s {
	case "":
		return "", true
	case "class", "c":
		return roleLabel, true
	case "meta", "m", "ignore", "i", "weight", "w":
		return roleMeta, true
	}
	return "", false
}

// cutOrange reads the roles that files of Orange declare, below the names in a line of types (or of
// the values of a discrete column) and a line of roles, or in front of names, as in mS#patient. It
// returns the names.
func (t *Table) cutOrange(names []string) []string {
	roles, plain, words := make([]role, len(names)), slices.Clone(names), false
	below := len(t.Lines) > 2
	for j, name := range names {
		flags, after, _ := strings.Cut(name, "#")
		mark := strings.TrimRight(flags, "CDSTN")
		if r, known := orangeRole(mark); known && len(mark) < 2 && len(flags) < len(mark)+2 && flags != "" && after != "" {
			roles[j], plain[j] = r, after
		}
		if below {
			kind, mark := t.Columns[j].Cell(0), t.Columns[j].Cell(1)
			_, known := orangeRole(mark)
			below = known && (orangeTypes.has(kind) || strings.Contains(kind, " "))
			words = words || len(mark) > 1 || orangeTypes.has(kind) && len(kind) > 1
		}
	}
	switch {
	case below && words:
		for j := range roles {
			roles[j], _ = orangeRole(t.Columns[j].Cell(1))
		}
		t.skipLine()
		t.skipLine()
		t.Notes = append(t.Notes, "2 lines below the names read as types and roles of columns")
	case slices.Contains(roles, roleLabel):
		names = plain
	default:
		return names
	}
	for j := range roles {
		t.Columns[j].role = roles[j]
	}
	return names
}

// cutRepeatedHeaders removes rows that repeat the header, as in files that were joined.
func (t *Table) cutRepeatedHeaders(names []string) {
	rows := lists.Where(len(t.Lines), func(i int) bool {
		for j := range t.Columns {
			if c := &t.Columns[j]; c.decimal(i) != 0 || c.Cell(i) != names[j] {
				return false
			}
		}
		return true
	})
	if len(rows) > 0 {
		note := Count(len(rows), "row") + " with the names of the columns left out" + t.linesOf(rows)
		*t = *t.without(rows)
		t.Notes = append(t.Notes, note)
	}
}

// row returns the texts of row i.
func (t *Table) row(i int) []string {
	return lists.Map(t.Columns, func(c Column) string { return c.Cell(i) })
}

// secondTable returns the row that names the columns of another table below the first, or 0: after an
// empty line, several words that occur nowhere else in their columns, at least one of them between numbers.
func (t *Table) secondTable(sep byte) int {
	const tries = 10 // in a file with many empty lines
	for i, tried := 2, 0; t.Header && t.Kind == "" && i < len(t.Lines)-1 && tried < tries; i++ {
		if t.Lines[i] == t.Lines[i-1]+1 || t.Lines[i-1] != t.Lines[i-2]+1 || haveValues(t.row(i), sep) {
			continue
		}
		tried++
		words, between := 0, false
		for _, c := range t.Columns {
			s := c.Cell(i)
			if s == "" {
				continue
			}
			if missing(s) || lists.Count(c.list(), func(o string) bool { return o == s }) > 1 {
				words = 0
				break
			}
			words++
			between = between || isNumber(c.Cell(i-1), sep) && isNumber(c.Cell(i+1), sep)
		}
		if words > 1 && between {
			return i
		}
	}
	return 0
}

func (t *Table) skipLine() {
	for j := range t.Columns {
		t.Columns[j].skip()
	}
	t.Lines = t.Lines[1:]
}

// cutSecondLine removes a second header line: names below merged cells (length and width below
// Sepal), or units below names. It returns the names combined from both lines.
func (t *Table) cutSecondLine(names []string, sep byte) []string {
	if len(t.Lines) < 3 {
		return names
	}
	below, times := make([]string, len(t.Columns)), make(map[string]int)
	above := false // a word above numbers
	for j := range t.Columns {
		c := t.Columns[j]
		s := c.Cell(0)
		if s != "" && missing(s) || isNumber(s, sep) || isAmount(s) || isDate(s) {
			return names
		}
		below[j] = s
		times[s]++
		switch {
		case s == "":
		case c.numbersBelow(sep):
			above = true
		case c.repeats(s):
			return names
		}
	}
	if !above {
		return names
	}
	t.skipLine()
	if !slices.Contains(names, "") {
		t.Notes = append(t.Notes, "the line below the names has no numbers and is left out")
		return names
	}
	t.Notes = append(t.Notes, "two lines of names read as one")
	group := ""
	for j, name := range names {
		group = cmp.Or(name, group)
		switch {
		case name != "" && name != below[j]: // equal if one cell spans both lines
			below[j] = strings.TrimSpace(name + " " + below[j])
		case times[below[j]] > 1:
			below[j] = strings.TrimSpace(group + " " + below[j])
		}
	}
	return below
}

// numbersBelow reports whether all cells below the first row are numbers or missing.
func (c Column) numbersBelow(sep byte) bool {
	c.skip() // of this copy
	number := func(s string) bool { return isNumber(s, sep) || isAmount(s) }
	return c.any(number) && !c.any(func(s string) bool { return !number(s) && !missing(s) })
}

// isHeader reports whether none of the cells is a number or a missing value.
func isHeader(cells []string, sep byte) bool {
	return !slices.ContainsFunc(cells, func(s string) bool {
		return s == "?" || isNumber(s, sep) || notFinite(s)
	})
}

// beginsWithValues reports whether the first row has a percentage, date or the like above
// another one, so that it is not a header.
func (t *Table) beginsWithValues() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool {
		if c.Len() < 2 {
			return false
		}
		a, b := c.Cell(0), c.Cell(1)
		_, plain := parseNumber(a)
		_, unit := cutCurrency(a)
		_, below := cutCurrency(b) // differs from unit below a name such as 100 m
		return !plain && isAmount(a) && isAmount(b) && (unit == below || !slices.Contains(units, unit)) || isDate(a) && isDate(b)
	})
}

// isRowOfWords reports whether the first row of a file without numbers is data rather than a
// header: a cell is too long for a name or occurs again below.
func (t *Table) isRowOfWords(first []string, sep byte) bool {
	again := false
	for j, c := range t.Columns {
		again = again || utf8.RuneCountInString(first[j]) > maxText || first[j] != "" && c.repeats(first[j])
		c.skip() // of this copy
		if c.any(func(s string) bool { return isNumber(s, sep) }) {
			return false
		}
	}
	return again
}

// countsColumns reports whether a header names features by numbers, as in 0,1,2,label or
// sample,400,410,420,kind: ascending numbers and the name of the label, or evenly spaced numbers
// and names, one of them above numbers or words that repeat. Two numbers suffice with no other name
// than the label, after an unnamed first column, or if they are years above other values, whatever
// the names. Without names, 0,1,2 above decimals is a header written by pandas.
func (t *Table) countsColumns(names []string, sep byte) bool {
	var numbers []float64
	label, named, others, years := false, false, false, true
	for j, name := range names {
		v, ok := parseNumber(name)
		switch c := t.Columns[j]; {
		case ok:
			numbers = append(numbers, v)
			c.skip() // of this copy
			years = years && isYear(name) && !c.any(isYear)
		case name == "":
		case c.repeats(name):
			return false
		case namesLabel(name):
			label = true
		default:
			others = true
			c.skip() // of this copy
			named = named || factsOf(&c).category() || t.Columns[j].numbersBelow(sep)
		}
	}
	least := 3
	if label && !others || names[0] == "" || years {
		least = 2
	}
	even := true
	for k := 2; k < len(numbers); k++ {
		even = even && numbers[k]-numbers[k-1] == numbers[1]-numbers[0]
	}
	if len(numbers) < least || !slices.IsSorted(numbers) {
		return false
	}
	if !label && !others && even && numbers[0] == 0 && numbers[1] == 1 {
		return slices.ContainsFunc(t.Columns, func(c Column) bool {
			c.skip() // of this copy
			return factsOf(&c).pointed
		})
	}
	return label && !others || (label || named || years) && even
}

// isYear reports whether a text is a year of the last or this century.
func isYear(s string) bool {
	return len(s) == 4 && ("1900" <= s && s < "2100") && strings.Trim(s, "0123456789") == ""
}

// repeats reports whether a text occurs below the first row.
func (c Column) repeats(text string) bool {
	c.skip() // of this copy
	return c.any(func(s string) bool { return s == text })
}

// unnamed returns the name of column j if the header does not name it.
func unnamed(j int) string { return fmt.Sprintf("column %d", j+1) }

// nameColumns names the columns of a file without a header by their places: label for the one
// that must be the label, x1, x2 … for the others in order.
func (t *Table) nameColumns() {
	label := -1
	if j, sure := t.guessLabel(); sure {
		label = j
	}
	k := 0
	for j := range t.Columns {
		if j == label {
			t.Columns[j].Name = labelName
			continue
		}
		k++
		t.Columns[j].Name = fmt.Sprintf("x%d", k)
	}
}
