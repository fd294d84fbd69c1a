package store

import (
	"context"
	"database/sql"
)

// Answer is the last answer of a workspace to a question of a lesson.
type Answer struct {
	Given string
	Right bool
}

// SaveAnswer keeps the answer to a question, named lesson/screen/question, in
// place of an earlier one.
func (s *Store) SaveAnswer(ctx context.Context, ws Workspace, question string, a Answer) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		if err := s.begin(ctx, tx, ws); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO answers (workspace, question, given, correct, answered) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET given = excluded.given, correct = excluded.correct, answered = excluded.answered`,
			ws, question, line(a.Given), a.Right, s.now())
		return err
	})
}

// Answers returns what a workspace has answered, by question.
func (s *Store) Answers(ctx context.Context, ws Workspace) (answers map[string]Answer, err error) {
	answers = map[string]Answer{}
	err = s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT question, given, correct FROM answers WHERE workspace = ?`, ws)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var q string
			var a Answer
			if err := rows.Scan(&q, &a.Given, &a.Right); err != nil {
				return err
			}
			answers[q] = a
		}
		return rows.Err()
	})
	return answers, err
}

// ForgetAnswers deletes the answers to the questions of a lesson.
func (s *Store) ForgetAnswers(ctx context.Context, ws Workspace, lesson string) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM answers WHERE workspace = ? AND question LIKE ? || '/%'`, ws, lesson)
		return err
	})
}
