// Package simd selects the compiled variant of the inner loops: for any processor, for AVX2, or
// for AVX-512. The last two give the same results. They multiply and add in one rounding, which
// the first cannot, so that its results differ from theirs in the last digits; the environment
// variable MARGINLAB_SIMD selects one, to reproduce the result of another machine.
package simd

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Variable is the environment variable that names the level.
const Variable = "MARGINLAB_SIMD"

// Level is a variant of the inner loops. Each includes the capabilities of the previous ones.
type Level int

// The levels. Builds without a C compiler have Plain only.
const (
	Plain Level = iota
	AVX2
	AVX512
)

var levelNames = []string{"plain", "avx2", "avx512"}

// String returns the name of the level as used in Variable.
func (l Level) String() string { return levelNames[l] }

// Levels lists the levels available on this machine, Plain first.
func Levels() []Level {
	var levels []Level
	for l := Plain; l <= best(); l++ {
		levels = append(levels, l)
	}
	return levels
}

// Parse returns the level with the given name, or the best one for an empty name. It returns the
// best level and an error for an unknown name or a level that this machine does not support.
func Parse(name string) (Level, error) {
	if name == "" {
		return best(), nil
	}
	for _, l := range Levels() {
		if l.String() == name {
			return l, nil
		}
	}
	available := strings.Join(levelNames[:best()+1], " or ")
	if slices.Contains(levelNames, name) {
		return best(), fmt.Errorf("%s is %q, which this machine does not support; use %s, or leave it unset for the fastest", Variable, name, available)
	}
	return best(), fmt.Errorf("%s is %q; use %s, or leave it unset for the fastest", Variable, name, available)
}

// chosen never changes: a solver that changed its loops midway would not be reproducible.
var chosen, errChosen = Parse(os.Getenv(Variable))

// Chosen returns the level in use and the error of parsing Variable.
func Chosen() (Level, error) { return chosen, errChosen }

// Current returns the level in use.
func Current() Level { return chosen }
