package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
)

const tight = "margins/separating/how-many"

func TestPollRounds(t *testing.T) {
	s, ctx, c := inCourse(t)
	other := require.Value(s.CreateCourse(ctx, alice, sampleCourse("B")))(t)
	_, err := s.CurrentPoll(ctx, c.Code)
	require.Check(t, err == ErrNotFound, "nothing was put to the course: %v", err)
	p := require.Value(s.Ask(ctx, c.Code, tight))(t)
	require.Check(t, p.Open && p.Round == 1 && !p.Revealed && p.Question == tight, "%+v", p)
	vote := func(ws string, round int, given string) error {
		return s.Vote(ctx, WorkspaceOf(ws), c.Code, p.ID, round, Answer{Given: given, Right: given == "1"})
	}
	require.NoError(t, vote("a", 1, "0"))
	require.NoError(t, vote("b", 1, "1"))
	require.NoError(t, vote("a", 1, "2")) // changes the answer
	require.Equal(t, require.Value(s.VoteOf(ctx, WorkspaceOf("a"), c.Code, tight, 1))(t), Answer{Given: "2"}, "vote of a")
	require.Equal(t, require.Value(s.VoteOf(ctx, WorkspaceOf("c"), c.Code, tight, 1))(t), Answer{}, "c has answered")
	require.NoError(t, s.ClosePoll(ctx, c.Code, p.ID, true))
	for what, err := range map[string]error{
		"closed": vote("a", 1, "1"), "a round to come": vote("a", 2, "1"), "another course": s.Vote(ctx, bob, other.Code, p.ID, 1, Answer{Given: "1"}),
		"long": vote("c", 1, strings.Repeat("1", maxGiven+1)), "reveal elsewhere": s.Reveal(ctx, other.Code, p.ID), "again elsewhere": s.AskAgain(ctx, other.Code, p.ID),
	} {
		require.Check(t, err != nil, "%s: no error", what)
	}
	require.NoError(t, s.AskAgain(ctx, c.Code, p.ID))
	require.Equal[error](t, vote("a", 1, "1"), ErrAskedOn, "the first round takes answers")
	require.NoError(t, vote("a", 2, "1"))
	require.NoError(t, vote("b", 2, "1"))
	got := require.Value(s.Tally(ctx, c.Code, p.ID))(t)
	diff := cmp.Diff([]map[string]int{{"1": 1, "2": 1}, {"1": 2}}, got.Rounds)
	require.Check(t, diff == "" && got.Total(1) == 2 && got.Total(2) == 2, "%s", diff)

	require.NoError(t, s.Reveal(ctx, c.Code, p.ID))
	now := require.Value(s.CurrentPoll(ctx, c.Code))(t)
	require.Check(t, !now.Open && now.Revealed, "revealed: %+v", now)
	// A question asked before is left unchanged; another question closes it.
	again := require.Value(s.Ask(ctx, c.Code, tight))(t)
	require.Check(t, !again.Open && again.ID == p.ID && again.Round == 2, "asked anew: %+v", again)
	require.NoError(t, s.ClosePoll(ctx, c.Code, p.ID, false))
	second := require.Value(s.Ask(ctx, c.Code, "margins/separating/other"))(t)
	list := require.Value(s.Polls(ctx, c.Code))(t)
	require.Check(t, len(list) == 2 && list[0].ID == second.ID && list[0].Open && !list[1].Open && !list[1].Revealed, "%+v", list)
	require.NoError(t, s.AskAgain(ctx, c.Code, p.ID))
	now = require.Value(s.CurrentPoll(ctx, c.Code))(t)
	require.Check(t, now.ID == p.ID, "open is %+v", now)
	for range MaxRounds - 3 {
		require.NoError(t, s.AskAgain(ctx, c.Code, p.ID))
	}
	require.Equal[error](t, s.AskAgain(ctx, c.Code, p.ID), ErrRounds, "round %d", MaxRounds+1)
	require.NoError(t, s.DeletePoll(ctx, c.Code, p.ID))
	p = require.Value(s.Ask(ctx, c.Code, tight))(t)
	require.Check(t, p.Round == 1 && require.Value(s.Tally(ctx, c.Code, p.ID))(t).Total(1) == 0, "after deleting: %+v", p)
}

// Each of many simultaneous answers counts once.
func TestVotesAtOnce(t *testing.T) {
	s, ctx, c := inCourse(t)
	p := require.Value(s.Ask(ctx, c.Code, tight))(t)
	var all sync.WaitGroup
	for i := range 90 {
		all.Go(func() {
			require.NoError(t, s.Vote(ctx, WorkspaceOf(fmt.Sprint(i/3)), c.Code, p.ID, 1, Answer{Given: fmt.Sprint(i % 3)}))
		})
	}
	all.Wait()
	got := require.Value(s.Tally(ctx, c.Code, p.ID))(t)
	require.Check(t, got.Total(1) == 30, "%+v", got)
	require.Equal(t, count(t, s, "students"), 30, "students")
}

// An answer to a poll that was deleted does not count for the next one.
func TestPollsAreNew(t *testing.T) {
	s, ctx, c := inCourse(t)
	before := require.Value(s.Ask(ctx, c.Code, tight))(t)
	require.NoError(t, s.DeletePoll(ctx, c.Code, before.ID))
	after := require.Value(s.Ask(ctx, c.Code, "margins/line/other"))(t)
	wantErr(t, s.Vote(ctx, bob, c.Code, before.ID, 1, Answer{Given: "1"}), ErrNotFound)
	require.NoError(t, s.Vote(ctx, bob, c.Code, after.ID, 1, Answer{Given: strings.Repeat("ä", maxGiven)}))

	// Polls created at the same time have different ids, which JavaScript can represent exactly.
	now := s.Now()
	s.Now = func() time.Time { return now }
	last := after
	for _, q := range []string{"a/b/c", "a/b/d", "a/b/e"} {
		p := require.Value(s.Ask(ctx, c.Code, q))(t)
		require.Check(t, p.ID > last.ID && p.ID < 1<<53, "the poll after %d is %d", last.ID, p.ID)
		last = p
	}
}

// Own questions count towards the quota of the course's workspace; several are saved together or
// not at all.
func TestQuestionsNeedRoom(t *testing.T) {
	s, ctx, c := inCourse(t)
	q := OwnQuestion{Kind: "words", Ask: "Who?"}
	require.NoError(t, s.SaveQuestions(ctx, c.Code, q))
	require.Fails(t, s.SaveQuestions(ctx, c.Code, slices.Repeat([]OwnQuestion{q}, maxQuestions)...), "the maximum", "too many")
	all := require.Value(s.Course(ctx, c.Code))(t).Questions
	require.Must(t, len(all) == 1, "%d questions, one was there", len(all))
	s.Quota = Quota{Bytes: 1}
	for _, q := range append(all, q) {
		require.Check(t, errors.As(s.SaveQuestions(ctx, c.Code, q), new(*Error)), "%q is saved without room", q.Slug)
	}
}

func TestVotesAreRefused(t *testing.T) {
	s, ctx, c := inCourse(t)
	p := require.Value(s.Ask(ctx, c.Code, tight))(t)
	vote := func(ws Workspace) error { return s.Vote(ctx, ws, c.Code, p.ID, 1, Answer{Given: "1"}) }
	require.NoError(t, s.CloseCourse(ctx, c.Code, true))
	require.NoError(t, vote(bob)) // closing affects hand-ins only

	// A blocked student's answers are deleted, and new ones are refused.
	require.NoError(t, s.CloseCourse(ctx, c.Code, false))
	run := s.saved(t, bob, c.Code, 0.75)
	require.NoError(t, s.Block(ctx, c.Code, []string{require.Value(s.HandIn(ctx, bob, run, "Bob"))(t).Run}))
	err := vote(bob)
	require.Check(t, err == ErrBlocked && count(t, s, "votes") == 0, "blocked: %v, %d answers", err, count(t, s, "votes"))
	require.NoError(t, s.exec(ctx, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO students (course, workspace, number, name) SELECT ?, 'w' || i, i, '' FROM n`, maxStudents, c.Code))
	require.Equal[error](t, vote("somebody"), ErrCrowded, "more than fit")
	require.NoError(t, vote("w7"))
	require.NoError(t, s.DeleteWorkspace(ctx, "w7"))
	require.Equal(t, count(t, s, "votes"), 0, "answers of a deleted workspace")
	require.NoError(t, vote("w8"))
	require.NoError(t, s.EndCourse(ctx, c.Code, s.Now().Add(-time.Hour)))
	require.Equal[error](t, vote("w9"), ErrOver, "ended")
	require.NoError(t, s.DeleteCourse(ctx, c.Code))
	require.Equal[error](t, vote("w9"), ErrNotFound, "deleted")
	forgetDeleted(t, s)
	require.Check(t, count(t, s, "polls")+count(t, s, "votes")+count(t, s, "students") == 0,
		"something is left of a deleted course")
}
