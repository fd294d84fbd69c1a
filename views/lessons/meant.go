package lessons

import (
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"marginlab/views/figure"
)

// Meanings maps the names of picture parts, without spaces, to the symbols and emphasised words of
// lessons that refer to them. A part is also referred to by its own name.
var Meanings = map[string][]string{
	"distance from the origin": {"|b|/‖w‖"},
	"f = 0":                    {"f(x)=0", "decisionboundary"},
	"f = ±1":                   {"f(x)=±1", "yif(xi)=1", "marginlines"},
	"f = ±h":                   {"h"},
	"slack":                    {"ξi", "ξ", "slackvariable"},
	"support vector":           {"supportvectors", "αi>0", "λj≠0"},
	"worst margin":             {"geometricmargin", "γ", "worst"},
	"margin γ":                 {"γ", "widemargin"},
	"gap 2Δ":                   {"Δ", "2Δ"},
	"Δ from the line":          {"Δ"},
	"smallest circle, R":       {"R"},
	"radius R":                 {"R"},
	"radius, with the 1":       {"Rˆ"},
	"margin, with the 1":       {"Δˆ"},
	"constraint g = 0":         {"g=0"},
	"wall h = 0":               {"h=0"},
	"the pair":                 {"i", "j"},
	"ceiling: ½|w|²":           {"12‖w‖2"},
	"floor: W(α)":              {"W(α)"},
	"½‖w‖²":                    {"12‖w‖2"},
	"hinge":                    {"hingeloss"},
	"training error":           {"Remp"},
	"training points":          {"training"},
	"new points":               {"new"},
	"true error":               {"R"},
	"left-out error":           {"leave-one-outerror"},
	"share of support vectors": {"NSV/N"},
	"between":                  {"Sb"},
	"within":                   {"Sw"},
	"f(x)":                     {"f"},
	"residual t − f(x)":        {"ti−f(xi)"},
}

// Meant returns the parts of a picture with everything that refers to them as Names.
func Meant(parts []figure.Part) []figure.Part {
	meant := make([]figure.Part, 0, len(parts))
	for _, p := range parts {
		names := []string{}
		for _, n := range p.Names {
			if _, err := strconv.Atoi(n); err == nil { // the number of a point, which is no name in itself
				names = append(names, "α"+n, "a"+n, "𝐱"+n)
				continue
			}
			names = append(append(names, word(n)), Meanings[n]...)
		}
		p.Names = names
		meant = append(meant, p)
	}
	return meant
}

// word normalises a name for comparison: without spaces and letter styles.
func word(name string) string { return strings.Join(strings.Fields(norm.NFKC.String(name)), "") }
