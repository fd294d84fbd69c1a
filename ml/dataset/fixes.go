package dataset

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// FixKind is a kind of correction.
type FixKind string

// The corrections of a table.
const (
	FixTotals     FixKind = "totals"     // leave out rows of totals at the end
	FixMissing    FixKind = "missing"    // take Value in Column for a missing value
	FixThousands  FixKind = "thousands"  // remove the thousands separators of Column
	FixWords      FixKind = "words"      // take words among the numbers of Column for missing values
	FixSpelling   FixKind = "spelling"   // unify words of Column that differ only by case or spaces
	FixDuplicates FixKind = "duplicates" // keep one of equal rows
	FixRare       FixKind = "rare"       // leave out classes of Column with fewer than five rows
	FixLeave      FixKind = "leave"      // leave out Column
)

// Fix is one correction of a table.
type Fix struct {
	Kind   FixKind
	Value  string // of FixMissing
	Column string // empty: the table
}

// String returns the fix in the notation of ParseFix: "missing:-999:age".
func (f Fix) String() string {
	switch {
	case f.Value != "":
		return string(f.Kind) + ":" + f.Value + ":" + f.Column
	case f.Column != "":
		return string(f.Kind) + ":" + f.Column
	}
	return string(f.Kind)
}

// ParseFix reads a fix as String writes it.
func ParseFix(s string) (Fix, error) {
	kind, rest, _ := strings.Cut(s, ":")
	f := Fix{Kind: FixKind(kind), Column: rest}
	switch f.Kind {
	case FixTotals, FixDuplicates:
		if rest == "" {
			return f, nil
		}
	case FixMissing:
		if f.Value, f.Column, _ = strings.Cut(rest, ":"); f.Value != "" && f.Column != "" {
			return f, nil
		}
	case FixThousands, FixWords, FixSpelling, FixRare, FixLeave:
		if f.Column != "" {
			return f, nil
		}
	}
	return Fix{}, fmt.Errorf("fix expects totals, duplicates, missing:VALUE:COLUMN, thousands:COLUMN, words:COLUMN, spelling:COLUMN, rare:COLUMN or leave:COLUMN, not %s", quote(s))
}

// Check is something about a table that the user should check, with a remedy.
type Check struct {
	Text    string // "−999 stands in 12 rows of age"
	Fix     Fix
	Do      string // what the fix does, as a command: "Treat as missing"
	Applied bool
	Minor   bool // need not be confirmed before the table is used
}

// check adds a check and applies its fix if it was chosen or, if no fixes were chosen, is
// recommended.
func (p *Proposal) check(c Check, recommended bool) (applied bool) {
	if recommended {
		p.Fixes = append(p.Fixes, c.Fix)
	}
	if c.Applied = recommended || slices.Contains(p.Fixes, c.Fix); c.Applied && c.Fix.Kind != FixLeave {
		if !p.corrected {
			p.Table, p.corrected = p.Table.copy(), true
		}
		p.Table.fix(c.Fix)
	}
	p.Checks = append(p.Checks, c)
	return c.Applied
}

// checkCells looks for faults in the table that do not depend on the label.
func (p *Proposal) checkCells(recommend bool) {
	if rows := p.Table.totals(); rows != nil {
		text := "The last row is the sum of the rows above."
		word := slices.IndexFunc(p.Table.Columns, func(c Column) bool { return totalWord(c.Cell(rows[0]), true) })
		if word >= 0 {
			text = fmt.Sprintf("The last row looks like a total (%s).", quote(p.Table.Columns[word].Cell(rows[0])))
		}
		if len(rows) > 1 {
			text = strings.Replace(text, "row looks like a total", strconv.Itoa(len(rows))+" rows look like totals", 1)
		}
		p.check(Check{Text: text, Fix: Fix{Kind: FixTotals}, Do: "Leave out"}, recommend && word >= 0)
	}
	for j := range p.Table.Columns {
		name := p.Table.Columns[j].Name
		f := factsOf(&p.Table.Columns[j])
		if g := f.grouped(); p.Table.mayGroup(g) {
			plain, _ := g.plain(g.example)
			sign, example := map[string]string{",": "comma", ".": "point"}[g.group], g.example
			if p.Table.DecimalComma {
				sign, example = "comma", strings.Replace(example, ".", ",", 1)
			}
			p.check(Check{
				Text: fmt.Sprintf("%s has three digits after every %s.", name, sign),
				Fix:  Fix{Kind: FixThousands, Column: name}, Do: fmt.Sprintf("Read %s as %s", example, plain),
			}, recommend && (g.group == "," || g.likely && p.Table.sign == 0))
			f = factsOf(&p.Table.Columns[j])
		}
		if f.holds == holdsMostlyNumbers {
			p.check(Check{
				Text: fmt.Sprintf("%s is numeric except for %s (%s).", name, Count(f.strange, "row"), list(p.Table.strangeWords(j))),
				Fix:  Fix{Kind: FixWords, Column: name}, Do: "Treat as missing",
			}, recommend)
			f = factsOf(&p.Table.Columns[j])
		}
		for _, s := range f.sentinels() {
			p.check(Check{
				Text: fmt.Sprintf("%s occurs in %s of %s and looks like a missing value.", param.Minus(s.value), Count(s.rows, "row"), name),
				Fix:  Fix{Kind: FixMissing, Value: s.value, Column: name}, Do: "Treat as missing",
			}, recommend && s.sure)
		}
	}
}

// mayGroup reports whether to ask about the thousands separators of a column. It asks about commas,
// and in CSV about points if they are likely separators, or if nothing else shows the decimal sign
// of a file with semicolons, tabs or another column of decimal commas.
func (t *Table) mayGroup(g grouping) bool {
	points := t.Format == "csv" && (g.likely || t.sign == 0 && (t.Separator == "semicolon" || t.Separator == "tab" || t.commas))
	return g.example != "" && (g.group == "," || points)
}

// checkColumns looks for faults that depend on the label: in classes, duplicate rows, and columns
// that are uninformative or reveal the label.
func (p *Proposal) checkColumns(of []facts, label int, recommend bool) {
	for _, w := range of[label].noLabels() {
		p.check(Check{
			Text: fmt.Sprintf("%s occurs in %s of %s and looks like a missing value.", quote(w), Count(of[label].counts[w], "row"), p.Label),
			Fix:  Fix{Kind: FixMissing, Value: w, Column: p.Label}, Do: "Treat as missing",
		}, recommend)
	}
	of[label] = factsOf(&p.Table.Columns[label])
	for j, f := range of {
		c := &p.Table.Columns[j]
		if f.holds != holdsWords || f.counts == nil || j != label && !f.category() {
			continue
		}
		folded, wordy := make(map[string]int), true
		for w := range f.counts {
			folded[foldWord(w)]++
			wordy = wordy && len(foldWord(w)) > 1
		}
		if len(folded) == len(f.counts) {
			continue
		}
		what := "values"
		if j == label {
			what = "classes"
		}
		p.check(Check{
			Text: fmt.Sprintf("Some %s of %s differ only by case, spaces or invisible characters (%s).", what, c.Name, list(sameWords(f.counts))),
			Fix:  Fix{Kind: FixSpelling, Column: c.Name}, Do: "Unify spelling",
		}, recommend && wordy && len(folded) > 1)
		of[j] = factsOf(&p.Table.Columns[j])
	}
	if n := len(p.Table.duplicates(of)); n > 0 {
		if p.check(Check{Text: Count(n, "duplicate row") + ".", Fix: Fix{Kind: FixDuplicates}, Do: "Leave out", Minor: true}, false) {
			copy(of, p.Table.facts())
		}
	}
	f := of[label]
	if f.classes() && !f.continuous() {
		var few []string
		for c, n := range f.counts {
			if n < leastRows && 2*n*len(f.counts) <= f.present {
				few = append(few, c)
			}
		}
		if slices.Sort(few); few != nil && len(f.counts)-len(few) >= 2 {
			name := p.Table.Columns[label].Name
			if p.check(Check{Text: fmt.Sprintf("%s fewer than %d rows (%s).", classesHave(len(few), name), leastRows, list(few)), Fix: Fix{Kind: FixRare, Column: name}, Do: "Leave out"}, false) {
				copy(of, p.Table.facts())
			}
		}
	}
	copies := p.Table.copies(of, label)
	for j, f := range of {
		c, text := &p.Table.Columns[j], ""
		first, copied := copies[j]
		switch {
		case j == label:
		case f.constant() && f.holds == holdsNumbers:
			text = fmt.Sprintf("%s is %s in every row.", c.Name, param.Minus(c.Cell(0)))
		case copied:
			text = fmt.Sprintf("%s equals %s in every row.", c.Name, p.Table.Columns[first].Name)
		case p.Table.same(of, j, label):
			text = fmt.Sprintf("%s determines %s in every row: it may be the label in another form.", c.Name, p.Table.Columns[label].Name)
		}
		if text != "" {
			p.check(Check{Text: text, Fix: Fix{Kind: FixLeave, Column: c.Name}, Do: "Leave out"}, recommend)
		}
	}
}

// copies maps each numeric column that equals another one in every row to that column: the label or
// an earlier one. It ignores few rows and columns of two values, which may agree by chance.
func (t *Table) copies(of []facts, label int) map[int]int {
	type ends struct{ least, most float64 }
	alike, copies, h := make(map[ends][]int), make(map[int]int), maphash.MakeSeed()
	for j, f := range of {
		if f.holds == holdsNumbers && f.distinct > 2 && f.rows >= manyEqual && t.identifier(j, f) == "" {
			at := ends{f.least, f.most}
			alike[at] = append(alike[at], j)
		}
	}
	for _, columns := range alike {
		if len(columns) == 1 {
			continue
		}
		first := make(map[uint64]int)
		for _, j := range columns {
			key := t.Columns[j].digest(h)
			if i, ok := first[key]; !ok {
				first[key] = j
			} else if j == label {
				first[key], copies[i] = j, j
			} else {
				copies[j] = i
			}
		}
	}
	return copies
}

func classesHave(n int, of string) string {
	if n == 1 {
		return "1 class of " + of + " has"
	}
	return strconv.Itoa(n) + " classes of " + of + " have"
}

// leastRows is the minimum number of rows that a class should have.
const leastRows = 5

// manyEqual is the number of rows from which columns are unlikely to agree by chance.
const manyEqual = 20

// same reports whether column j and the label, both of few words or whole numbers, determine each
// other in many rows.
func (t *Table) same(of []facts, j, label int) bool {
	f, g := of[j], of[label]
	if f.distinct < 2 || f.distinct != g.distinct || f.counts == nil || g.counts == nil || f.present < manyEqual || !g.classes() || f.present != f.rows {
		return false
	}
	if f.holds != holdsWords && g.holds != holdsWords && f.distinct == 2 {
		return false // two numbers may be a perfectly good feature
	}
	pairs := make(map[string]string, f.distinct) // both columns have equally many values, so one direction suffices
	for i, s := range t.Columns[j].all() {
		s, l := tidyLabel(s), tidyLabel(t.Columns[label].Cell(i))
		if was, ok := pairs[s]; ok && was != l {
			return false
		}
		pairs[s] = l
	}
	return true
}

// noWidth removes invisible characters.
var noWidth = strings.NewReplacer("\u200b", "", "\u00ad", "")

// foldWord returns a word in lower case without invisible characters, accents kept, with single
// spaces for spaces, hyphens, underscores and points.
func foldWord(s string) string {
	s = norm.NFC.String(noWidth.Replace(s))
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == ' ' || r == '_' || r == '-' || r == '\u00a0' || r == '.' }), " ")
}

// sameWords returns the words that equal another one when folded, sorted.
func sameWords(counts map[string]int) (alike []string) {
	times := make(map[string]int)
	for w := range counts {
		times[foldWord(w)]++
	}
	for w := range counts {
		if times[foldWord(w)] > 1 {
			alike = append(alike, w)
		}
	}
	slices.SortFunc(alike, func(a, b string) int {
		return cmp.Or(strings.Compare(foldWord(a), foldWord(b)), strings.Compare(a, b))
	})
	return alike
}

// strangeWords lists the words among the numbers of a column with the first line of each, at most
// eleven.
func (t *Table) strangeWords(j int) (found []string) {
	c, seen := &t.Columns[j], make(map[string]bool)
	for i := range c.firsts() {
		s := c.Cell(i)
		if _, ok := c.number(i); ok || missing(s) || seen[s] {
			continue
		}
		seen[s] = true
		if found = append(found, fmt.Sprintf("%s on line %d", quote(s), t.Lines[i])); len(found) > 10 {
			break
		}
	}
	return found
}

// usualNoLabels lists texts commonly written for missing labels.
var usualNoLabels = []string{"-", "--", "---", "–", "—", ".", "na", "n.a.", "N.A.", "n. a.", "N. A.", "k.A.", "k. A."}

// noLabels finds classes that stand for a missing label beside at least two others. Beside +, the sign - is
// a class.
func (f facts) noLabels() []string {
	_, plus := f.counts["+"]
	found := lists.Filter(usualNoLabels, func(s string) bool { return f.counts[s] > 0 })
	if plus || f.holds != holdsWords || len(f.counts)-len(found) < 2 {
		return nil
	}
	return found
}

// sentinel is a number that stands for a missing value.
type sentinel struct {
	value string // as a number in its plain form
	rows  int
	sure  bool // far from all other values
}

// usualSentinels lists numbers commonly written for missing measurements.
var usualSentinels = []float64{0, -1, -9, -99, -999, -9999, -99999, -888, -8888, -777, 99, 999, 9999, 99999, 999999, 8888, 7777}

// fewOthers is the minimum number of other distinct values in a column with sentinels.
const fewOthers = 3

// sentinels finds numbers that stand for missing values: usual ones farther from all others than
// twice the range of those, negative ones if the others are never negative, or 0 far below all
// others.
func (f facts) sentinels() (found []sentinel) {
	if f.usual == nil || f.holds != holdsNumbers || f.distinct < 3 || f.least > 0 && f.most < 99 || len(f.others) < fewOthers {
		return nil
	}
	least, most := f.from, f.to
	span := most - least
	for _, v := range usualSentinels {
		n := f.usual[v]
		switch {
		case n == 0 || 2*n > f.present:
		case v == 0 && n > 1 && f.distinct > fewClasses && least >= span/5 && least > 1:
			found = append(found, sentinel{"0", n, false})
		case v == 0:
		case v == -1 && least > 0, v == -1 && least == 0 && span > 3, v == -9 && least >= 0 && span < 9:
			found = append(found, sentinel{tidyLabel(strconv.FormatFloat(v, 'g', -1, 64)), n, v == -9})
		case v < -9 && least >= 0 && -v > span/10, v < -9 && v < least-2*span, v > 0 && v > most+2*span && (n > 1 || v >= 999):
			found = append(found, sentinel{strconv.FormatFloat(v, 'f', -1, 64), n, true})
		}
	}
	return found
}

// totalWords mark a row that summarises those above; statisticWords do so beside one of them or each other.
var (
	totalWords = wordList(`total totals sum sums summe gesamt gesamtsumme insgesamt totale totaux somme suma subtotal zwischensumme grandtotal totaal som
	mean average avg mittel mittelwert durchschnitt moyenne media promedio median stddev std count anzahl`)
	statisticWords = wordList(`n sd min max minimum maximum 25 50 75`)
)

// totalWord reports whether a text is a word for a sum, a mean or, if beside, another statistic.
func totalWord(s string, beside bool) bool {
	if _, number := parseNumber(s); number || s == "" {
		return false
	}
	_, whole := nameWords(s)
	return totalWords.has(whole) || beside && statisticWords.has(whole)
}

// totals returns the rows at the end that summarise the others, counted from 0: those with a word
// for a total in a column without one above, or a last row of sums.
func (t *Table) totals() []int {
	const most, rest = 8, 2 // pandas describes a column in eight
	n := len(t.Lines)
	first := n
	for _, c := range t.Columns {
		i, sure := n, false
		for ; i > max(rest, n-most); i-- {
			s := c.Cell(i - 1)
			if !totalWord(s, true) || lists.Count(c.list(), func(o string) bool { return o == s }) > 1 { // n also stands for no
				break
			}
			sure = sure || i < n || totalWord(s, false)
		}
		if sure && !slices.ContainsFunc(c.list()[:i], func(s string) bool { return totalWord(s, false) }) { // an ordinary value is not a total
			first = min(first, i)
		}
	}
	switch {
	case first < n:
		return Range(first, n-first)
	case t.addsUp():
		return []int{n - 1}
	}
	return nil
}

// addsUp reports whether the numbers of the last row are the sums of those above, at least one of
// them larger than all above.
func (t *Table) addsUp() bool {
	const least = 4 // rows above
	last, larger := len(t.Lines)-1, false
	for j := range t.Columns {
		if _, number := t.Columns[j].number(last); !number || last < least {
			continue
		}
		v := make([]float64, last+1)
		t.Columns[j].numbers()(v, 1, 0, len(v))
		if sum := floats.Sum(v[:last]); !scalar.EqualWithinRel(sum, v[last], 1e-9) {
			return false
		}
		larger = larger || v[last] > slices.Max(v[:last])
	}
	return larger
}

// duplicates returns the rows equal to an earlier one, ignoring row numbers.
func (t *Table) duplicates(of []facts) (rows []int) {
	at := lists.Where(len(of), func(j int) bool { return of[j].holds == holdsWords || t.identifier(j, of[j]) == "" })
	hashes, h := make([]uint64, len(t.Lines)), maphash.MakeSeed()
	for _, j := range at {
		t.Columns[j].hashInto(hashes, h)
	}
	same := func(a, b int) bool {
		return !slices.ContainsFunc(at, func(j int) bool { return !t.Columns[j].alike(a, b) })
	}
	seen := repeats(hashes)
	if seen == nil {
		return nil
	}
	for i, key := range hashes {
		above, again := seen[key]
		switch {
		case !again:
		case slices.ContainsFunc(above, func(b int) bool { return same(i, b) }):
			rows = append(rows, i)
		default:
			seen[key] = append(above, i)
		}
	}
	return rows
}

// factor mixes one hash into another.
const factor = 0x9e3779b97f4a7c15

// digest returns the hash of all rows in order.
func (c *cells) digest(h maphash.Seed) (sum uint64) {
	for i := range c.Len() {
		sum = (sum ^ c.hash(h, i)) * factor
	}
	return sum
}

// hashInto mixes the text of each row into the hash of the row.
func (c *cells) hashInto(hashes []uint64, h maphash.Seed) {
	if c.many == nil {
		var of [mostDistinct]uint64
		for k, s := range c.distinct {
			of[k] = maphash.String(h, s)
		}
		for i, k := range c.codes[c.skipped:] {
			hashes[i] = (hashes[i] ^ of[k]) * factor
		}
		return
	}
	inParts(len(hashes), func(from, to int) {
		for i := from; i < to; i++ {
			hashes[i] = (hashes[i] ^ c.hash(h, i)) * factor
		}
	})
}

// repeats returns the values that occur twice as the keys of a map with empty values, or nil if
// none does. It sorts, as a map of all values of a long table takes much more memory.
func repeats(values []uint64) (twice map[uint64][]int) {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	for i, v := range sorted {
		if i > 0 && v == sorted[i-1] {
			if twice == nil {
				twice = make(map[uint64][]int)
			}
			twice[v] = nil
		}
	}
	return twice
}

// copy returns a copy of the table, which fix may change.
func (t *Table) copy() *Table {
	c := *t
	c.Columns, c.Notes = slices.Clone(t.Columns), slices.Clip(t.Notes)
	return &c
}

// fix corrects the table in place.
func (t *Table) fix(f Fix) {
	j := -1
	if f.Kind == FixLeave {
		return
	}
	if f.Column != "" {
		var err error
		if j, err = t.find(f.Column); err != nil {
			return
		}
	}
	rewrite := func(change func(string) string) (n int) {
		c := Column{Name: t.Columns[j].Name, Nominal: t.Columns[j].Nominal, role: t.Columns[j].role, cells: cells{expected: len(t.Lines)}}
		for _, was := range t.Columns[j].all() {
			now := change(was)
			if now != was {
				n++
			}
			c.add(now)
		}
		c.weigh()
		t.Columns[j] = c
		return n
	}
	var rows []int
	note := ""
	switch f.Kind {
	case FixTotals:
		rows, note = t.totals(), "of totals"
	case FixDuplicates:
		rows, note = t.duplicates(t.facts()), "that repeat others"
	case FixRare:
		counts := factsOf(&t.Columns[j]).counts
		for i, c := range t.Columns[j].all() {
			if n, ok := counts[tidyLabel(c)]; ok && n < leastRows && 2*n*len(counts) <= len(t.Lines) {
				rows = append(rows, i)
			}
		}
		note = "of classes with fewer than " + strconv.Itoa(leastRows)
	case FixMissing:
		v, number := parseNumber(f.Value)
		n := rewrite(func(c string) string {
			if x, ok := parseNumber(c); ok && number && x == v || tidyLabel(c) == f.Value {
				return ""
			}
			return c
		})
		what := param.Minus(f.Value)
		if !number {
			what = quote(f.Value)
		}
		note = fmt.Sprintf("%s in %s treated as missing (%s)", what, t.Columns[j].Name, Count(n, "row"))
	case FixThousands:
		g := factsOf(&t.Columns[j]).grouped()
		if g.example == "" {
			return
		}
		rewrite(g.rewrite)
		note = fmt.Sprintf("thousands separators removed (%s)", t.Columns[j].Name)
	case FixWords:
		words := list(t.strangeWords(j))
		n := rewrite(func(c string) string {
			if _, ok := parseNumber(c); !ok {
				return ""
			}
			return c
		})
		note = fmt.Sprintf("text in the numeric column %s treated as missing (%s: %s)", t.Columns[j].Name, Count(n, "row"), words)
	case FixSpelling:
		n := rewrite(commonest(t.Columns[j].all()))
		note = fmt.Sprintf("spellings of %s that differ only by case, spaces or invisible characters unified (%s)", t.Columns[j].Name, Count(n, "row"))
	default:
		return
	}
	if rows != nil && len(rows) < len(t.Lines) {
		note = Count(len(rows), "row") + " " + note + " left out" + t.linesOf(rows)
		*t = *t.without(rows)
	} else if f.Kind == FixTotals || f.Kind == FixDuplicates || f.Kind == FixRare {
		return
	}
	t.Notes = append(t.Notes, note)
}

// commonest returns a function that maps words equal when folded to their most frequent spelling.
func commonest(rows func(func(int, string) bool)) func(string) string {
	counts := make(map[string]int)
	for _, w := range rows {
		counts[w]++
	}
	best := make(map[string]string)
	for w, n := range counts {
		k := foldWord(w)
		if was, ok := best[k]; !ok || n > counts[was] || n == counts[was] && w > was {
			best[k] = w
		}
	}
	return func(w string) string {
		if missing(w) {
			return w
		}
		return best[foldWord(w)]
	}
}
