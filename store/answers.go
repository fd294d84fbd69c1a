package store

import (
	"context"
)

// Answer is the last answer of a workspace to a question of a lesson.
type Answer struct {
	Given string
	Right bool
}

// SaveAnswer stores the answer to a question, named lesson/screen/question, replacing an earlier
// one.
func (s *Store) SaveAnswer(ctx context.Context, ws Workspace, question string, a Answer) error {
	return s.update(ctx, func(tx *transaction) {
		s.checkNewcomer(tx, ws)
		tx.exec(`
			INSERT INTO answers (workspace, question, given, correct, answered) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET given = excluded.given, correct = excluded.correct, answered = excluded.answered`,
			ws, question, oneLine(a.Given), a.Right, s.now())
	})
}

// Answers returns the answers of a workspace by question.
func (s *Store) Answers(ctx context.Context, ws Workspace) (map[string]Answer, error) {
	return keyed(ctx, s, func(r row, question *string, a *Answer) error { return r.Scan(question, &a.Given, &a.Right) },
		`SELECT question, given, correct FROM answers WHERE workspace = ?`, ws)
}

// ForgetAnswers deletes the answers to the questions of a lesson.
func (s *Store) ForgetAnswers(ctx context.Context, ws Workspace, lesson string) error {
	return s.exec(ctx, `DELETE FROM answers WHERE workspace = ? AND question LIKE ? || '/%'`, ws, lesson)
}
