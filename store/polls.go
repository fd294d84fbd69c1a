package store

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Poll is a question that a teacher has asked a course.
type Poll struct {
	ID       int64
	Course   string    // its code
	Question string    // lesson/screen/question
	Round    int       // current round, from 1
	Open     bool      // the last round accepts answers
	Revealed bool      // students see the right answer
	Asked    time.Time // when it was last opened
}

// Tally counts the answers to a poll.
type Tally struct {
	Poll
	Rounds []map[string]int // counts by answer, for each round
}

// Total returns the number of answers in a round, counted from 1.
func (t Tally) Total(round int) (n int) {
	for _, k := range t.Rounds[round-1] {
		n += k
	}
	return n
}

const (
	// MaxRounds is the largest number of rounds of one question in one course.
	MaxRounds = 5
	// maxStudents is the largest number of workspaces that can answer questions in one course.
	maxStudents = 2000
)

// Ask asks a course a question and closes the open one. A question asked before is left
// unchanged.
func (s *Store) Ask(ctx context.Context, code, question string) (Poll, error) {
	return result(ctx, s.update, func(tx *transaction) Poll {
		const same = `course = ? AND question = ?`
		if !tx.exists(`polls WHERE `+same, code, question) {
			closePolls(tx, code)
			// The id is never reused, so that a late answer to a deleted poll cannot count for another.
			tx.exec(`
				INSERT INTO polls (id, course, question, round, open, revealed, asked)
				SELECT max(coalesce(max(id), 0) + 1, ?3), ?1, ?2, 1, 1, 0, ?3 FROM polls`, code, question, s.now())
		}
		return findPoll(tx, same, code, question)
	})
}

// ClosePoll closes or reopens a poll. Reopening closes the open one and hides the answer.
func (s *Store) ClosePoll(ctx context.Context, code string, id int64, closed bool) error {
	return s.update(ctx, func(tx *transaction) {
		findPoll(tx, `course = ? AND id = ?`, code, id)
		if closed {
			tx.exec(`UPDATE polls SET open = 0 WHERE id = ?`, id)
		} else {
			openPoll(tx, code, id, 0, s.now())
		}
	})
}

// AskAgain opens the next round of a poll. Errors: ErrNotFound, ErrRounds.
func (s *Store) AskAgain(ctx context.Context, code string, id int64) error {
	return s.update(ctx, func(tx *transaction) {
		if p := findPoll(tx, `course = ? AND id = ?`, code, id); p.Round >= MaxRounds {
			tx.fail(ErrRounds)
		}
		openPoll(tx, code, id, 1, s.now())
	})
}

// Reveal closes a poll and shows students the right answer.
func (s *Store) Reveal(ctx context.Context, code string, id int64) error {
	return s.change(ctx, `UPDATE polls SET open = 0, revealed = 1 WHERE course = ? AND id = ?`, code, id)
}

// DeletePoll deletes a poll with the answers of all its rounds.
func (s *Store) DeletePoll(ctx context.Context, code string, id int64) error {
	return s.update(ctx, func(tx *transaction) {
		p := findPoll(tx, `course = ? AND id = ?`, code, id)
		tx.exec(`DELETE FROM votes WHERE course = ? AND question = ? AND round > 0`, code, p.Question)
		tx.exec(`DELETE FROM polls WHERE id = ?`, id)
	})
}

// Polls lists the polls of a course: open ones first, then newest first.
func (s *Store) Polls(ctx context.Context, code string) ([]Poll, error) {
	return listed(ctx, s, scanPoll, `SELECT `+pollColumns+` FROM polls WHERE course = ? ORDER BY open DESC, asked DESC, id DESC`, code)
}

// CurrentPoll returns the first of Polls, or ErrNotFound.
func (s *Store) CurrentPoll(ctx context.Context, code string) (Poll, error) {
	return result(ctx, s.view, func(tx *transaction) Poll {
		return findPoll(tx, `course = ? ORDER BY open DESC, asked DESC, id DESC LIMIT 1`, code)
	})
}

// Tally counts the answers to a poll of a course.
func (s *Store) Tally(ctx context.Context, code string, id int64) (t Tally, err error) {
	return result(ctx, s.view, func(tx *transaction) Tally {
		t.Poll = findPoll(tx, `course = ? AND id = ?`, code, id)
		t.Rounds = lists.Make(t.Round, func(i int) map[string]int { return map[string]int{} })
		tx.each(func(r row) error {
			var round, n int
			var given string
			err := r.Scan(&round, &given, &n)
			if err == nil {
				t.Rounds[round-1][given] = n
			}
			return err
		}, `SELECT round, given, count(*) FROM votes WHERE course = ? AND question = ? AND round BETWEEN 1 AND ? GROUP BY round, given`, code, t.Question, t.Round)
		return t
	})
}

// Vote stores a workspace's answer to a poll of a course, replacing an earlier one in the same
// round. Errors: param.Problems for the text, ErrNotFound, ErrPollClosed, ErrAskedOn, ErrOver,
// ErrBlocked, ErrCrowded. A course closed for submissions still takes answers.
func (s *Store) Vote(ctx context.Context, ws Workspace, code string, id int64, round int, a Answer) error {
	if ps := checkGiven(a); ps != nil {
		return ps
	}
	return s.update(ctx, func(tx *transaction) {
		p := findPoll(tx, `course = ? AND id = ?`, code, id)
		switch {
		case !p.Open:
			tx.fail(ErrPollClosed)
		case round != p.Round:
			tx.fail(ErrAskedOn)
		}
		saveVote(tx, ws, code, p.Question, round, a, s.now())
	})
}

// VoteOf returns the answer of a workspace in a round of a question in a course, the zero value if
// there is none.
func (s *Store) VoteOf(ctx context.Context, ws Workspace, code, question string, round int) (Answer, error) {
	return result(ctx, s.view, func(tx *transaction) Answer {
		a, _ := lookup(tx, func(r row, a *Answer) error { return r.Scan(&a.Given, &a.Right) }, `
			SELECT given, correct FROM votes JOIN students ON students.id = student
			WHERE votes.course = ? AND question = ? AND round = ? AND workspace = ?`, code, question, round, ws)
		return a
	})
}

// maxGiven is the largest number of characters of an answer.
const maxGiven = 100

func checkGiven(a Answer) param.Problems {
	if n := utf8.RuneCountInString(a.Given); n > maxGiven {
		return param.Problems{{Field: "answer", Message: fmt.Sprintf("The answer has %d characters; at most %d are allowed.", n, maxGiven)}}
	}
	return nil
}

const pollColumns = `id, course, question, round, open, revealed, asked`

func scanPoll(r row, p *Poll) error {
	return r.Scan(&p.ID, &p.Course, &p.Question, &p.Round, &p.Open, &p.Revealed, asMillis(&p.Asked))
}

func findPoll(tx *transaction, where string, args ...any) Poll {
	return find(tx, scanPoll, `SELECT `+pollColumns+` FROM polls WHERE `+where, args...)
}

func closePolls(tx *transaction, code string) {
	tx.exec(`UPDATE polls SET open = 0 WHERE course = ? AND open`, code)
}

// openPoll opens a poll and increases its round by more.
func openPoll(tx *transaction, code string, id int64, more int, now int64) {
	closePolls(tx, code)
	tx.exec(`UPDATE polls SET open = 1, revealed = 0, round = round + ?, asked = ? WHERE id = ?`, more, now, id)
}

// saveVote stores an answer of a workspace admitted to the course's questions.
func saveVote(tx *transaction, ws Workspace, code, question string, round int, a Answer, now int64) {
	student := join(tx, ws, code, now)
	then := `DO UPDATE SET given = excluded.given, correct = excluded.correct, answered = excluded.answered`
	if round == 0 {
		then = `DO NOTHING`
	}
	tx.exec(`INSERT INTO votes (course, question, round, student, given, correct, answered) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT `+then,
		code, question, round, student, oneLine(a.Given), a.Right, now)
}

// join admits a workspace to the questions of a course.
func join(tx *transaction, ws Workspace, code string, now int64) (student int64) {
	c := findCourse(tx, `code = ?`, code)
	c.Closed = false // closing a course affects hand-ins only
	admits(tx, ws, c, now)
	return enrol(tx, ws, code)
}

// enrol returns the id of a workspace's student in a course, adding one if necessary.
func enrol(tx *transaction, ws Workspace, code string) (id int64) {
	id, known := lookup(tx, column[int64], `SELECT id FROM students WHERE course = ? AND workspace = ?`, code, ws)
	if known {
		return id
	}
	var there, number int
	tx.one(`SELECT count(*), coalesce(max(number), 0) + 1 FROM students WHERE course = ?`, code)(&there, &number)
	if there >= maxStudents {
		tx.fail(ErrCrowded)
	}
	return value[int64](tx, `INSERT INTO students (course, workspace, number, name) VALUES (?, ?, ?, '') RETURNING id`, code, ws, number)
}

// Predict stores a workspace's own answer in a course, outside a poll, if it is the first to that
// question. It returns the errors of Vote.
func (s *Store) Predict(ctx context.Context, ws Workspace, code, question string, a Answer) error {
	if ps := checkGiven(a); ps != nil {
		return ps
	}
	return s.update(ctx, func(tx *transaction) { saveVote(tx, ws, code, question, 0, a, s.now()) })
}

// Student is a workspace that answers questions in a course.
type Student struct {
	Number  int    // in the course
	Name    string // as shown: "Ada", "anonymous 3"
	Named   bool   // the student gave a name, here or with a hand-in
	Answers []GivenAnswer
}

// GivenAnswer is an answer of a student.
type GivenAnswer struct {
	Question string // lesson/screen/question
	Round    int    // round of a poll; 0: answered outside a poll
	Answer
	At time.Time
}

// First returns the first answers of a student by question.
func (s Student) First() map[string]GivenAnswer {
	first := map[string]GivenAnswer{}
	for _, a := range s.Answers {
		if _, later := first[a.Question]; !later {
			first[a.Question] = a
		}
	}
	return first
}

// Attendance lists the students who have answered in a course, by number, with their answers in
// chronological order. Changed answers to a poll have the time of the last change.
func (s *Store) Attendance(ctx context.Context, code string) (list []Student, err error) {
	err = s.view(ctx, func(tx *transaction) {
		tx.each(func(r row) error {
			var number int
			var name string
			var question *string // nil: no answer
			var a GivenAnswer
			if err := r.Scan(&number, &name, &question, &a.Round, &a.Given, &a.Right, asMillis(&a.At)); err != nil {
				return err
			}
			if len(list) == 0 || list[len(list)-1].Number != number {
				list = append(list, Student{Number: number, Name: shownName(name, number), Named: name != ""})
			}
			if last := &list[len(list)-1]; question != nil {
				a.Question = *question
				last.Answers = append(last.Answers, a)
			}
			return nil
		}, `
			SELECT number, coalesce(nullif(name, ''), (SELECT handins.name FROM handins WHERE handins.course = students.course AND handins.workspace = students.workspace AND handins.name <> '' LIMIT 1), ''),
				question, coalesce(round, 0), coalesce(given, ''), coalesce(correct, 0), answered
			FROM students LEFT JOIN votes ON student = id WHERE students.course = ? ORDER BY number, answered, round`, code)
	})
	return list, err
}

// NameStudent sets the name under which a workspace answers in a course, possibly empty. Its
// submissions without a name or under the previous one are renamed. Errors: param.Problems for
// the name, those of Vote.
func (s *Store) NameStudent(ctx context.Context, ws Workspace, code, name string) error {
	if ps := checkStudent(name); ps != nil {
		return ps
	}
	name = oneLine(name)
	return s.update(ctx, func(tx *transaction) {
		id := join(tx, ws, code, s.now())
		before := value[string](tx, `SELECT name FROM students WHERE id = ?`, id)
		for _, from := range []string{before, ""} {
			renameHandin(tx, ws, code, from, name)
		}
		tx.exec(`UPDATE students SET name = ? WHERE id = ?`, name, id)
	})
}

// StudentName returns the name under which a workspace answers in a course, possibly empty.
func (s *Store) StudentName(ctx context.Context, ws Workspace, code string) (string, error) {
	return result(ctx, s.view, func(tx *transaction) string {
		name, _ := lookup(tx, column[string], `SELECT name FROM students WHERE course = ? AND workspace = ?`, code, ws)
		return name
	})
}

// Numbers returns the numbers of the students of a course, as in Attendance.
func (s *Store) Numbers(ctx context.Context, code string) (map[Workspace]int, error) {
	return keyed(ctx, s, pair[Workspace, int], `SELECT workspace, number FROM students WHERE course = ?`, code)
}
