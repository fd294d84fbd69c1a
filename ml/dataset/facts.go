package dataset

import (
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
)

// holding names the kind of values in a column.
type holding int

const (
	holdsNothing       holding = iota
	holdsNumbers               // and missing values
	holdsMostlyNumbers         // and few words among them
	holdsWords
	holdsDates
)

// facts holds the result of one pass over a column.
type facts struct {
	holds   holding
	rows    int
	present int // rows with a value
	numbers int // rows with a number
	strange int // rows with a word in a column of mostly numbers
	faulty  int // rows with a malformed number

	pointed  bool               // a number has a decimal point
	counts   map[string]int     // rows per value; nil if more than maxClasses are distinct
	distinct int                // distinct values; without counts, maxClasses+1
	repeated bool               // a value occurs twice; false without counts
	recount  func() (int, bool) // set if counts is nil, see count; counts the cells as examined: a change of the column drops its facts

	grouped func() grouping // see thousands

	whole       bool            // all numbers are whole
	least, most float64         // of the numbers
	counting    bool            // every number is one more than the one in the row before
	usual       map[float64]int // rows per number in usualSentinels
	others      []float64       // other distinct numbers, at most fewOthers
	from, to    float64         // range of all numbers not in usual
	signs       int             // length of the longest text in bytes, for words
}

// mostCounted bounds how many distinct values of a column are counted.
const mostCounted = 200_000

// strangeShare is the largest fraction of words in a column still taken as numeric.
const strangeShare = 0.25

// manyRows is the number of rows from which a column always caches its facts. With fewer rows and
// few values, the counts could take more memory than the cells in a table of many columns.
const manyRows = 10_000

// factsOf returns the cached facts of a column or examines it.
func factsOf(c *Column) facts {
	if c.known != nil {
		return *c.known
	}
	f := examine(c)
	if f.counts == nil || f.rows >= manyRows {
		c.known = &f
	}
	return f
}

// examine computes the facts of a column in one pass.
func examine(c *Column) facts {
	none := math.Inf(1)
	f := facts{rows: c.Len(), whole: true, counting: true, least: none, most: -none, from: none, to: -none, counts: make(map[string]int)}
	var words map[string]int
	dates, before := 0, math.NaN()
	row := func(i, n int) {
		v, number := c.number(i)
		s := ""
		if !number || f.counts != nil {
			s = c.Cell(i)
		}
		if !number && missing(s) {
			f.counting = false
			return
		}
		f.present += n
		f.signs = max(f.signs, len(s))
		switch {
		case number:
			f.number(v, n, before)
			f.pointed = f.pointed || c.pointed(i)
			before = v
		case notFinite(s), isFaulty(s) && !isDate(s):
			f.faulty += n
			f.counting = false
		default:
			f.counting = false
			if words == nil {
				words = make(map[string]int)
			}
			if len(words) <= mostWords || words[s] > 0 {
				words[s] += n
			}
			if f.strange += n; dates == f.strange-n && isDate(s) {
				dates += n
			}
		}
		if f.counts != nil {
			if f.counts[s] += n; len(f.counts) > maxClasses {
				f.counts = nil
			}
		}
	}
	if c.many == nil {
		for i, n := range c.counted() {
			row(i, n)
		}
	}
	for rest := c.many[min(c.skipped, len(c.many)):]; len(rest) > 0; rest = rest[1:] {
		if f.counts == nil {
			n := 0
			if n, before = f.fractions(rest, before); n == len(rest) {
				break
			}
			rest = rest[n:]
		}
		row(c.Len()-len(rest), 1)
	}
	if f.counts != nil {
		for k := range f.counts { // 1 and 1.0 are the same value
			if l := tidyLabel(k); l != k {
				n := f.counts[k]
				delete(f.counts, k)
				f.counts[l] += n
			}
		}
		f.distinct = len(f.counts)
		for _, n := range f.counts {
			f.repeated = f.repeated || n > 1
		}
	} else {
		f.distinct, f.recount = maxClasses+1, sync.OnceValues(c.cells.count)
	}
	cells, commas, points := c.cells, f.numbers < f.present, f.pointed && f.numbers == f.present
	f.grouped = sync.OnceValue(func() grouping { return cells.thousands(commas, points) })
	if f.numbers == 0 && f.faulty > 0 && f.strange > 0 { // 12-A, 3.4.1 are words
		f.strange, f.faulty = f.strange+f.faulty, 0
	}
	f.holds = holdingOf(f, words, dates)
	if f.holds != holdsMostlyNumbers {
		f.strange = 0
	}
	return f
}

// number adds n rows with the number v to the facts; before is the number above them, or NaN.
func (f *facts) number(v float64, n int, before float64) {
	whole := v == math.Trunc(v)
	f.numbers += n
	f.whole = f.whole && whole
	f.least, f.most = min(f.least, v), max(f.most, v)
	if whole && slices.Contains(usualSentinels, v) {
		if f.usual == nil {
			f.usual = make(map[float64]int)
		}
		f.usual[v] += n
	} else {
		f.from, f.to = min(f.from, v), max(f.to, v)
		if len(f.others) < fewOthers && !slices.Contains(f.others, v) {
			f.others = append(f.others, v)
		}
	}
	f.counting = f.counting && n == 1 && (math.IsNaN(before) || v == before+1)
}

// fractions adds the rows up to the first that holds no decimal fraction, and returns their number
// and the last value. It does what number does for each row, in a shorter loop, and adds none while
// number can still change counting or others.
func (f *facts) fractions(rows []packed, before float64) (n int, last float64) {
	if f.counting || len(f.others) < fewOthers {
		return 0, before
	}
	least, most := f.from, f.to
	for ; n < len(rows) && rows[n].decimals() > 0 && rows[n]&isDecimal != 0; n++ {
		v := rows[n].value()
		if v == float64(int64(v)) {
			break
		}
		if v < least {
			least = v
		}
		if v > most {
			most = v
		}
		before = v
	}
	if n > 0 {
		f.present, f.numbers, f.whole = f.present+n, f.numbers+n, false
		f.pointed = true
		f.from, f.to = least, most
		f.least, f.most = min(f.least, least), max(f.most, most)
	}
	return n, before
}

// count returns the number of distinct texts that are not missing, at most mostCounted, and whether
// one of them occurs twice.
func (c cells) count() (distinct int, again bool) {
	seen, h := make(map[uint64]struct{}, min(c.Len(), mostCounted)), maphash.MakeSeed()
	for i, n := range c.counted() {
		if c.lacking(i) {
			continue
		}
		k := c.hash(h, i)
		_, known := seen[k]
		if len(seen) < mostCounted {
			seen[k] = struct{}{}
		}
		if again = again || known || n > 1; again && len(seen) == mostCounted {
			break // the remaining rows cannot change the result
		}
	}
	return len(seen), again
}

// hash returns the hash of the text in a row: the probability of a collision among 200 000 texts is
// 1e-9.
func (c *cells) hash(h maphash.Seed, i int) uint64 {
	if p := c.decimal(i); p != 0 {
		return maphash.Comparable(h, p)
	}
	return maphash.String(h, c.Cell(i))
}

// holdingOf decides what a column holds. Words among numbers are treated as faults unless the
// column is a category such as 0, 1, 2, 3+: few values, each repeated.
func holdingOf(f facts, words map[string]int, dates int) holding {
	const few = 10 // rows; with fewer, even many words may be faults
	many := float64(f.strange) > strangeShare*float64(f.present) && !f.onlyMissing(words)
	switch {
	case f.present == 0:
		return holdsNothing
	case f.strange == 0 && f.numbers > 0:
		return holdsNumbers // Data reports malformed ones
	case dates == f.present:
		return holdsDates
	case many && f.numbers > 0 && f.present < few:
		return holdsNumbers // Data reports cells that are not numbers
	case many, f.numbers == 0:
		return holdsWords
	}
	const often = 3
	category := f.distinct <= mostWords
	for w, n := range words {
		category = category && n >= often && !standsForMissing(w)
	}
	if category {
		return holdsWords
	}
	return holdsMostlyNumbers
}

// onlyMissing reports whether all words among the numbers stand for missing values, and are no more
// than the numbers.
func (f facts) onlyMissing(words map[string]int) bool {
	n := 0
	for w, k := range words {
		if !standsForMissing(w) {
			return false
		}
		n += k
	}
	return n == f.strange && 2*f.strange <= f.present
}

// isFaulty reports whether a text was meant as a number: digits with points, commas or a percent sign.
func isFaulty(s string) bool {
	s = strings.TrimSuffix(strings.TrimLeft(s, "+-"), "%")
	digits := 0
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digits++
		case c != '.' && c != ',' && c != ' ' && c != '\'':
			return false
		}
	}
	return digits > 0
}

// standsForMissing reports whether a word is commonly written for a missing value.
func standsForMissing(s string) bool {
	switch strings.Trim(fold(s), " .") {
	case "", "-", "--", "---", "—", "–", "*", "/", "x", "none", "nil", "missing", "unknown", "not available", "not applicable", "n.a", "n/a", "na", "n/d", "n.d", "nd", "k.a", "ka", "k. a", "keine angabe", "unbekannt", "fehlt", "leer", "inconnu", "manquant", "desconocido", "s/d", "sin dato", "sconosciuto", "desconhecido", "undefined", "null", "nan", "(null)", "(none)", "(blank)", "tbd", "error", "#error":
		return true
	}
	return false
}

// unique reports whether hardly any value occurs twice.
func (f facts) unique() bool {
	const nearly = 0.9
	distinct, again := f.count()
	return f.present > 1 && (!again || float64(distinct) >= nearly*float64(f.present) && distinct > maxClasses)
}

// count returns the number of distinct values, at most mostCounted, and whether one occurs twice.
func (f facts) count() (distinct int, repeated bool) {
	if f.recount != nil {
		return f.recount()
	}
	return f.distinct, f.repeated
}

// repeats reports whether a value occurs twice.
func (f facts) repeats() bool {
	_, repeated := f.count()
	return repeated
}

// constant reports whether at least three rows all have the same value.
func (f facts) constant() bool {
	return f.rows > 2 && f.distinct == 1 && f.present == f.rows
}

// enough reports whether there are enough rows to conclude that values never repeat.
func (f facts) enough() bool { return f.present >= 10 }

// classes reports whether the values can be classes: few words or whole numbers.
func (f facts) classes() bool {
	switch {
	case f.distinct < 2 || f.counts == nil || tooMany(f.distinct, f.present):
		return false
	case f.enough() && !f.repeated:
		return false
	}
	return f.holds == holdsWords || f.holds == holdsNumbers && f.whole && !tooManyNumbers(f.distinct, f.present)
}

// twoValued reports whether there are two values that can be classes: words, or numbers that reach
// from 0 or -1 to 1 or fill at least four rows.
func (f facts) twoValued() bool {
	if f.distinct != 2 || !f.classes() {
		return false
	}
	if f.holds == holdsWords {
		return true
	}
	return f.unit() || 2*f.distinct <= f.present
}

// unit reports whether the numbers reach from 0 or -1 to 1.
func (f facts) unit() bool { return f.most == 1 && (f.least == 0 || f.least == -1) }

// numbersRows reports whether the values count the rows from 0 or 1.
func (f facts) numbersRows() bool { return f.counting && f.whole && (f.least == 0 || f.least == 1) }

// numbered reports whether the values are whole numbers from 0 or 1 without gaps, like class
// numbers.
func (f facts) numbered() bool {
	return f.holds == holdsNumbers && f.whole && (f.least == 0 || f.least == 1) && f.most-f.least == float64(f.distinct-1)
}

// continuous reports whether the values, as labels, look like measurements.
func (f facts) continuous() bool {
	return f.counts == nil || Measured(slices.Collect(maps.Keys(f.counts)), f.present)
}

// measured reports whether the values are numbers suited to regression.
func (f facts) measured() bool { return f.holds == holdsNumbers && f.distinct > 2 && !f.classes() }

// category reports whether the values are words that can become indicator features.
func (f facts) category() bool {
	return f.holds == holdsWords && f.distinct >= 2 && f.distinct <= mostWords && (2*f.distinct <= f.present || f.truths())
}

// answerWords mean yes or no.
var answerWords = wordList(`yes no y n true false t f ja nein j oui non o si s sim nao nee tak nie nej da net`)

// answers reports whether the two values mean yes and no: words, 0 and 1, or -1 and 1.
func (f facts) answers() bool {
	if !f.twoValued() {
		return false
	}
	if f.holds == holdsNumbers {
		return f.unit()
	}
	for w := range f.counts {
		if !answerWords.has(fold(w)) {
			return false
		}
	}
	return true
}

// truths reports whether the values are TRUE and FALSE.
func (f facts) truths() bool {
	if f.distinct != 2 {
		return false
	}
	for w := range f.counts {
		if !strings.EqualFold(w, "true") && !strings.EqualFold(w, "false") {
			return false
		}
	}
	return true
}

// longNumber is the least whole number that no one measures: of 14 digits, one more than milliseconds
// since 1970.
const longNumber = 1e13

// identifies returns the reason why a column is just an identifier, "" for other columns. at is its
// index from 0.
func (f facts) identifies(name string, header bool, at int) string {
	parts, whole := nameWords(name)
	in := func(set wordSet) bool {
		return header && (set.has(whole) || slices.ContainsFunc(parts, set.has))
	}
	last := ""
	if len(parts) > 0 && header {
		last = parts[len(parts)-1]
	}
	year := header && (in(yearWords) || evidence(name).numbers > 0)
	const differ, counts = "all values are distinct", "row number"
	nameless := !header || whole == "" || strings.HasPrefix(name, "column ") || whole == "unnamed0"
	switch {
	case f.holds == holdsNothing || f.constant() || f.holds == holdsNumbers && !f.whole:
		return ""
	case f.parts():
		return "training or test set"
	case in(identifierWords) && (f.distinct > 2 || f.unique()):
		return "identifier, by its name"
	case header && wholeIdentifierWords.has(whole) && f.unique(), header && (in(countingWords) || hasHead(last, identifierHeads)) && f.unique():
		if f.counting {
			return counts
		}
		return differ
	case f.counting && f.whole && at == 0 && (nameless && f.rows > 1 && (f.least == 0 || f.least == 1) && header || f.enough() && !year):
		return counts
	case f.numbersRows() && f.enough() && !year:
		return counts
	case nameless && header && at == 0 && f.holds == holdsNumbers && f.whole && f.enough() && f.present == f.rows && !f.repeats():
		return differ // row numbers after shuffling or sampling
	case f.holds == holdsNumbers && f.whole && !header && at == 0 && f.enough() && f.most >= 100*float64(f.rows) && f.unique():
		return differ
	case (f.holds == holdsWords || f.holds == holdsNumbers && f.least >= longNumber) && f.enough() && f.unique():
		return differ
	}
	return ""
}

// parts reports whether the words say which rows are the training set and which the test set.
func (f facts) parts() bool {
	if f.holds != holdsWords || f.distinct < 2 || f.distinct > len(f.counts) {
		return false
	}
	for w := range f.counts {
		if !partWords.has(fold(w)) {
			return false
		}
	}
	return true
}

// days reports whether, by their name and range, numbers are days or times: 20240131, or seconds or
// milliseconds since 1970.
func (f facts) days(name string) bool {
	parts, _ := nameWords(name)
	if f.holds != holdsNumbers || !f.whole || f.distinct < 2 || !slices.ContainsFunc(parts, dayWords.has) {
		return false
	}
	within := func(least, most float64) bool { return f.least >= least && f.most <= most }
	return within(19000101, 21001231) || within(3e8, 5e9) || within(3e11, 5e12)
}

// codes reports whether, by their name, numbers are codes rather than quantities: postcodes,
// telephone numbers.
func (f facts) codes(name string) bool {
	parts, whole := nameWords(name)
	const least = 1000
	return f.holds == holdsNumbers && f.whole && f.distinct > 2 && f.most >= least && (codeWords.has(whole) || slices.ContainsFunc(parts, codeWords.has))
}
