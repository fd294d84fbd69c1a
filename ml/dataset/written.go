package dataset

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// spelling is a way, other than 1234.5, to write the numbers of a column.
type spelling struct {
	group   string // thousands separator: a comma, a point, a space or an apostrophe; "" for none
	point   string // the decimal sign
	percent bool   // each number ends in a percent sign
}

// spellings lists the spellings in the order tried. Plain numbers take precedence.
var spellings = []spelling{
	{"", ",", false},
	{",", ".", false},
	{".", ",", false},
	{" ", ".", false},
	{" ", ",", false},
	{"'", ".", false},
	{"'", ",", false},
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

// plain returns a number in the plain form, 1234.5, if it can be read in this spelling.
func (w spelling) plain(s string) (number string, ok bool) {
	if w == spellings[0] { // a fast path for most numbers
		number = strings.Replace(s, ",", ".", 1)
		if p, to, _ := cutDecimal(number, 0); number != s && to == len(s) && p.decimals() > 0 {
			return number, true
		}
	}
	s = typeset.Replace(s)
	exponent := ""
	if i := strings.IndexAny(s, "eE"); i > 0 {
		s, exponent = s[:i], s[i:]
	}
	if w.percent {
		if s, ok = strings.CutSuffix(s, "%"); !ok {
			return "", false
		}
		s, exponent = strings.TrimRight(s, " "), "e-2"
	}
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	whole, fraction, pointed := strings.Cut(s, w.point)
	if w.group != "" && strings.Contains(whole, w.group) {
		groups := strings.Split(whole, w.group)
		for k, g := range groups {
			indian := w.group == "," && k < len(groups)-1 && len(g) == 2 // 1,23,456
			if k > 0 && len(g) != 3 && !indian || k == 0 && (g == "" || g[0] == '0' || len(g) > 3) || exponent != "" && !w.percent {
				return "", false
			}
		}
		whole = strings.Join(groups, "")
	}
	if strings.Trim(whole+fraction, "0123456789") != "" || whole+fraction == "" || pointed && fraction == "" {
		return "", false
	}
	if number = sign + whole; pointed {
		number += "." + fraction
	}
	if exponent == "" {
		return number, true
	}
	v, ok := parseNumber(number + exponent)
	return string(appendNumber(nil, v)), ok
}

// reads reports whether the numbers of a column are in this spelling or plain, and at least one has a
// sign of this spelling. There may be a few words among them.
func (w spelling) reads(c *Column) bool {
	some, numbers, words := false, 0, 0
	for s := range c.values() {
		_, ok := w.plain(s)
		switch {
		case missing(s):
		case ok:
			numbers++
			some = some || w.percent || strings.Contains(typeset.Replace(s), cmp.Or(w.group, w.point))
		case isFaulty(s):
			return false
		default:
			words++
		}
	}
	return some && float64(words) <= strangeShare*float64(words+numbers)
}

// rewrite returns a number in the plain form, and any other text unchanged.
func (w spelling) rewrite(s string) string {
	if plain, ok := w.plain(s); ok {
		return plain
	}
	return s
}

// negative returns a negative amount in accounting notation, (3.51) or 3.51-, with a leading minus,
// and any other text unchanged.
func negative(s string) string {
	amount, ok := strings.CutSuffix(s, "-")
	if before, within, open := strings.Cut(s, "("); open && !strings.ContainsAny(before, "0123456789") {
		within, ok = strings.CutSuffix(within, ")")
		amount = before + within // $(3.51)
	}
	if amount = strings.TrimSpace(amount); ok && !strings.ContainsAny(amount, "+-") && isAmount(amount) {
		return "-" + amount
	}
	return s
}

// readNegatives applies negative to a column if everything else in it is a number and at least one
// is positive. It returns the signs of the column, with movedMinus if it did.
func (c *Column) readNegatives() signs {
	word := func(s string) bool { return negative(s) == s && !isAmount(s) && !missing(s) && !standsForMissing(s) }
	if c.any(word) || !c.any(func(s string) bool { return isAmount(s) && s[0] != '-' }) {
		return c.signs() &^ movedMinus
	}
	c.rewrite(negative)
	return c.signs() | movedMinus
}

// groupedCodes reports whether all texts of a column are distinct and consist of at least three groups
// of three digits: identifiers such as 301.195.200 rather than quantities.
func (c *Column) groupedCodes() bool {
	grouped := func(s string) bool {
		for i := range len(s) {
			if of := i%4 == 3; of != strings.Contains("., '", s[i:i+1]) || !of && (s[i] < '0' || s[i] > '9') {
				return false
			}
		}
		return len(s) >= 11 && len(s)%4 == 3
	}
	if c.any(func(s string) bool { return !missing(s) && !grouped(typeset.Replace(s)) }) {
		return false
	}
	f := factsOf(c)
	return f.enough() && f.unique()
}

// spellingNotes describes what readSpellings does.
var spellingNotes = [...]string{
	movedMinuses:        "(1.5) or 1.5- read as −1.5",
	currencySigns:       "currency signs removed",
	measuredUnits:       "units removed",
	thousandsSeparators: "thousands separators removed",
	decimalCommas:       "1,5 read as 1.5",
	percentages:         "12 % read as 0.12",
}

const (
	movedMinuses = iota
	currencySigns
	measuredUnits
	thousandsSeparators
	decimalCommas
	percentages
)

// signs is the set of ways in which the numbers of a column are written.
type signs uint8

const (
	decimalComma  signs = 1 << iota // a number that can only have a decimal comma: 1,5
	decimalPoint                    // a number that can only have a decimal point: 1.5
	doubtfulComma                   // a number whose comma may also separate thousands: 1,234
	doubtfulPoint                   // a number whose point may also separate thousands: 1.234
	otherSpelling                   // a number with another sign, such as a currency
	noNumber                        // digits and signs that are not a number: dates, addresses
	movedMinus                      // a negative number without a minus in front

	eitherSign = decimalComma | decimalPoint
)

// signs examines the texts of a column.
func (c *Column) signs() (found signs) {
	for i := range c.firsts() {
		if p := c.decimal(i); p == 0 {
			found |= signsOf(c.Cell(i))
		} else if p.decimals() > 0 {
			found |= p.signs()
		}
	}
	return found
}

// signs examines a number with decimals behind a point.
func (p packed) signs() signs {
	if whole := p & (1<<wholeBits - 1); p.decimals() == 3 && 1000 <= whole && whole < 1_000_000 {
		return doubtfulPoint
	}
	return decimalPoint
}

// signsOf examines a text.
func signsOf(s string) (found signs) {
	pointed := strings.Replace(s, ",", ".", 1)
	if p, to, _ := cutDecimal(pointed, 0); to == len(s) && p.decimals() > 0 { // a fast path for most texts
		found = p.signs()
	} else if _, number := parseNumber(pointed); number && strings.Contains(pointed[:len(s)-1], ".") {
		found = decimalPoint
	}
	switch {
	case found != 0 && pointed != s:
		return found >> 1 // the flag of the comma
	case found != 0:
		return found
	}
	amount, _ := cutCurrency(s)
	if negative(s) != s {
		return movedMinus
	}
	if missing(s) || !isFaulty(amount) {
		return 0
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return noNumber
	}
	for _, w := range spellings {
		if _, ok := w.plain(amount); ok {
			found |= w.sign()
		}
	}
	switch {
	case found == 0:
		return noNumber
	case found != eitherSign:
	case strings.Contains(amount, ","):
		found = doubtfulComma
	case strings.Contains(amount, "."):
		found = doubtfulPoint
	default:
		found = 0
	}
	return found | otherSpelling
}

// sign returns the decimal sign.
func (w spelling) sign() signs {
	if w.point == "," {
		return decimalComma
	}
	return decimalPoint
}

// readSpellings rewrites numbers with decimal commas or thousands separators as plain numbers, and
// percentages as fractions: 0.125 for 12.5 %; amounts lose their currency or unit. Whether 1.234 and
// 1,234 are a little more than 1 or than a thousand is decided by the other numbers of the column, or
// else by those of the file. It returns the columns for each of spellingNotes.
func (t *Table) readSpellings() (columns [len(spellingNotes)][]int) {
	if t.Kind != "" && t.Separator == "comma" { // the canonical form has only plain numbers
		return columns
	}
	label := sync.OnceValue(func() int { // its texts are kept unless they are surely numbers
		t.weigh()
		j, _ := t.guessLabel()
		return j
	})
	of, sign := t.decimalSigns(label)
	for j, s := range of {
		for _, note := range t.readSpelling(j, s, sign, label) {
			columns[note] = append(columns[note], j)
		}
	}
	t.commas = columns[decimalCommas] != nil
	return columns
}

// decimalSigns returns the signs of each column and the decimal sign of the file, 0 if unknown, after
// reading minus signs behind numbers.
func (t *Table) decimalSigns(label func() int) (of []signs, sign signs) {
	of = make([]signs, len(t.Columns))
	sideBySide(len(of), func(j int) {
		of[j] = t.Columns[j].signs()
	})
	all := signs(0)
	for j, s := range of {
		if s&movedMinus != 0 {
			if s &^= movedMinus; s&eitherSign != 0 || j != label() {
				s = t.Columns[j].readNegatives()
			}
		}
		if t.Format == "xlsx" && s&doubtfulPoint != 0 { // cells of numbers always have a decimal point
			s |= decimalPoint
		}
		of[j] = s
		if s&noNumber == 0 && (s&decimalComma == 0 || t.Separator != "comma" || j != label()) {
			all |= s
		}
	}
	if sign = all & eitherSign; sign == eitherSign {
		sign = 0
	}
	t.sign = sign
	if t.Format == "csv" && t.Separator != "comma" {
		if all&(eitherSign|doubtfulComma|doubtfulPoint) == doubtfulComma {
			sign = decimalComma
		}
		t.DecimalComma = sign == decimalComma
	}
	return of, sign
}

// readSpelling rewrites the numbers of column j, with signs s, in a file with the given decimal sign.
// It returns what it did, as indices of spellingNotes.
func (t *Table) readSpelling(j int, s, sign signs, label func() int) (notes []int) {
	if s&movedMinus != 0 {
		notes = append(notes, movedMinuses)
	}
	c, sign := &t.Columns[j], cmp.Or(s&eitherSign, sign)
	if s&(decimalComma|doubtfulComma|otherSpelling) == 0 && (s&doubtfulPoint == 0 || sign != decimalComma) {
		return notes
	}
	if s&doubtfulComma != 0 && s&eitherSign == 0 && sign == decimalPoint && j == label() {
		sign = 0
	}
	currency, removed := c.currency(), currencySigns
	if slices.Contains(units, currency) {
		removed = measuredUnits
	}
	amounts := currency != "" && removed == currencySigns
	if currency != "" {
		notes = append(notes, removed)
		c.rewrite(func(s string) string {
			amount, _ := cutCurrency(s)
			return amount
		})
	} else if c.groupedCodes() {
		return notes
	}
	k := slices.IndexFunc(spellings, func(w spelling) bool {
		if sign == 0 { // amounts do not have three decimals: 1.200 € is more than a thousand
			return (w.percent || w.group != "" && (amounts || strings.Contains(" '", w.group))) && w.reads(c)
		}
		return w.sign() == sign && w.reads(c)
	})
	if k < 0 && t.DecimalComma && sign == decimalComma {
		k = 0 // numbers among words
	}
	if k < 0 {
		return notes
	}
	c.rewrite(spellings[k].rewrite)
	switch w := spellings[k]; {
	case w.percent:
		notes = append(notes, percentages)
	case w.group != "":
		notes = append(notes, thousandsSeparators)
	case !t.DecimalComma: // which covers the whole file
		notes = append(notes, decimalCommas)
	}
	return notes
}

// grouping is a spelling with thousands separators that a column may use, though none is certain.
type grouping struct {
	spelling
	example string // a number with one; empty: the column cannot have them
	likely  bool   // several numbers below 1000 are whole
}

// thousands returns the grouping of a column in which three digits follow every comma, or every point.
// commas and points report which of the two the texts may contain.
func (c *cells) thousands(commas, points bool) (g grouping) {
	const least = 3 // of them
	switch {
	case commas:
		g.spelling = spelling{group: ",", point: "."}
	case points:
		g.spelling = spelling{group: ".", point: ","}
	default:
		return g
	}
	separated, whole := 0, ""
	for s := range c.values() {
		_, ok := g.plain(s)
		switch grouped := strings.Contains(s, g.group); {
		case missing(s):
		case !ok || signsOf(s)&eitherSign != 0 || !grouped && len(strings.TrimLeft(s, "+-−")) > 3:
			return grouping{}
		case grouped:
			separated++
			g.example = s
		default:
			g.likely = g.likely || whole != "" && whole != s // a single value may stand for a missing one
			whole = s
		}
	}
	if commas && separated < least {
		return grouping{}
	}
	g.likely = g.likely && separated >= least
	return g
}

// codes are currency signs written in letters.
var codes = []string{"EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "R$", "Fr.", "kr", "Kč", "zł"}

// units lists the units of common measurements.
var units = strings.Fields(`mm cm m km mm² cm² m² km² m2 cm³ m³ m3 ml mL l L µm μm µg μg mg g kg
	ms s min h Hz kHz MHz GHz mV V kW kWh Pa hPa kPa bar mbar °C °F lb lbs ft km/h m/s mph dB ppm`)

// cutCurrency removes a currency sign, or a unit at the end, from an amount, which may start with a
// minus: -€ 5 becomes -5, and 5 EUR and 5 cm become 5. sign is empty if there is none.
func cutCurrency(s string) (amount, sign string) {
	s = strings.TrimSpace(typeset.Replace(s))
	minus := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		minus, s = s[:1], s[1:]
	}
	first, n := utf8.DecodeRuneInString(s)
	last, m := utf8.DecodeLastRuneInString(s)
	unit := strings.TrimLeft(s, "0123456789.,' ")
	switch {
	case unicode.Is(unicode.Sc, first):
		sign, s = s[:n], s[n:]
	case unicode.Is(unicode.Sc, last):
		sign, s = s[len(s)-m:], s[:len(s)-m]
	case unit != s && slices.Contains(units, unit):
		sign, s = unit, strings.TrimSuffix(s, unit)
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

// isAmount reports whether s is a number in any spelling, with or without a currency sign or unit.
func isAmount(s string) bool {
	s, _ = cutCurrency(s)
	_, plain := parseNumber(s)
	return plain || slices.ContainsFunc(spellings, func(w spelling) bool { _, ok := w.plain(s); return ok })
}

// currency returns the currency sign or unit common to all amounts of a column, empty if there is none.
func (c *Column) currency() (sign string) {
	for s := range c.values() {
		if missing(s) || standsForMissing(s) {
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

// days and hours match written dates and times, including two-digit years.
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
