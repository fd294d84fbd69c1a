package lessons

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

// Lines returns a function that returns the named derivation from the derivations.md of a lesson,
// which is read once. Each derivation has a heading. Each of its lines is a paragraph with the
// reason, preceded by {#slug} if a question refers to it, and, if it has a formula, a paragraph
// with that between double dollar signs. The function panics if no heading has the name.
func Lines(files fs.FS, name string) func() []Line {
	return sync.OnceValue(func() []Line { return readLines(files, name) })
}

func readLines(files fs.FS, name string) (lines []Line) {
	all, err := fs.ReadFile(files, "derivations.md")
	_, text, ok := strings.Cut("\n"+string(all), "\n## "+name+"\n")
	if err != nil || !ok {
		panic(fmt.Sprintf("derivations.md has no derivation %q: %v", name, err))
	}
	text, _, _ = strings.Cut(text, "\n## ")
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if tex, ok := strings.CutPrefix(paragraph, "$$"); ok {
			lines[len(lines)-1].TeX = strings.TrimSuffix(tex, "$$")
			continue
		}
		line := Line{Why: paragraph}
		if rest, ok := strings.CutPrefix(paragraph, "{#"); ok {
			line.Slug, line.Why, _ = strings.Cut(rest, "} ")
		}
		lines = append(lines, line)
	}
	return lines
}
