package store

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

const tight = "margins/separating/how-many"

func TestPollRounds(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, t.TempDir())
	c := require.Value(s.CreateCourse(ctx, alice, sampleCourse("A")))(t)
	other := require.Value(s.CreateCourse(ctx, alice, sampleCourse("B")))(t)
	if _, err := s.CurrentPoll(ctx, c.Code); err != ErrNotFound {
		t.Errorf("nothing was put to the course: %v", err)
	}
	p := require.Value(s.Ask(ctx, c.Code, tight))(t)
	if !p.Open || p.Round != 1 || p.Revealed || p.Question != tight {
		t.Errorf("%+v", p)
	}
	vote := func(ws string, round int, given string) error {
		return s.Vote(ctx, WorkspaceOf(ws), c.Code, p.ID, round, Answer{Given: given, Right: given == "1"})
	}
	require.NoError(t, vote("a", 1, "0"))
	require.NoError(t, vote("b", 1, "1"))
	require.NoError(t, vote("a", 1, "2")) // changes his mind
	if a := require.Value(s.VoteOf(ctx, WorkspaceOf("a"), c.Code, tight, 1))(t); a != (Answer{Given: "2"}) {
		t.Errorf("a has answered %+v", a)
	}
	if a := require.Value(s.VoteOf(ctx, WorkspaceOf("c"), c.Code, tight, 1))(t); a != (Answer{}) {
		t.Errorf("c has answered %+v", a)
	}
	require.NoError(t, s.ClosePoll(ctx, c.Code, p.ID, true))
	for what, err := range map[string]error{
		"closed": vote("a", 1, "1"), "a round to come": vote("a", 2, "1"), "another course": s.Vote(ctx, bob, other.Code, p.ID, 1, Answer{Given: "1"}),
		"long": vote("c", 1, strings.Repeat("1", maxGiven+1)), "reveal elsewhere": s.Reveal(ctx, other.Code, p.ID), "again elsewhere": s.AskAgain(ctx, other.Code, p.ID),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	require.NoError(t, s.AskAgain(ctx, c.Code, p.ID))
	if err := vote("a", 1, "1"); err != ErrAskedOn {
		t.Errorf("the first round takes answers: %v", err)
	}
	require.NoError(t, vote("a", 2, "1"))
	require.NoError(t, vote("b", 2, "1"))
	got := require.Value(s.Tally(ctx, c.Code, p.ID))(t)
	if diff := cmp.Diff([]map[string]int{{"1": 1, "2": 1}, {"1": 2}}, got.Rounds); diff != "" || got.Total(1) != 2 || got.Total(2) != 2 {
		t.Errorf("%s", diff)
	}

	require.NoError(t, s.Reveal(ctx, c.Code, p.ID))
	if now := require.Value(s.CurrentPoll(ctx, c.Code))(t); now.Open || !now.Revealed {
		t.Errorf("revealed: %+v", now)
	}
	// What was asked before is left as it is; another question closes it.
	if again := require.Value(s.Ask(ctx, c.Code, tight))(t); again.Open || again.ID != p.ID || again.Round != 2 {
		t.Errorf("asked anew: %+v", again)
	}
	require.NoError(t, s.ClosePoll(ctx, c.Code, p.ID, false))
	second := require.Value(s.Ask(ctx, c.Code, "margins/separating/other"))(t)
	if list := require.Value(s.Polls(ctx, c.Code))(t); len(list) != 2 || list[0].ID != second.ID || !list[0].Open || list[1].Open || list[1].Revealed {
		t.Errorf("%+v", list)
	}
	require.NoError(t, s.AskAgain(ctx, c.Code, p.ID))
	if now := require.Value(s.CurrentPoll(ctx, c.Code))(t); now.ID != p.ID {
		t.Errorf("open is %+v", now)
	}
	for range MaxRounds - 3 {
		require.NoError(t, s.AskAgain(ctx, c.Code, p.ID))
	}
	if err := s.AskAgain(ctx, c.Code, p.ID); err != ErrRounds {
		t.Errorf("round %d: %v", MaxRounds+1, err)
	}
	require.NoError(t, s.DeletePoll(ctx, c.Code, p.ID))
	if p = require.Value(s.Ask(ctx, c.Code, tight))(t); p.Round != 1 || require.Value(s.Tally(ctx, c.Code, p.ID))(t).Total(1) != 0 {
		t.Errorf("after deleting: %+v", p)
	}
}

// However many answer at the same moment, each counts once.
func TestVotesAtOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, t.TempDir())
	c := require.Value(s.CreateCourse(ctx, alice, sampleCourse("A")))(t)
	p := require.Value(s.Ask(ctx, c.Code, tight))(t)
	var all sync.WaitGroup
	for i := range 90 {
		all.Go(func() {
			require.NoError(t, s.Vote(ctx, WorkspaceOf(fmt.Sprint(i/3)), c.Code, p.ID, 1, Answer{Given: fmt.Sprint(i % 3)}))
		})
	}
	all.Wait()
	if got := require.Value(s.Tally(ctx, c.Code, p.ID))(t); got.Total(1) != 30 {
		t.Errorf("%+v", got)
	}
	if n := count(t, s, "students"); n != 30 {
		t.Errorf("%d students", n)
	}
}

// An answer to a poll that was deleted does not count for the next one.
func TestPollsAreNew(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, t.TempDir())
	c := require.Value(s.CreateCourse(ctx, alice, sampleCourse("A")))(t)
	before := require.Value(s.Ask(ctx, c.Code, tight))(t)
	require.NoError(t, s.DeletePoll(ctx, c.Code, before.ID))
	after := require.Value(s.Ask(ctx, c.Code, "margins/line/other"))(t)
	wantErr(t, s.Vote(ctx, bob, c.Code, before.ID, 1, Answer{Given: "1"}), ErrNotFound)
	require.NoError(t, s.Vote(ctx, bob, c.Code, after.ID, 1, Answer{Given: strings.Repeat("ä", maxGiven)}))

	// Many at once have different ids, and JavaScript can tell them.
	now := s.Now()
	s.Now = func() time.Time { return now }
	last := after
	for _, q := range []string{"a/b/c", "a/b/d", "a/b/e"} {
		p := require.Value(s.Ask(ctx, c.Code, q))(t)
		if p.ID <= last.ID || p.ID >= 1<<53 {
			t.Errorf("the poll after %d is %d", last.ID, p.ID)
		}
		last = p
	}
}

// Own questions count for the quota of the course's workspace.
func TestQuestionsNeedRoom(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, t.TempDir())
	c := require.Value(s.CreateCourse(ctx, alice, sampleCourse("A")))(t)
	q := require.Value(s.SaveQuestion(ctx, c.Code, OwnQuestion{Kind: "words", Ask: "Who?"}))(t)
	s.Quota = Quota{Bytes: 1}
	for _, q := range []OwnQuestion{{Kind: "words", Ask: "What?"}, q} {
		var full *Error
		if _, err := s.SaveQuestion(ctx, c.Code, q); !errors.As(err, &full) {
			t.Errorf("%q is saved without room: %v", q.Ask, err)
		}
	}
}

func TestVotesAreRefused(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, t.TempDir())
	c := require.Value(s.CreateCourse(ctx, alice, sampleCourse("A")))(t)
	p := require.Value(s.Ask(ctx, c.Code, tight))(t)
	vote := func(ws Workspace) error { return s.Vote(ctx, ws, c.Code, p.ID, 1, Answer{Given: "1"}) }
	require.NoError(t, s.CloseCourse(ctx, c.Code, true))
	require.NoError(t, vote(bob)) // that is for hand-ins

	// A blocked student's answers are gone, and new ones are refused.
	require.NoError(t, s.CloseCourse(ctx, c.Code, false))
	r := require.Value(s.saveRun(ctx, bob, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}, sampleResult(0.75, 2)))(t)
	h := require.Value(s.HandIn(ctx, bob, r.ID, "Bob"))(t)
	require.NoError(t, s.Block(ctx, c.Code, []string{h.Run}))
	if err := vote(bob); err != ErrBlocked || count(t, s, "votes") != 0 {
		t.Errorf("blocked: %v, %d answers", err, count(t, s, "votes"))
	}
	require.NoError(t, s.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO students (course, workspace, number, name) SELECT ?, 'w' || i, i, '' FROM n`, MaxStudents, c.Code)
		return err
	}))
	if err := vote("somebody"); err != ErrCrowded {
		t.Errorf("more than fit: %v", err)
	}
	require.NoError(t, vote("w7"))
	require.NoError(t, s.DeleteWorkspace(ctx, "w7"))
	if n := count(t, s, "votes"); n != 0 {
		t.Errorf("%d answers of a deleted workspace", n)
	}
	require.NoError(t, vote("w8"))
	require.NoError(t, s.EndCourse(ctx, c.Code, s.Now().Add(-time.Hour)))
	if err := vote("w9"); err != ErrOver {
		t.Errorf("ended: %v", err)
	}
	require.NoError(t, s.DeleteCourse(ctx, c.Code))
	if err := vote("w9"); err != ErrNotFound {
		t.Errorf("deleted: %v", err)
	}
	forgetDeleted(t, s)
	if count(t, s, "polls")+count(t, s, "votes")+count(t, s, "students") != 0 {
		t.Error("something is left of a deleted course")
	}
}
