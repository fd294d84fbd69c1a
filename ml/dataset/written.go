package dataset

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// spelling is a way to write the numbers of a column other than 1234.5.
type spelling struct {
	group   string // between thousands: a comma, a point, a space or an apostrophe; "" where there is none
	point   string // the decimal sign
	percent bool   // behind each
}

// spellings lists the spellings in the order tried. Plain numbers take precedence.
var spellings = []spelling{
	{",", ".", false},
	{".", ",", false},
	{" ", ".", false},
	{" ", ",", false},
	{"'", ".", false},
	{"'", ",", false},
	{"", ",", false},
	{"", ".", true},
	{"", ",", true},
	{",", ".", true},
	{".", ",", true},
	{" ", ".", true},
	{" ", ",", true},
	{"'", ".", true},
	{"'", ",", true},
}

// typeset maps typographic characters to those of a keyboard.
var typeset = strings.NewReplacer("\u00a0", " ", "\u2007", " ", "\u2009", " ", "\u202f", " ", "\u2212", "-", "\u2019", "'")

// plain is a number in the plain form, 1234.5, and whether it must be of this spelling: 1,234
// may be a little more than 1.
func (w spelling) plain(s string) (number string, told, ok bool) {
	s = typeset.Replace(s)
	if w.percent {
		if s, told = strings.CutSuffix(s, "%"); !told {
			return "", false, false
		}
		s = strings.TrimRight(s, " ")
	}
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	whole, fraction, pointed := strings.Cut(s, w.point)
	if w.group != "" && strings.Contains(whole, w.group) {
		groups := strings.Split(whole, w.group)
		for k, g := range groups {
			if k > 0 && len(g) != 3 || k == 0 && len(groups) > 1 && (g == "" || g[0] == '0' || len(g) > 3) {
				return "", false, false
			}
		}
		const sure = " '"
		told = told || len(groups) > 2 || len(groups) == 2 && (pointed || strings.Contains(sure, w.group))
		whole = strings.Join(groups, "")
	}
	if w.group == "" && !w.percent {
		told = pointed && (len(fraction) != 3 || strings.HasPrefix(whole, "0"))
	}
	if strings.Trim(whole+fraction, "0123456789") != "" || whole+fraction == "" || pointed && fraction == "" {
		return "", false, false
	}
	if number = sign + whole; pointed {
		number += "." + fraction
	}
	if w.percent {
		v, ok := parseNumber(number + "e-2")
		return string(appendNumber(nil, v)), told, ok
	}
	return number, told, true
}

// reads reports whether all numbers of a column are written so, or plainly, and one of them is
// sure to be, if the spelling is not sure anyhow.
func (w spelling) reads(c *Column, sure bool) bool {
	some := false
	for s := range c.values() {
		_, told, ok := w.plain(s)
		switch {
		case missing(s):
		case !ok:
			return false
		default:
			some = some || told || sure && strings.Contains(s, w.group)
		}
	}
	return some
}

// rewrite returns a number in the plain form, and any other text as it is.
func (w spelling) rewrite(s string) string {
	if plain, _, ok := w.plain(s); ok {
		return plain
	}
	return s
}

// spellingNotes says what readSpellings does.
var spellingNotes = [...]string{
	currencySigns:       "currency signs removed",
	thousandsSeparators: "thousands separators removed",
	decimalCommas:       "1,5 read as 1.5",
	percentages:         "12 % read as 0.12",
}

const (
	currencySigns = iota
	thousandsSeparators
	decimalCommas
	percentages
)

// readSpellings makes plain numbers of those with separators between thousands, and of
// percentages the share that they are: 0.125 for 12.5 %, and of 1,5 where a column has nothing
// else, though commas separate cells; amounts lose the sign of their currency. It
// returns the columns for each of spellingNotes.
func (t *Table) readSpellings() (columns [len(spellingNotes)][]int) {
	if t.Kind != "" || !slices.ContainsFunc(t.Columns, func(c Column) bool { return !c.Numeric }) { // the canonical form has only plain numbers
		return columns
	}
	pointed := t.hasDecimalPoints()
	label, _ := t.guessLabel() // of which the texts stay unless they are sure to be numbers
	for j := range t.Columns {
		c := &t.Columns[j]
		if c.Numeric || c.Gappy() {
			continue
		}
		amounts := c.currency() != ""
		if amounts {
			columns[currencySigns] = append(columns[currencySigns], j)
			c.rewrite(func(s string) string {
				if amount, sign := cutCurrency(s); sign != "" {
					return amount
				}
				return s
			})
			c.weigh()
		}
		k := slices.IndexFunc(spellings, func(w spelling) bool {
			// Amounts do not have three decimals: 1.200 € is more than a thousand.
			return w.reads(c, amounts && w.group != "" || pointed && w.group == "," && !w.percent && j != label)
		})
		if k < 0 {
			continue
		}
		c.rewrite(spellings[k].rewrite)
		c.weigh()
		note := thousandsSeparators
		if w := spellings[k]; w.percent {
			note = percentages
		} else if w.group == "" {
			note = decimalCommas
		}
		columns[note] = append(columns[note], j)
	}
	return columns
}

// group returns the thousands separator of the first number in the column that is unambiguous,
// as 1,234.5 but not 1,234; "" if there is none.
func (c *Column) group() string {
	for i := range c.firsts() {
		if _, ok := c.number(i); ok {
			continue
		}
		s := c.Cell(i)
		if s == "" || s[len(s)-1] < '0' || s[len(s)-1] > '9' { // most texts, quickly
			continue
		}
		for _, w := range spellings {
			if _, told, ok := w.plain(s); told && ok && !w.percent {
				return w.group
			}
		}
	}
	return ""
}

// thousands returns the spelling of a column whose numbers may have thousands separators though
// none is sure to, and one of them: three digits follow every comma, or every point while other
// numbers are whole and below 1000. Commas or points are what the texts may have.
func (c *cells) thousands(commas, points bool) (w spelling, example string) {
	if w = spellings[1]; commas {
		w = spellings[0]
	}
	if commas || points {
		example = w.example(c)
	}
	return w, example
}

// example returns a number that may have a thousands separator; empty if there are fewer than
// three of them or, unless it is a comma, no two whole numbers: one may stand for a missing value.
func (w spelling) example(c *cells) (example string) {
	const least = 3
	separated, whole, several := 0, "", w.group == ","
	for s := range c.values() {
		if missing(s) {
			continue
		}
		_, told, ok := w.plain(s)
		digits := strings.TrimLeft(s, "+-−")
		switch grouped := strings.Contains(s, w.group); {
		case !ok || told || !grouped && len(digits) > 3:
			return ""
		case grouped:
			separated++
			example = s
		default:
			several = several || whole != "" && whole != s
			whole = s
		}
	}
	if !several || separated < least {
		return ""
	}
	return example
}

// hasDecimalPoints reports whether some column of numbers has them, so that a comma is none.
func (t *Table) hasDecimalPoints() bool {
	for j := range t.Columns {
		c := &t.Columns[j]
		for i := range c.firsts() {
			if !c.Numeric && !strings.HasSuffix(c.Cell(i), "%") {
				break
			}
			if c.pointed(i) {
				return true
			}
		}
	}
	return false
}

// codes are signs of currencies in letters.
var codes = []string{"EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR"}

// cutCurrency removes the currency sign from an amount, which may start with a minus: -€ 5 is -5,
// 5 EUR is 5. sign is empty if there is none.
func cutCurrency(s string) (amount, sign string) {
	s = strings.TrimSpace(typeset.Replace(s))
	minus := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		minus, s = s[:1], s[1:]
	}
	first, n := utf8.DecodeRuneInString(s)
	last, m := utf8.DecodeLastRuneInString(s)
	switch {
	case unicode.Is(unicode.Sc, first):
		sign, s = s[:n], s[n:]
	case unicode.Is(unicode.Sc, last):
		sign, s = s[len(s)-m:], s[:len(s)-m]
	default:
		for _, code := range codes {
			rest, before := strings.CutPrefix(s, code)
			if !before {
				rest, _ = strings.CutSuffix(s, code)
			}
			if len(rest) < len(s) {
				sign, s = code, rest
				break
			}
		}
	}
	return minus + strings.TrimSpace(s), sign
}

// isAmount reports whether s is a number in any spelling, with or without a currency sign.
func isAmount(s string) bool {
	s, _ = cutCurrency(s)
	_, plain := parseNumber(s)
	return plain || isWrittenNumber(s)
}

// currency returns the currency sign common to all amounts of a column, empty if there is none.
func (c *Column) currency() (sign string) {
	for s := range c.values() {
		if missing(s) {
			continue
		}
		_, of := cutCurrency(s)
		if of == "" || sign != "" && of != sign || !isAmount(s) {
			return ""
		}
		sign = of
	}
	return sign
}

// isWrittenNumber reports whether s is a number in any spelling.
func isWrittenNumber(s string) bool {
	return slices.ContainsFunc(spellings, func(w spelling) bool { _, _, ok := w.plain(s); return ok })
}

// days and hours are how dates and times are written; a year of two digits among them.
var (
	days  = []string{"2006-1-2", "20060102", "2006/1/2", "2006.1.2", "2.1.2006", "2.1.06", "1/2/2006", "2/1/2006", "1/2/06", "2/1/06", "2-1-2006", "1-2-2006", "2-Jan-2006", "2-Jan-06", "2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006"}
	hours = []string{"150405", "150405Z07:00", "15:04", "15:04:05", "3:04 PM", "3:04:05 PM", "15:04:05Z07:00", "15:04Z07:00"}
)

// isDate reports whether s is a date, a time, or both.
func isDate(s string) bool {
	const shortest, longest = 4, 40
	if len(s) < shortest || len(s) > longest || !strings.ContainsAny(s, "-/.: T") {
		return false
	}
	is := func(s string, layouts []string) bool {
		return slices.ContainsFunc(layouts, func(layout string) bool { _, err := time.Parse(layout, s); return err == nil })
	}
	if is(s, days) || is(s, hours) {
		return true
	}
	for i, c := range s {
		if (c == ' ' || c == 'T') && is(s[:i], days) && is(s[i+1:], hours) {
			return true
		}
	}
	return false
}

// Dates reports whether the column holds dates or times.
func (c *Column) Dates() bool { return factsOf(c).holds == holdsDates }
