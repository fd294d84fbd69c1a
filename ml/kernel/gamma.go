package kernel

import (
	"encoding/json"
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/mat"
)

// Gamma is the parameter gamma as users give it: a number, or a rule that takes
// it from the data. The zero value is the rule auto.
type Gamma struct {
	Rule  string  // "auto", "scale", or "" for a number
	Value float64 // the number when Rule is "", above 0
}

// ParseGamma reads "auto", "scale" or a number above 0 and at most 1e9.
func ParseGamma(text string) (Gamma, error) {
	if err := gamma.Check(text); err != nil {
		return Gamma{}, err
	}
	if text == "auto" || text == "scale" {
		return Gamma{Rule: text}, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	return Gamma{Value: v}, err
}

// String is the text that ParseGamma reads; a number keeps every digit.
func (g Gamma) String() string {
	switch {
	case g.Rule != "":
		return g.Rule
	case g.Value == 0:
		return "auto"
	}
	return strconv.FormatFloat(g.Value, 'g', -1, 64)
}

// MarshalJSON writes a number or the name of the rule.
func (g Gamma) MarshalJSON() ([]byte, error) {
	if g.Rule == "" && g.Value != 0 {
		return json.Marshal(g.Value)
	}
	return json.Marshal(g.String())
}

// UnmarshalJSON reads a number or a text that ParseGamma takes.
func (g *Gamma) UnmarshalJSON(data []byte) error {
	text := string(data)
	if len(data) > 0 && data[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return fmt.Errorf("gamma: %w", err)
		}
	}
	v, err := ParseGamma(text)
	if err != nil {
		return err
	}
	*g = v
	return nil
}

// Resolve returns the number for the rows of x (M x d) as the kernel will see
// them: auto is 1/d (LIBSVM's default), scale is 1/(d·v) with v the population
// variance of all entries of x, and 1/d when v is 0 (scikit-learn's default).
func (g Gamma) Resolve(x *mat.Dense) float64 {
	if g.Rule == "" && g.Value != 0 {
		return g.Value
	}
	m, d := x.Dims()
	if g.Rule == "scale" {
		n := float64(m * d)
		var mean, variance float64
		for i := range m {
			for _, v := range x.RawRowView(i) {
				mean += v / n
			}
		}
		for i := range m {
			for _, v := range x.RawRowView(i) {
				variance += (v - mean) * (v - mean) / n
			}
		}
		if variance > 0 {
			return 1 / (float64(d) * variance)
		}
	}
	return 1 / float64(d)
}
