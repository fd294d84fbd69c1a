package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/param"
)

// OwnQuestion is a question written by the teacher of a course.
type OwnQuestion struct {
	Slug    string   `json:"slug"` // unique in the course; given by SaveQuestions
	Kind    string   `json:"kind"` // "options", "number", "words", "point"
	Ask     string   `json:"ask"`  // may contain formulas between dollar signs
	Explain string   `json:"explain,omitempty"`
	Options []string `json:"options,omitempty"`
	Wrong   []string `json:"wrong,omitempty"`  // the misconception behind each option
	Right   string   `json:"right,omitempty"`  // index of an option, a number, words separated by semicolons, or coordinates; empty for words: any answer is accepted
	Within  float64  `json:"within,omitempty"` // tolerance of a number or point
	Slide   string   `json:"slide,omitempty"`  // path and query of the slide whose picture a point is on
}

// ownPrefix is the prefix of the names of teachers' questions; those of lessons start with a slug.
const ownPrefix = "own/course/"

// Name returns the name under which the question is asked.
func (q OwnQuestion) Name() string { return ownPrefix + q.Slug }

// maxQuestions is the largest number of teacher's questions in one course.
const maxQuestions = 100

// SaveQuestions adds the questions without a slug to a course and replaces the questions whose
// slugs are given: all or none. Errors: ErrNotFound, ErrAsked, param.Problems, those of a full disk
// or of the quota of the course's workspace.
func (s *Store) SaveQuestions(ctx context.Context, code string, questions ...OwnQuestion) error {
	return s.update(ctx, func(tx *transaction) {
		all := findCourse(tx, `code = ?`, code).Questions
		s.room(tx, value[Workspace](tx, `SELECT workspace FROM courses WHERE code = ?`, code), 0, 0)
		for _, q := range questions {
			at := slices.IndexFunc(all, func(o OwnQuestion) bool { return o.Slug == q.Slug })
			switch {
			case q.Slug == "" && len(all) >= maxQuestions:
				tx.fail(param.Problems{{Field: "ask", Message: fmt.Sprintf("The course has %d questions, the maximum. Delete one first.", maxQuestions)}})
			case q.Slug == "":
				q.Slug = newSlug(all)
				all = append(all, q)
			case at < 0:
				tx.fail(ErrNotFound)
			case tx.exists(`polls WHERE course = ? AND question = ?`, code, q.Name()):
				tx.fail(ErrAsked)
			default:
				all[at] = q
			}
		}
		writeQuestions(tx, code, all)
	})
}

// DeleteQuestion deletes a teacher's question of a course with its answers.
func (s *Store) DeleteQuestion(ctx context.Context, code, slug string) error {
	return s.update(ctx, func(tx *transaction) {
		all := findCourse(tx, `code = ?`, code).Questions
		rest := slices.DeleteFunc(slices.Clone(all), func(q OwnQuestion) bool { return q.Slug == slug })
		if len(rest) == len(all) {
			tx.fail(ErrNotFound)
		}
		for _, table := range []string{"votes", "polls"} {
			tx.exec(`DELETE FROM `+table+` WHERE course = ? AND question = ?`, code, ownPrefix+slug)
		}
		writeQuestions(tx, code, rest)
	})
}

func writeQuestions(tx *transaction, code string, questions []OwnQuestion) {
	tx.execFound(`UPDATE courses SET questions = ? WHERE code = ?`, asJSON(&questions), code)
}

// newSlug returns an unused slug.
func newSlug(questions []OwnQuestion) string {
	last := 0
	for _, q := range questions {
		if n, err := strconv.Atoi(strings.TrimPrefix(q.Slug, "q")); err == nil {
			last = max(last, n)
		}
	}
	return "q" + strconv.Itoa(last+1)
}
