// Package param describes parameters and holds their values. A Param has a name, a range, a default
// and a help text. Forms, validation, JSON, command-line flags, titles and the API description
// derive from it, so a new parameter needs only its Param and the code that reads its value.
package param

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Kind is the type of a parameter's value.
type Kind int

// The kinds of values.
const (
	Number  Kind = iota // a finite float64
	Integer             // a whole number
	Switch              // true or false
	Choice              // one of Options
	Text                // any text
)

// Option is one value of a Choice.
type Option struct {
	Name    string  // as in JSON: "rbf"
	Label   string  // as on a page: "RBF (Gaussian)"
	Formula string  // plain text with Unicode, shown below the choice; optional
	Help    string  // one sentence
	Params  []Param // parameters that apply only with this option
}

// Param is one parameter.
type Param struct {
	Name    string // as in JSON and forms: "core_gamma"
	Label   string // as on a page: "core width"
	Off     string // of a Switch that is off, in a title: "not standardised"; "not " and Label if empty
	Symbol  string // as in formulas: "γ_c"; may be empty
	Kind    Kind
	Default string   // in the notation that Parse reads
	Words   []string // words a Number takes besides numbers: "auto", "scale"

	// Bounds of Number and Integer, inclusive; both 0 means unbounded. A Text has at most Max
	// characters, unlimited if 0.
	Min, Max float64
	OpenMin  bool // Min itself is excluded

	Low, High float64 // range of the slider; both 0 means no slider
	Log       bool    // the slider is logarithmic

	Options []Option // of a Choice

	// Syntax validates a Text; nil accepts any.
	Syntax func(text string) error

	Folded  bool   // for experts: hidden behind "Details" in a form
	Telling bool   // important: shown in titles and among the numbers of a report
	Effort  bool   // affects how exactly the problem is solved, not which problem
	Help    string // one plain sentence, shown beside the field and by --help

	// The parameter applies only if the parameter When has the value Is, in the notation of Parse.
	// An empty When means always.
	When, Is string
}

// Flag returns the parameter's name on the command line: "core-gamma".
func (p Param) Flag() string { return strings.ReplaceAll(p.Name, "_", "-") }

// Labelled returns p with its label as its name, for messages on a page, which shows labels only.
func (p Param) Labelled() Param {
	p.Name = cmp.Or(p.Label, p.Name)
	return p
}

// Check returns an error if text is not a value of p. The error states what p expects.
func (p Param) Check(text string) error {
	if slices.Contains(p.Words, text) {
		return nil
	}
	switch p.Kind {
	case Number, Integer:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s must be %s, not %q", p.Name, p.expects(), text)
		}
		if p.Kind == Integer && v != math.Trunc(v) {
			return fmt.Errorf("%s must be %s, not %s", p.Name, p.expects(), text)
		}
		if p.bounded() && (v < p.Min || v > p.Max || p.OpenMin && v == p.Min) {
			return fmt.Errorf("%s must be %s, not %s", p.Name, p.expects(), text)
		}
	case Switch:
		if text != "true" && text != "false" {
			return fmt.Errorf("%s must be %s, not %q", p.Name, p.expects(), text)
		}
	case Choice:
		if !slices.ContainsFunc(p.Options, func(o Option) bool { return o.Name == text }) {
			return fmt.Errorf("%s must be %s, not %q", p.Name, p.expects(), text)
		}
	case Text:
		if n := utf8.RuneCountInString(text); p.bounded() && n > int(p.Max) {
			return fmt.Errorf("%s must be %s, not of %d", p.Name, p.expects(), n)
		}
		if p.Syntax == nil {
			return nil
		}
		if err := p.Syntax(text); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// Parse parses a value of p that Check accepts. A whole number may have an exponent.
func (p Param) Parse(text string) (Value, error) {
	if err := p.Check(text); err != nil {
		return Value{}, err
	}
	return p.Read(text), nil
}

// thousands matches numbers whose comma may be a thousands separator.
var thousands = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[+-]?[1-9]\d{0,2},\d{3}$`) })

// Typed converts text typed into a form to the notation of Parse: a decimal comma becomes a point.
// Ambiguous numbers such as 1,000 are left unchanged, and Parse rejects them.
func (p Param) Typed(text string) string {
	if p.Kind != Number && p.Kind != Integer {
		return text
	}
	text = strings.TrimSpace(text)
	if thousands().MatchString(text) || strings.Contains(text, ".") || strings.Count(text, ",") != 1 {
		return text
	}
	return strings.Replace(text, ",", ".", 1)
}

// Read returns the value of text without checking the bounds of p. Text that is not of the kind of p
// stays text.
func (p Param) Read(text string) Value {
	switch p.Kind {
	case Number, Integer:
		if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return Of(v)
		}
	case Switch:
		if v, err := strconv.ParseBool(text); err == nil {
			return Of(v)
		}
	}
	return Of(text)
}

// Verify returns an error if v is not a value of p: Check for a Value.
func (p Param) Verify(v Value) error {
	text := v.Text()
	if err := p.Check(text); err != nil {
		return err
	}
	if v != p.Read(text) {
		return fmt.Errorf("%s must be %s, but %q has another type", p.Name, p.expects(), text)
	}
	return nil
}

// Union appends the parameters of more whose names are not in ps yet.
func Union(ps []Param, more ...Param) []Param {
	for _, p := range more {
		if !Contains(ps, p.Name) {
			ps = append(ps, p)
		}
	}
	return ps
}

// Contains reports whether ps has a parameter of this name.
func Contains(ps []Param, name string) bool {
	return slices.ContainsFunc(ps, func(p Param) bool { return p.Name == name })
}

// Names returns the names of the options.
func (p Param) Names() []string {
	names := make([]string, len(p.Options))
	for i, o := range p.Options {
		names[i] = o.Name
	}
	return names
}

func (p Param) bounded() bool { return p.Min != 0 || p.Max != 0 }

// expects describes the values of p, for an error: "a number from 0 to 1".
func (p Param) expects() string {
	s := "a number"
	switch p.Kind {
	case Integer:
		s = "a whole number"
	case Switch:
		return "true or false"
	case Choice:
		return "one of " + strings.Join(p.Names(), ", ")
	case Text:
		if p.bounded() {
			return "a text of at most " + short(p.Max) + " characters"
		}
		return "a text"
	}
	if p.bounded() {
		lo, hi := short(p.Min), short(p.Max)
		if p.Kind == Integer {
			hi = strconv.FormatFloat(p.Max, 'f', -1, 64) // not 1e6
		}
		if p.OpenMin {
			s += " above " + lo + " and at most " + hi
		} else {
			s += " from " + lo + " to " + hi
		}
	}
	if len(p.Words) > 0 {
		s += ", or " + strings.Join(p.Words, " or ")
	}
	return s
}

// Percent formats a fraction with one decimal and a no-break space: "94.0 %". Exactly 0 and 1 become
// "0 %" and "100 %"; values that round to them keep the decimal.
func Percent(v float64) string {
	digits := 1
	if v == 0 || v == 1 {
		digits = 0
	}
	return strconv.FormatFloat(100*v, 'f', digits, 64) + "\u00a0%"
}

// Digits formats v to n significant digits as people write it: 3050, −0.25, 2.3·10⁻⁷. The integer part
// of a number below a million keeps all its digits.
func Digits(v float64, n int) string { return Typeset(Rounded(v, n)) }

// Rounded returns the number that Digits typesets, in the notation of strconv: -2.3e-07.
func Rounded(v float64, n int) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64)
	switch size := math.Abs(short); {
	case size == 0: // also -0
		return "0"
	case size < 1e-4 || size >= 1e6:
		return strconv.FormatFloat(short, 'e', -1, 64)
	case size >= math.Pow10(n):
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// raised converts an exponent to superscript characters.
var raised = strings.NewReplacer("+", "", "-", "⁻", "−", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// Typeset returns a number of strconv with a minus sign for the hyphen and 2e-07 as 2·10⁻⁷.
func Typeset(s string) string {
	mantissa, exponent, ok := strings.Cut(s, "e")
	if ok {
		sign := strings.TrimRight(exponent, "0123456789")
		exponent = "10" + raised.Replace(sign+strings.TrimLeft(exponent[len(sign):], "0"))
		if s = mantissa + "·" + exponent; strings.TrimLeft(mantissa, "-−") == "1" {
			s = strings.TrimSuffix(mantissa, "1") + exponent
		}
	}
	return Minus(infinity.Replace(s))
}

var infinity = strings.NewReplacer("+Inf", "∞", "Inf", "∞")

// Minus replaces hyphens in formatted numbers by the minus sign.
func Minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// ClassText returns the name of a class for display: with a minus sign if it is a negative number.
func ClassText(name string) string {
	if _, err := strconv.ParseFloat(name, 64); err != nil {
		return name
	}
	return Minus(name)
}

// Bytes formats a number of bytes in at most four digits with a no-break space, in units of 1024:
// "97.66 kB", "1 GB"; below a kilobyte "17 bytes".
func Bytes(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}} {
		if n >= unit.size {
			return fmt.Sprintf("%.4g\u00a0%s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return fmt.Sprintf("%d\u00a0bytes", n)
}

// short formats a number with the shortest exponent: 1e9, not 1e+09.
func short(v float64) string {
	return strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-").Replace(strconv.FormatFloat(v, 'g', -1, 64))
}

// Problem describes one error in one field.
type Problem struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Problems is an error that lists every invalid field.
type Problems []Problem

// Add adds a problem of a field.
func (ps *Problems) Add(field, format string, args ...any) {
	*ps = append(*ps, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

// Note adds err as a problem of a field, unless it is nil.
func (ps *Problems) Note(field string, err error) {
	if err != nil {
		*ps = append(*ps, Problem{Field: field, Message: err.Error()})
	}
}

// Error joins the messages.
func (ps Problems) Error() string {
	msgs := make([]string, len(ps))
	for i, p := range ps {
		msgs[i] = p.Message
	}
	return strings.Join(msgs, "; ")
}

// For returns the message for a field, or "".
func (ps Problems) For(field string) string {
	for _, p := range ps {
		if p.Field == field {
			return p.Message
		}
	}
	return ""
}

// Err returns ps as an error, nil when it is empty.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}
