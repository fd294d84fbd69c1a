package all

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
)

// document matches references to the lecture documents.
var document = regexp.MustCompile(`(?i)(?:^|[^0-9.,\s])\s?00[012]\b|\bhandouts?\b|\b(?:the|this|our|lecture's) (?:slides?|notes|documents?|script|lecture)\b|\bslides'|\bas printed\b`)

// covers matches the section ids covered by a screen, for the index.
var covers = regexp.MustCompile(` covers="(?:00[012] [a-z0-9.-]+(?:, )?)+"`)

// Students have never seen the lecture documents, whose errors only a page for lecturers lists.
func TestNoDocuments(t *testing.T) {
	t.Parallel()
	texts, err := filepath.Glob("../*/*.md")
	require.Must(t, err == nil && len(texts) >= 2*len(Lessons()), "%d texts, error %v", len(texts), err)
	for _, name := range texts {
		text := require.Value(os.ReadFile(name))(t)
		for _, found := range document.FindAllString(covers.ReplaceAllString(string(text), ""), -1) {
			t.Errorf("%s says %q", name, found)
		}
	}
	files, err := filepath.Glob("../*/*.go")
	require.Must(t, err == nil && len(files) >= 2*len(Lessons()), "%d files, error %v", len(files), err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := require.Value(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text := require.Value(strconv.Unquote(lit.Value))(t)
				require.Equal(t, document.FindString(text), "", "%s: %q names", name, text)
			}
			return true
		})
	}
}

// Each refers to an existing section and an existing lesson, and its formulas render.
func TestCorrections(t *testing.T) {
	t.Parallel()
	require.Check(t, len(lessons.Corrections()) >= 52, "%d corrections", len(lessons.Corrections()))
	for _, c := range lessons.Corrections() {
		_, ok := lessons.FindSection(c.Section)
		require.Check(t, ok, "there is no section %s", c.Section)
		slug, screen, _ := strings.Cut(c.Lesson, "/")
		if l := Find(slug); l == nil {
			t.Errorf("%s: there is no lesson %s", c.Section, slug)
		} else if s, _ := l.Screen(screen); s == nil {
			t.Errorf("%s: there is no screen %s", c.Section, c.Lesson)
		}
		for _, text := range []string{c.Says, c.Holds, c.Why} {
			require.Equal(t, lessons.Text(text).Render(t.Context(), &strings.Builder{}), nil, "%s", c.Section)
		}
	}
}

// buildWords is the number of words a slide adds at a time, a formula counting as one.
const buildWords = 40

// TestWordsPerBuild: each build of a slide is short enough to be read while the teacher says it.
func TestWordsPerBuild(t *testing.T) {
	t.Parallel()
	for i := range Lessons() {
		file := filepath.Join("..", strings.TrimSuffix(strings.ReplaceAll(Lessons()[i].Slug, "-", ""), "kernel"), "words.md")
		_, screens, _ := strings.Cut(string(require.Value(os.ReadFile(file))(t)), "\n## ")
		for _, screen := range strings.Split(screens, "\n## ") {
			heading, words, _ := strings.Cut(screen, "\n")
			words, _, _ = strings.Cut(words, "\n? ")
			for _, b := range builds(words) {
				n := len(strings.Fields(b))
				require.Check(t, n <= buildWords, "%s, %s: %d words at a time, of at most %d: %s", Lessons()[i].Slug, heading, n, buildWords, b)
			}
		}
	}
}

// Formulas and markup are not words; an inline formula counts as one.
var (
	displayed = regexp.MustCompile(`(?s)\$\$.*?\$\$`)
	inline    = regexp.MustCompile(`\$[^$]*\$`)
	item      = regexp.MustCompile(`\n(?:-|\d+\.) `)
)

// builds returns the blocks of a text, with each list item separate.
func builds(words string) []string {
	words = inline.ReplaceAllString(displayed.ReplaceAllString(words, "\n\n"), "x")
	var all []string
	for _, block := range strings.Split(words, "\n\n") {
		for _, b := range item.Split("\n"+block, -1) {
			if b = strings.Trim(strings.NewReplacer("*", "", "~", "", "> ", "").Replace(b), "\n -"); b != "" {
				all = append(all, b)
			}
		}
	}
	return all
}
