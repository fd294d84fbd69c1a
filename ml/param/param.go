// Package param describes parameters: name, range, default and help. Forms,
// validation, JSON, command-line flags and help text all derive from these rows.
package param

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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
	Name  string // as in JSON: "rbf"
	Label string // as on a page: "RBF (Gaussian)"
	Help  string // one sentence
}

// Param is one parameter.
type Param struct {
	Name    string // as in JSON and forms: "core_gamma"
	Label   string // as on a page: "core width"
	Symbol  string // as in formulas: "γ_c"; may be empty
	Kind    Kind
	Default string   // in the notation that Parse reads
	Words   []string // words a Number takes besides numbers: "auto", "scale"

	Min, Max float64 // bounds of Number and Integer, inclusive; both 0 means unbounded
	OpenMin  bool    // Min itself is excluded

	Low, High float64 // range of the slider; both 0 means no slider
	Log       bool    // the slider is logarithmic

	Options []Option // of a Choice
	Folded  bool     // of interest to few: a form folds it away
	Help    string   // one plain sentence, shown beside the field and by --help
}

// Flag is the parameter's name on the command line: "core-gamma".
func (p Param) Flag() string { return strings.ReplaceAll(p.Name, "_", "-") }

// Check reports what is wrong with text as a value of p, in words that tell
// what was expected, or nil.
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
			return fmt.Errorf("%s must be true or false, not %q", p.Name, text)
		}
	case Choice:
		names := make([]string, len(p.Options))
		for i, o := range p.Options {
			if o.Name == text {
				return nil
			}
			names[i] = o.Name
		}
		return fmt.Errorf("%s must be one of %s, not %q", p.Name, strings.Join(names, ", "), text)
	}
	return nil
}

func (p Param) bounded() bool { return p.Min != 0 || p.Max != 0 }

func (p Param) expects() string {
	s := "a number"
	if p.Kind == Integer {
		s = "a whole number"
	}
	if p.bounded() {
		switch lo, hi := short(p.Min), short(p.Max); {
		case p.OpenMin:
			s += " above " + lo + " and at most " + hi
		default:
			s += " from " + lo + " to " + hi
		}
	}
	if len(p.Words) > 0 {
		s += ", or " + strings.Join(p.Words, " or ")
	}
	return s
}

// short writes 1e9, not 1e+09.
func short(v float64) string {
	return strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-").Replace(strconv.FormatFloat(v, 'g', -1, 64))
}

// Problem is one thing wrong with one field.
type Problem struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Problems is an error that names every field that is wrong.
type Problems []Problem

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
