package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Proposal holds a suggested reading of a table: which column to predict from which others, which
// columns to leave out, and what the user should check. Page, command line and API all use it.
type Proposal struct {
	Mapping          // to give to Table.Data
	Obvious bool     // there is nothing to choose and nothing to check
	Table   *Table   // after Mapping.Fixes
	Labels  []string // all columns that can be the label, the likeliest first
	Left    []LeftOut
	Checks  []Check

	Classes     []ClassCount // of the label, most frequent first; nil: the label is numeric
	Least, Most float64      // of a numeric label

	sure      bool // the label is unambiguous
	corrected bool // Table is a copy
}

// LeftOut is a column not used as a feature.
type LeftOut struct{ Column, Reason string }

// ClassCount holds the number of rows of a class.
type ClassCount struct {
	Class string
	Rows  int
}

// Regression reports whether the label holds numbers to be fitted.
func (p *Proposal) Regression() bool { return p.Classes == nil && p.Label != "" }

// leastKnown is the minimum number of known values needed to impute a column; they must also be
// the majority.
const leastKnown = 10

// Propose proposes how to read the table. It keeps a label or fixes given in m; if m.Fixes is
// nil, it chooses the fixes itself. It ignores all other fields of m.
//
// The label is the likeliest column by name, values and place, in that order of weight: see
// rank. The features are the other columns, except identifiers, dates, postcodes and the like,
// words that are too many or hardly repeat, values that never change or are mostly missing,
// and a column that restates the label.
func (t *Table) Propose(m Mapping) *Proposal {
	if t.Kind == KindGraphs || t.Kind == KindPrecomputed || t.Kind == KindStrings {
		return t.proposeObjects(m)
	}
	p := &Proposal{Table: t}
	p.Fixes = m.Fixes
	p.checkCells(m.Fixes == nil)
	facts := p.Table.facts()
	label, sure := -1, true
	if m.Label != "" {
		label, _ = p.Table.find(m.Label)
	}
	order := p.Table.rank(facts)
	if label < 0 || m.Label == "" {
		label, sure = p.Table.guessLabelBy(order)
		sure = sure && !p.Table.doubtful(facts, label)
	}
	p.Labels, p.Label = p.Table.namesAt(order), p.Table.Columns[label].Name
	if values, _, _ := t.kernelColumns(label); len(values) == len(t.Lines) && len(values) > 2 {
		if _, err := t.kernelMatrix(label); err == nil {
			return t.proposeObjects(Mapping{Kind: KindPrecomputed, Label: p.Label})
		}
	}
	p.checkColumns(facts, label, m.Fixes == nil)
	if p.corrected {
		facts = p.Table.facts()
	}
	p.sure = sure
	p.choose(facts, label)
	p.describe(facts[label])
	p.Obvious = sure && len(p.Left) == 0 && !slices.ContainsFunc(p.Checks, func(c Check) bool { return !c.Minor }) && p.Missing == ""
	find := p.Table.finder()
	for _, name := range p.Features {
		j, _ := find(name)
		p.Obvious = p.Obvious && facts[j].holds == holdsNumbers && facts[j].present == facts[j].rows
	}
	switch _, _, err := p.Table.classes(p.Label); {
	case len(t.Columns) == 1:
		p.Obvious = true // Data refuses it
	case p.Kind == KindStrings:
		p.Obvious = sure && err == nil && len(t.Columns) == 2 && !p.corrected
	default:
		p.Obvious = p.Obvious && err == nil && len(p.Features) > 0
	}
	return p
}

// Complete fills in what m, the mapping the proposal was made for, leaves open.
func (p *Proposal) Complete(m Mapping) Mapping {
	if m.Proposed = false; m.Label == "" {
		m.Label = p.Label
	}
	if m.Fixes == nil {
		m.Fixes = p.Fixes
	}
	if m.Features == nil && (m.Kind == "" || m.Kind == p.Kind || m.Kind == KindVectors && p.Kind == "") {
		m.Kind, m.Features = cmp.Or(m.Kind, p.Kind), p.Features
	}
	m.Missing = cmp.Or(m.Missing, p.Missing)
	return m
}

// facts examines all columns.
func (t *Table) facts() []facts {
	of := make([]facts, len(t.Columns))
	for j := range t.Columns {
		if of[j] = factsOf(&t.Columns[j]); t.Header && of[j].days(t.Columns[j].Name) {
			of[j].holds = holdsDates
		}
	}
	return of
}

// proposeObjects is Propose for a file declared to hold objects other than vectors.
func (t *Table) proposeObjects(m Mapping) *Proposal {
	p := &Proposal{Table: t}
	label, obvious := t.guessLabel()
	if m.Label != "" {
		if j, err := t.find(m.Label); err == nil {
			label = j
		}
	}
	kind := t.Kind
	if m.Kind == KindPrecomputed {
		kind = m.Kind
	}
	for j := len(t.Columns) - 1; j >= t.graphs; j-- {
		p.Labels = append(p.Labels, t.Columns[j].Name)
	}
	p.Kind, p.Obvious = kind, true
	if label < 0 {
		return p // graphs without labels: Data reports the fault
	}
	p.Label = t.Columns[label].Name
	switch kind {
	case KindGraphs:
		p.Features = t.GraphColumns()[:1]
		p.Obvious = obvious && !t.asks
	case KindPrecomputed:
		p.Obvious = t.Kind == KindPrecomputed
	default:
		j, err := t.stringsColumn(label, nil)
		if err != nil {
			p.Kind = ""
			break
		}
		p.Features = []string{t.Columns[j].Name}
	}
	p.describe(factsOf(&t.Columns[label]))
	return p
}

// Points of evidence in addition to those for names.
const (
	twoValuedPoints = 30
	fewWordsPoints  = 26
	moreWordsPoints = 15
	fewWholePoints  = 15 // at an end of the table
	lastPoints      = 20
	answerPoints    = 15 // at the end
	firstPoints     = 10
	declaredPoints  = 200 // outweighs all others
)

// rank orders the columns that can be the label, the likeliest first. The name of a column counts most, then whether it holds classes (two values, few
// words, few whole numbers), then whether it is first or last. A column of classes in between
// whose name says nothing is a candidate only if it is the only one: several are features, and
// so is one before them.
func (t *Table) rank(of []facts) (order []int) {
	r := t.contest(of)
	at := lists.Make(len(of), r.points)
	order = lists.Make(len(of), func(j int) int { return j })
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(at[b]-at[a], b-a) })
	return order
}

// contest is what the points of a column depend on besides the column.
type contest struct {
	t           *Table
	of          []facts
	first, last int // columns that can be the label; -1: none
	between     int // columns of classes between them whose names say nothing
	few         int // columns of a few classes
}

func (t *Table) contest(of []facts) *contest {
	r := &contest{t: t, of: of, first: -1, last: -1}
	for j, f := range of {
		if f.holds == holdsNothing || f.holds == holdsDates || f.constant() || t.identifier(j, f) != "" || f.holds == holdsWords && !f.classes() {
			continue
		}
		if r.last = j; r.first < 0 {
			r.first = j
		}
	}
	for j, f := range of {
		if f.classes() && f.distinct <= fewClasses {
			r.few++
		}
		if j != r.first && j != r.last && (f.twoValued() || f.holds == holdsWords && f.distinct <= mostWords && f.classes()) && (!t.Header || evidence(t.Columns[j].Name).classes <= 0) {
			r.between++
		}
	}
	return r
}

// points returns the evidence that column j is the label.
func (r *contest) points(j int) int {
	s := r.content(j, r.name(j))
	switch j {
	case r.last:
		s += lastPoints
	case r.first:
		s += firstPoints
	}
	if r.t.Columns[j].Nominal {
		s += 15
	}
	if r.t.Columns[j].role == roleLabel {
		s += declaredPoints
	}
	return s
}

// name returns the evidence of the name of column j, given what stands in it and beside it.
func (r *contest) name(j int) nameEvidence {
	t, f, name := r.t, r.of[j], nameEvidence{}
	if t.Header || t.Format != "csv" && t.Format != "xlsx" {
		name = evidence(t.Columns[j].Name)
	}
	if name.words > 0 && (f.holds == holdsWords || f.twoValued()) {
		name.classes = max(name.classes, name.words)
	}
	if name.generic && j != r.first && j != r.last && j > 0 && j < len(t.Columns)-1 && strings.EqualFold(t.Columns[j].Name, "class") {
		name.classes = 60 // a ticket class, for example
	}
	if f.holds == holdsWords && strings.EqualFold(t.Columns[j].Name, "note") { // a remark rather than a grade
		return nameEvidence{}
	}
	if name.classes == 80 && t.coordinates() { // y beside x
		return nameEvidence{}
	}
	return name
}

// content returns the points for what column j holds, together with those for its name.
func (r *contest) content(j int, name nameEvidence) (s int) {
	t, f := r.t, r.of[j]
	switch {
	case f.distinct < 2 && (name.generic || name.classes >= 80): // a single class, which Data reports
		if s = name.classes - 20; j == len(r.of)-1 {
			s += lastPoints
		}
		return s
	case f.distinct < 2 && (!t.Header || len(r.of) == 2) && f.holds == holdsWords && j == len(r.of)-1:
		return 40
	case f.distinct < 2:
		return -100
	case f.holds == holdsDates:
		return -60
	case f.codes(t.Columns[j].Name), t.identifier(j, f) != "":
		return -50
	case f.holds == holdsWords && !f.classes():
		return -40
	case f.twoValued(), f.holds == holdsWords:
		return r.classes(j, name)
	case f.classes() && f.distinct <= fewClasses && f.repeated:
		if name.classes > 0 || j == r.last || j == r.first && (!t.Header || r.few == 1 && f.numbered()) {
			return name.classes + fewWholePoints
		}
		return name.classes + 4
	case f.classes():
		return max(name.classes, name.numbers) + 4
	}
	return name.numbers + 2
}

// classes returns the points of content for two values or few words.
func (r *contest) classes(j int, name nameEvidence) int {
	t, f := r.t, r.of[j]
	if middle := j != r.first && j != r.last; (middle || j == r.first && t.Header) && name.classes <= 0 && (r.between > 1 || !t.Header && f.holds != holdsWords) {
		return 5 + name.classes
	}
	s := name.classes + twoValuedPoints
	switch words := f.holds == holdsWords; {
	case words && f.distinct > fewClasses:
		s = name.classes + moreWordsPoints
	case words && f.distinct > 2:
		s = name.classes + fewWordsPoints
	}
	if j == r.last && f.answers() {
		s += answerPoints
	}
	return s
}

// doubtful reports whether only its position suggests the label while another column might be
// the label as well.
func (t *Table) doubtful(of []facts, label int) bool {
	if !of[label].enough() || t.Format == "libsvm" || t.Format == "arff" || t.Header && evidence(t.Columns[label].Name).classes > 10 { // more evidence than is_b next to is_a
		return false
	}
	last := len(of) - 1
	if label != last && of[last].holds == holdsNumbers && of[last].classes() {
		return true
	}
	for j, f := range of {
		if j != label && f.holds == holdsNumbers && of[label].holds == holdsNumbers && f.classes() && f.distinct <= of[label].distinct {
			return true
		}
	}
	return false
}

// coordinates reports whether a table has x and y as coordinates of the plane.
func (t *Table) coordinates() bool {
	return len(t.Columns) > 2 && t.Place("x") >= 0
}

// identifier returns the reason why column j is just an identifier, or "" if it is not. A table
// with a single column besides the label has no identifiers.
func (t *Table) identifier(j int, f facts) string {
	if len(t.Columns) < 3 {
		return ""
	}
	return f.identifies(t.Columns[j].Name, t.Header, j)
}

// guessLabelBy returns the likeliest label, and whether it is unambiguous.
func (t *Table) guessLabelBy(order []int) (j int, sure bool) {
	end, sure := t.endLabel()
	j = order[0]
	return j, sure && j == end
}

// choose decides about every column besides the label.
func (p *Proposal) choose(of []facts, label int) {
	t := p.Table
	leave := func(j int, reason string) { p.Left = append(p.Left, LeftOut{t.Columns[j].Name, reason}) }
	var gaps, rows []string
	few := false
	text := -1 // too many words for features
	left := make(map[string]bool)
	for _, fix := range p.Fixes {
		left[fix.Column] = left[fix.Column] || fix.Kind == FixLeave
	}
	for j, f := range of {
		name := t.Columns[j].Name
		switch id := t.identifier(j, f); {
		case j == label:
			continue
		case f.holds == holdsNothing:
			leave(j, "empty")
		case t.Columns[j].role == roleMeta:
			leave(j, "not a feature according to the file")
		case left[name]:
			reason := "the same value in every row"
			switch {
			case t.same(of, j, label):
				reason = "the label in other words"
			case f.distinct > 1:
				reason = "the same values as another column"
			}
			leave(j, reason)
		case f.constant() && f.holds != holdsNumbers:
			leave(j, "the same word in every row")
		case id != "":
			if leave(j, id); f.holds == holdsWords && f.signs > 1 && text < 0 {
				text = j
			}
		case f.codes(name):
			leave(j, "codes, not quantities")
		case f.holds == holdsDates:
			leave(j, "dates or times")
		case 2*f.present < f.rows:
			leave(j, "most values are missing")
		case f.holds == holdsMostlyNumbers:
			leave(j, Count(f.strange, "word")+" among numbers")
		case f.holds == holdsWords && !f.category():
			reason := "nearly all words are distinct"
			switch {
			case f.distinct == 1:
				reason = "the same word in every row that has one"
			case f.distinct > mostWords:
				distinct, _ := f.count()
				reason = fmt.Sprintf("%d distinct words", distinct)
			}
			leave(j, reason)
			if text < 0 || f.signs > of[text].signs {
				text = j
			}
		default:
			p.Features = append(p.Features, name)
			if f.present < f.rows {
				gaps = append(gaps, name)
				few = few || f.present < leastKnown
			}
		}
	}
	if len(p.Features) == 0 && t.onlyWords(label) || len(p.Features) == 0 && text >= 0 {
		if j, err := t.stringsColumn(label, nil); err == nil {
			p.Kind, p.Features = KindStrings, []string{t.Columns[j].Name}
			p.Left = slices.DeleteFunc(p.Left, func(l LeftOut) bool { return l.Column == t.Columns[j].Name })
			return
		}
	}
	if len(p.Features) == 0 { // a row number is better than nothing
		find := t.finder()
		for _, l := range p.Left {
			if j, _ := find(l.Column); of[j].holds == holdsNumbers && !of[j].constant() {
				rows = append(rows, l.Column)
			}
		}
		if len(rows) == 1 {
			p.Features = rows
			p.Left = slices.DeleteFunc(p.Left, func(l LeftOut) bool { return l.Column == rows[0] })
		}
	}
	switch incomplete, _ := t.Incomplete(p.Label, gaps); {
	case len(incomplete) == 0 || few || len(t.Lines)-len(incomplete) < leastKnown && gaps == nil:
	case gaps == nil:
		p.Missing = MissingDrop
	default:
		p.Missing = MissingMedian
	}
}

// describe fills in the classes of the label with their counts, or its range.
func (p *Proposal) describe(f facts) {
	if f.continuous() || f.measured() || f.holds == holdsMostlyNumbers || f.holds == holdsNumbers && f.distinct < 2 {
		p.Least, p.Most = f.least, f.most
		return
	}
	for c, n := range f.counts {
		p.Classes = append(p.Classes, ClassCount{c, n})
	}
	slices.SortFunc(p.Classes, func(a, b ClassCount) int {
		return cmp.Or(b.Rows-a.Rows, strings.Compare(a.Class, b.Class))
	})
}

// ClassesText lists the classes with their rows: "B 357, M 212".
func (p *Proposal) ClassesText() string {
	classes := lists.Map(p.Classes, func(c ClassCount) string { return c.Class + " " + strconv.Itoa(c.Rows) })
	return strings.Join(shortened(classes, 6), ", ")
}

// shortened returns the texts or, if there are several more than most, the first of them and
// "n more".
func shortened(texts []string, most int) []string {
	if len(texts) <= most+1 {
		return texts
	}
	return append(texts[:most], fmt.Sprintf("%d more", len(texts)-most))
}

// From describes the columns the label is predicted from: "30 columns".
func (p *Proposal) From() string {
	switch p.Kind {
	case KindPrecomputed:
		return fmt.Sprintf("a kernel matrix of %d objects", len(p.Table.Lines))
	case KindStrings:
		return "the strings in " + p.Features[0]
	case KindGraphs:
		return Count(len(p.Table.Lines), "graph")
	}
	return Count(len(p.Features), "column")
}

// What describes the label: "B 357, M 212", or the range of its numbers, for a regression.
func (p *Proposal) What() string {
	if !p.Regression() {
		return p.ClassesText()
	}
	return fmt.Sprintf("numbers from %s to %s: a regression", rounded(p.Least), rounded(p.Most))
}

// rounded writes a number to six digits, or to all before the decimal point.
func rounded(v float64) string {
	if a := math.Abs(v); a >= 1e5 && a < 1e15 {
		return param.Minus(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return param.Minus(tidyLabel(strconv.FormatFloat(v, 'g', 6, 64)))
}

// LeftText names the columns left out, "" if there are none.
func (p *Proposal) LeftText() string { return p.leftText(func(l LeftOut) string { return l.Column }) }

func (p *Proposal) leftText(name func(LeftOut) string) string {
	names := shortened(lists.Map(p.Left, name), 4)
	if len(names) == 0 {
		return ""
	}
	text := names[len(names)-1]
	if n := len(names) - 1; n > 0 {
		text = strings.Join(names[:n], ", ") + " and " + text
	}
	return text + " left out"
}

// Sentence describes the proposal in words: "Predict diagnosis (B 357, M 212) from 30
// columns; id (row number) left out".
func (p *Proposal) Sentence() string {
	s := fmt.Sprintf("Predict %s (%s) from %s", p.Label, p.What(), p.From())
	if left := p.leftText(func(l LeftOut) string { return l.Column + " (" + l.Reason + ")" }); left != "" {
		s += "; " + left
	}
	return s
}

// Remarks returns the proposal and its points to check in words, for use without a page: none
// for a table that is read completely and unchanged. regression says that a regression was
// requested, which then needs no remark.
func (p *Proposal) Remarks(regression bool) (remarks []string) {
	speak := p.Kind == "" && (len(p.Left) > 0 || !p.sure && !p.Regression() || p.Regression() && !regression)
	for _, c := range p.Checks {
		speak = speak || c.Applied
		if !c.Applied && !c.Minor {
			remarks = append(remarks, c.Text)
		}
	}
	if speak {
		remarks = slices.Insert(remarks, 0, p.Sentence())
	}
	return remarks
}
