package lessons

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"marginlab/ml/lists"
)

// Document is a lecture document, identified by its number in the course.
type Document struct {
	ID, Title string
	Sections  []Section
}

// Section is a heading of a document, in its order. Slides of 002 without numbers have that of
// their part.
type Section struct {
	ID       string // as in Screen.Covers: "001 3.2", "002 slack"
	Document string
	Number   string
	Title    string
}

// Correction is an error in a lecture document, for lecturers: lessons address students who have
// not seen the documents. Texts may contain formulas.
type Correction struct {
	Section string // an id of Documents
	Says    string
	Holds   string
	Why     string
	Lesson  string // "slug/screen" that shows it
}

//go:embed documents.md
var documents string

// tables are read on first use.
var tables = sync.OnceValues(func() ([]Document, []Correction) { return readDocuments(documents) })

// Documents returns the lecture's documents with every section.
func Documents() []Document {
	all, _ := tables()
	return all
}

// Corrections returns the corrections to the lecture documents.
func Corrections() []Correction {
	_, all := tables()
	return all
}

// readDocuments reads the tables of documents.md: below the heading of each document its sections,
// in three columns, and the corrections, in five. It panics on any other row.
func readDocuments(text string) (all []Document, corrections []Correction) {
	for line := range strings.Lines(text) {
		if heading, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok {
			id, title, _ := strings.Cut(heading, " ")
			all = append(all, Document{ID: id, Title: title})
		}
		row, ok := strings.CutPrefix(line, "| ")
		cells := strings.Split(strings.TrimSuffix(row, " |\n"), " | ")
		switch {
		case !ok || cells[0] == "id" || cells[0] == "section":
		case len(cells) == 3:
			d := &all[len(all)-1]
			d.Sections = append(d.Sections, Section{ID: d.ID + " " + cells[0], Document: d.ID, Number: cells[1], Title: cells[2]})
		case len(cells) == 5:
			corrections = append(corrections, Correction{cells[0], cells[1], cells[2], cells[3], cells[4]})
		default:
			panic(fmt.Sprintf("documents.md: %q has %d cells; want 3 or 5", line, len(cells)))
		}
	}
	return all, corrections
}

// FindSection returns the section with an id of Screen.Covers.
func FindSection(id string) (Section, bool) {
	sections := slices.Concat(lists.Map(Documents(), func(d Document) []Section { return d.Sections })...)
	return lists.Find(sections, func(s Section) bool { return s.ID == id })
}
