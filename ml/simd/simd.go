// Package simd says which of the compiled forms of the inner loops run: for any
// processor, for one with AVX2, or for one with AVX-512. They sum in different orders, so
// that results differ in the last digits; the environment variable MARGINLAB_SIMD
// chooses one, to reproduce what another machine has found.
package simd

import (
	"fmt"
	"os"
	"strings"
)

// Variable is the environment variable with the name of a level.
const Variable = "MARGINLAB_SIMD"

// Level is a form of the inner loops. Each can do what the ones before it can.
type Level int

// The levels. Builds without a C compiler have Plain only.
const (
	Plain Level = iota
	AVX2
	AVX512
)

var names = []string{"plain", "avx2", "avx512"}

// String is the name of the level, as Variable has it.
func (l Level) String() string { return names[l] }

// Levels lists the levels that this program can run on this machine, Plain first.
func Levels() []Level {
	var levels []Level
	for l := Plain; l <= best(); l++ {
		levels = append(levels, l)
	}
	return levels
}

// Parse returns the level of a name, the best one for an empty name. A name that is not
// known, and a level that this machine does not have, are errors.
func Parse(name string) (Level, error) {
	if name == "" {
		return best(), nil
	}
	for _, l := range Levels() {
		if l.String() == name {
			return l, nil
		}
	}
	for _, known := range names {
		if known == name {
			return best(), fmt.Errorf("%s is %q, which this program cannot run on this machine; use %s, or leave it unset for the fastest", Variable, name, list())
		}
	}
	return best(), fmt.Errorf("%s is %q; use %s, or leave it unset for the fastest", Variable, name, list())
}

func list() string {
	var has []string
	for _, l := range Levels() {
		has = append(has, l.String())
	}
	return strings.Join(has, " or ")
}

// chosen never changes: a solver that changed its loops halfway would not repeat itself.
var chosen, problem = Parse(os.Getenv(Variable))

// Chosen is the level that runs: that of Variable, or the best one. The error comes from
// Parse; the best one runs then.
func Chosen() (Level, error) { return chosen, problem }

// Current is the level that runs.
func Current() Level { return chosen }
