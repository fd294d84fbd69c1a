package lessons

import (
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"marginlab/views/figure"
)

// meanings are the symbols and stressed words of lessons that mean a part of a picture, by
// the name that it has there, without spaces. A part is also meant by its own name.
var meanings = map[string][]string{
	"slack":                    {"ξi", "ξ", "∑iξi", "slackvariable", "hingeloss", "ξi=max(0,1−yif(xi))"},
	"f = 0":                    {"f(x)=0", "w⊤x+b=0", "w⊤x=0", "hyperplane", "boundary", "decisionboundary", "b"},
	"f = ±1":                   {"f(x)=±1", "yif(xi)=1", "yf=1", "margin", "1/‖w‖"},
	"f = ±h":                   {"h"},
	"support vector":           {"supportvectors", "αi", "αi>0", "α", "λj", "λj≠0"},
	"α > 0":                    {"supportvectors", "supportvector", "αi", "αi>0", "α"},
	"worst margin":             {"geometricmargin", "margin", "γ"},
	"margin γ":                 {"γ", "margin"},
	"gap 2Δ":                   {"Δ", "2Δ", "R/Δ"},
	"Δ from the line":          {"Δ", "2Δ", "R/Δ"},
	"smallest circle, R":       {"R", "R/Δ"},
	"radius R":                 {"R", "R/Δ"},
	"yours":                    {"w"},
	"optimum":                  {"optimum", "minimum"},
	"the pair":                 {"α1", "α2", "i", "j"},
	"allowed":                  {"segment", "α1", "α2"},
	"walls":                    {"constraints", "hj≤0", "hi≤0"},
	"hinge":                    {"hingeloss", "ξi", "max(0,1−yf)"},
	"training error":           {"Remp", "trainingerror"},
	"training points":          {"trainingerror", "Remp"},
	"new points":               {"trueerror", "R"},
	"true error":               {"R", "risk"},
	"closest pair":             {"closest", "supportvectors"},
	"distance from the origin": {"|b|/‖w‖", "b"},
}

// Meant are the parts of a picture with what means them, as Names.
func Meant(parts []figure.Part) []figure.Part {
	meant := make([]figure.Part, 0, len(parts))
	for _, p := range parts {
		names := []string{}
		for _, n := range p.Names {
			names = append(append(names, word(n)), meanings[n]...)
			if _, err := strconv.Atoi(n); err == nil { // a point by its number
				names = append(names, "α"+n, "x"+n, "a"+n)
			}
		}
		p.Names = names
		meant = append(meant, p)
	}
	return meant
}

// word is a name as symbols and words are compared: without spaces, letters without
// their style.
func word(name string) string { return strings.Join(strings.Fields(norm.NFKC.String(name)), "") }
