package store

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

func sampleCourse(title string) NewCourse {
	return NewCourse{Title: title, Target: "/lab?data=moons", Hidden: []string{"kernel"}, Frozen: []string{"gamma", "seed"}}
}

// inCourse returns a store of its own for a parallel test, and a course of alice's.
func inCourse(t *testing.T) (*Store, context.Context, Course) {
	t.Helper()
	s := fresh(t)
	return s, t.Context(), require.Value(s.CreateCourse(t.Context(), alice, sampleCourse("c")))(t)
}

// saved saves a run of a course and returns its id.
func (s *Store) saved(t *testing.T, ws Workspace, course string, accuracy float64) string {
	t.Helper()
	return require.Value(s.saveRun(t.Context(), ws, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: course}, sampleResult(accuracy, 2)))(t).ID
}

func TestCourseSurvivesRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	n := sampleCourse(" Small\tC ")
	n.Points, n.Data = sample(1), "mine"
	c := require.Value(s.CreateCourse(t.Context(), alice, n))(t)
	require.Check(t, regexp.MustCompile(`^[B-DF-HJ-NP-TV-XZ]{6}$`).MatchString(c.Code) && len(c.Token) >= 26 && c.Title == "Small C" && c.Hash == sample(1).Hash(),
		"%+v", c)
	require.NoError(t, s.HideNames(t.Context(), c.Code, true))
	require.NoError(t, s.FreeControls(t.Context(), c.Code, true))
	c.Nameless, c.Free = true, true
	require.NoError(t, s.Close())
	s = open(t, dir)
	for name, get := range map[string]func() (Course, error){
		"by code":   func() (Course, error) { return s.Course(t.Context(), c.Code) },
		"by token":  func() (Course, error) { return s.TaughtCourse(t.Context(), c.Token) },
		"its owner": func() (Course, error) { return s.CourseOf(t.Context(), alice, c.Code) },
	} {
		require.Equal(t, cmp.Diff(c, require.Value(get())(t)), "", "%s", name)
	}
	wantErr(t, require.Err(s.CourseOf(t.Context(), bob, c.Code)), ErrNotFound)
	wantErr(t, require.Err(s.TaughtCourse(t.Context(), c.Code)), ErrNotFound)
	require.Check(t, c.Fixes("kernel") && c.Fixes("seed") && !c.Fixes("C"), "the wrong controls are fixed")
	got := require.Value(s.Courses(t.Context(), bob))(t)
	require.Check(t, len(got) == 0, "somebody else has %d courses", len(got))
	got = require.Value(s.Courses(t.Context(), alice))(t)
	require.Check(t, len(got) == 1 && got[0].Code == c.Code, "courses %+v", got)
	require.NoError(t, s.DeleteCourse(t.Context(), c.Code))
	forgetDeleted(t, s)
	require.Equal(t, count(t, s, "points"), 0, "point sets left of a deleted course")
	wantErr(t, s.DeleteCourse(t.Context(), c.Code), ErrNotFound)
}

func TestNewCourseProblems(t *testing.T) {
	s := fresh(t)
	for _, tc := range []struct {
		field string
		n     NewCourse
	}{
		{"title", NewCourse{Target: "/lab"}},
		{"title", NewCourse{Target: "/lab", Title: strings.Repeat("x", 121)}},
		{"target", NewCourse{Title: "x", Target: "lab"}},
		{"target", NewCourse{Title: "x", Target: "//elsewhere.example/lab"}},
		{"target", NewCourse{Title: "x", Target: "/" + strings.Repeat("x", maxTarget)}},
		{"target", NewCourse{Title: "x", Target: "/lab", Hidden: make([]string, maxControls+1)}},
	} {
		refused(t, require.Err(s.CreateCourse(t.Context(), alice, tc.n)), tc.field, "")
	}
	require.Check(t, count(t, s, "courses") == 0, "saved all the same")
}

func TestCleanCode(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{"bcdfgh": "BCDFGH", " BCD-FGH ": "BCDFGH", "b c d f g h": "BCDFGH", "": ""} {
		require.Equal(t, CleanCode(typed), want, "%q becomes", typed)
	}
}

// The copy in the gallery is independent of the run's later fate.
func TestHandIn(t *testing.T) {
	s, ctx, c := inCourse(t)
	spec := ml.DefaultSpec()
	spec = spec.With("C", param.Of(0.1+0.2))
	run := require.Value(s.saveRun(ctx, bob, NewRun{
		Name: "private name", Note: "private note", Tags: []string{"private"}, Data: sample(1), DatasetName: "d", Spec: spec, Axes: [2]string{"a", "b"}, Course: c.Code,
	}, sampleResult(0.9, 2)))(t)

	h := require.Value(s.HandIn(ctx, bob, run.ID, "  Ada "))(t)
	require.Check(t, h.Name == "Ada" && h.Source == run.ID && h.Run != run.ID, "%+v", h)
	require.NoError(t, s.DeleteRuns(ctx, bob, []string{run.ID}))

	got := require.Value(s.Run(ctx, c.Gallery(), h.Run))(t)
	want := run
	want.ID, want.Name, want.Note, want.Tags, want.Created = h.Run, "Ada", "", []string{}, h.Created
	require.Equal(t, cmp.Diff(asText(t, want), asText(t, got)), "", "the copy")
	require.Check(t, equal(got.Scores, want.Scores) && got.Scores != nil, "the copy has other scores")
	require.Value(s.Data(ctx, got.Hash))(t)
	wantErr(t, require.Err(s.Run(ctx, bob, h.Run)), ErrNotFound)
	wantErr(t, require.Err(s.Run(ctx, alice, h.Run)), ErrNotFound)
	require.Equal(t, require.Value(s.Course(ctx, c.Code))(t).Handins, 1, "hand-ins")

	wantErr(t, s.Withdraw(ctx, alice, h.Run), ErrNotFound)
	require.NoError(t, s.Withdraw(ctx, bob, h.Run))
	forgetDeleted(t, s)
	empty(t, s, "handins", "runs", "models", "points")
}

func TestHandInAgain(t *testing.T) {
	s, ctx, c := inCourse(t)
	names := func(ws Workspace) (names []string) {
		return lists.Map(require.Value(s.Handins(ctx, ws, c.Code))(t), func(h Handin) string { return h.Name })
	}
	first, second := s.saved(t, alice, c.Code, 0.5), s.saved(t, alice, c.Code, 0.75)
	require.Value(s.HandIn(ctx, alice, first, ""))(t)
	require.Value(s.HandIn(ctx, bob, s.saved(t, bob, c.Code, 1), ""))(t)
	require.Value(s.HandIn(ctx, alice, s.saved(t, alice, c.Code, 0.25), "Ada"))(t)
	again := require.Value(s.HandIn(ctx, alice, second, ""))(t)
	require.Slices(t, names(alice), []string{"anonymous 1", "Ada"}, "alice handed in")
	require.Slices(t, names(bob), []string{"anonymous 2"}, "bob handed in")
	r := require.Value(s.Run(ctx, c.Gallery(), again.Run))(t)
	require.Check(t, *r.Report.TrainAccuracy == 0.75, "the earlier run stayed: %+v", r.Report)
	require.Equal(t, count(t, s, "handins"), 3, "hand-ins")

	require.NoError(t, s.DeleteCourse(ctx, c.Code))
	forgetDeleted(t, s)
	require.Equal(t, count(t, s, "runs"), 4, "runs left, want the students' own four")
	require.Equal(t, count(t, s, "handins"), 0, "hand-ins left")
}

// A name given later renames submissions without a name or under the previous name, never those
// under another.
func TestLaterNames(t *testing.T) {
	s, ctx, c := inCourse(t)
	called := func(want ...string) {
		t.Helper()
		var names []string
		for _, h := range require.Value(s.Handins(ctx, bob, c.Code))(t) {
			require.Equal(t, require.Value(s.Run(ctx, c.Gallery(), h.Run))(t).Name, h.Name, "the name in the gallery")
			names = append(names, h.Name)
		}
		slices.Sort(names)
		require.Check(t, slices.Equal(names, want), "the hand-ins are %q, want %q", names, want)
	}
	run := s.saved(t, bob, c.Code, 0.5)
	before := require.Value(s.HandIn(ctx, bob, run, ""))(t)
	require.Value(s.HandIn(ctx, alice, s.saved(t, alice, c.Code, 0.5), ""))(t)
	require.NoError(t, s.NameStudent(ctx, bob, c.Code, " Bo "))
	called("Bo")
	require.NoError(t, s.NameStudent(ctx, bob, c.Code, "Bob"))
	called("Bob")
	require.NoError(t, s.NameStudent(ctx, bob, c.Code, ""))
	called("Bob")
	h := require.Value(s.HandIn(ctx, bob, run, "Bob"))(t)
	require.Check(t, h.Run == before.Run, "a renamed hand-in was replaced by the same run")
	other := s.saved(t, bob, c.Code, 0.5)
	require.Value(s.HandIn(ctx, bob, other, ""))(t)
	h = require.Value(s.HandIn(ctx, bob, other, "Eve"))(t)
	require.Check(t, h.Name == "Eve" && !h.Anonymous, "the same run with a name: %+v", h)
	called("Bob", "Eve")
	require.Value(s.HandIn(ctx, bob, s.saved(t, bob, c.Code, 0.5), ""))(t)
	require.NoError(t, s.NameStudent(ctx, bob, c.Code, "Eve")) // has already handed in
	called("Bob", "Eve", "anonymous 4")
	list := require.Value(s.Handins(ctx, alice, c.Code))(t)
	require.Check(t, len(list) == 1 && list[0].Anonymous, "somebody else's: %+v", list)
}

func TestHandInRefused(t *testing.T) {
	s, ctx, c := inCourse(t)
	denied := func(want *Error, ws Workspace, run string) {
		t.Helper()
		wantErr(t, require.Err(s.HandIn(ctx, ws, run, "x")), want)
	}
	own := s.saved(t, bob, c.Code, 1)
	denied(ErrNotFound, alice, own)                        // another user's run
	denied(ErrNotFound, bob, s.saved(t, bob, "", 1))       // created outside any course
	denied(ErrNotFound, bob, s.saved(t, bob, "NOSUCH", 1)) // its course does not exist

	require.NoError(t, s.CloseCourse(ctx, c.Code, true))
	denied(ErrClosed, bob, own)
	require.NoError(t, s.CloseCourse(ctx, c.Code, false))
	require.Value(s.HandIn(ctx, bob, own, "x"))(t)
	refused(t, require.Err(s.HandIn(ctx, bob, own, strings.Repeat("ä", 61))), "who", "")
	wantErr(t, s.CloseCourse(ctx, "NOSUCH", true), ErrNotFound)

	queued := require.Value(s.CreateRun(ctx, bob, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}))(t)
	require.NoError(t, s.CancelRun(ctx, bob, queued.ID))
	denied(ErrNoResult, bob, queued.ID)

	// One workspace cannot fill the gallery; many can.
	for i := 1; i < MaxNames; i++ {
		require.Value(s.HandIn(ctx, bob, own, fmt.Sprint("name ", i)))(t)
	}
	wantErr(t, require.Err(s.HandIn(ctx, bob, own, "one more")), ErrNames)
	wantErr(t, require.Err(s.CreateHandin(ctx, bob, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}, "")), ErrNames)
	again := s.saved(t, bob, c.Code, 1)
	require.Value(s.HandIn(ctx, bob, again, "name 1"))(t) // replaces
	elsewhere := require.Value(s.CreateCourse(ctx, alice, sampleCourse("other")))(t)
	require.Value(s.CreateHandin(ctx, bob, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: elsewhere.Code}, "one more"))(t)

	require.Value(s.write.Exec(`
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
		INSERT INTO runs (id, workspace, name, note, tags, dataset_name, hash, spec, axes, status, course, created)
		SELECT 'copy ' || i, 'course ' || ?1, '', '', '[]', '', hash, spec, axes, 'queued', ?1, 0 FROM n JOIN runs ON id = ?3`, c.Code, maxHandins-MaxNames, own))(t)
	require.Value(s.write.Exec(`INSERT INTO handins (run, course, workspace, source, name, number) SELECT id, course, 'of ' || id, id, '', 0 FROM runs WHERE id LIKE 'copy %'`))(t)
	require.Value(s.HandIn(ctx, bob, own, require.Value(s.Handins(ctx, bob, c.Code))(t)[0].Name))(t) // replaces
	own = s.saved(t, alice, c.Code, 1)
	denied(ErrGalleryFull, alice, own)
}

// A course accepts hand-ins until it ends, to the millisecond; the end can be postponed and
// removed.
func TestCourseEnds(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	now := fromMillis(1_800_000_000_000)
	s.Now = func() time.Time { return now }
	c := require.Value(s.CreateCourse(ctx, alice, sampleCourse("c")))(t)
	require.Check(t, c.Ends.IsZero(), "a new course ends at %v", c.Ends)
	run := s.saved(t, bob, c.Code, 1)
	for _, tc := range []struct {
		ends time.Time
		want *Error
	}{{now, ErrOver}, {now.Add(time.Millisecond), nil}, {fromMillis(1), ErrOver}, {time.Time{}, nil}} {
		require.NoError(t, s.EndCourse(ctx, c.Code, tc.ends))
		c = require.Value(s.Course(ctx, c.Code))(t)
		require.Check(t, c.Ends.Equal(tc.ends), "ends at %v, want %v", c.Ends, tc.ends)
		_, err := s.HandIn(ctx, bob, run, "Bob")
		admitted := s.Admits(ctx, bob, c)
		if tc.want != nil {
			wantErr(t, err, tc.want)
			wantErr(t, admitted, tc.want)
		} else {
			require.NoError(t, err)
			require.NoError(t, admitted)
		}
	}
	wantErr(t, s.EndCourse(ctx, "NOSUCH", time.Time{}), ErrNotFound)
}

// A blocked browser loses its submissions in the gallery and nothing else, and can be unblocked;
// others are not affected.
func TestBlock(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	c, other := require.Value(s.CreateCourse(ctx, alice, sampleCourse("c")))(t), require.Value(s.CreateCourse(ctx, alice, sampleCourse("other")))(t)
	handIn := func(ws Workspace, c Course, name string) string {
		t.Helper()
		run := require.Value(s.CreateHandin(ctx, ws, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}, name))(t)
		for _, h := range require.Value(s.Handins(ctx, ws, c.Code))(t) {
			if h.Source == run.ID {
				return h.Run
			}
		}
		return ""
	}
	one, two := handIn(bob, c, "Ada"), handIn(bob, c, "")
	elsewhere, hers := handIn(bob, other, "Bob"), handIn(alice, c, "Ada")
	require.Equal(t, cmp.Diff(map[string]Workspace{one: bob, two: bob, hers: alice}, studentsOf(t, s, c)), "", "diff")

	require.NoError(t, s.Block(ctx, c.Code, []string{"gone", one, two, elsewhere}))
	require.NoError(t, s.Block(ctx, c.Code, []string{one}))
	require.Equal(t, cmp.Diff(map[string]Workspace{hers: alice}, studentsOf(t, s, c)), "", "diff")
	require.Equal(t, count(t, s, "runs"), 6, "runs") // four own runs, two in galleries
	blocks := require.Value(s.Blocks(ctx, c.Code))(t)
	require.Must(t, len(blocks) == 1 && blocks[0].Names == "anonymous 2, Ada", "%+v", blocks)
	wantErr(t, require.Err(s.CreateHandin(ctx, bob, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}, "Eve")), ErrBlocked)
	wantErr(t, s.Admits(ctx, bob, c), ErrBlocked)
	require.NoError(t, s.Admits(ctx, alice, c))
	handIn(bob, other, "Bob")

	wantErr(t, s.Unblock(ctx, other.Code, blocks[0].ID), ErrNotFound)
	require.NoError(t, s.Unblock(ctx, c.Code, blocks[0].ID))
	wantErr(t, s.Unblock(ctx, c.Code, blocks[0].ID), ErrNotFound)
	require.NoError(t, s.Block(ctx, c.Code, []string{handIn(bob, c, "Ada")}))
	require.NoError(t, s.DeleteWorkspace(ctx, bob))
	require.Equal(t, count(t, s, "blocks"), 0, "blocks of somebody who has deleted everything")
	require.NoError(t, s.Block(ctx, c.Code, []string{hers}))
	require.NoError(t, s.DeleteCourse(ctx, c.Code))
	forgetDeleted(t, s)
	require.Equal(t, count(t, s, "blocks"), 0, "blocks of a deleted course")
}

// An unfinished run is trained in the gallery, whatever happens to the student's.
func TestHandInBeforeTheEnd(t *testing.T) {
	s, ctx, c := inCourse(t)
	run := require.Value(s.CreateRun(ctx, bob, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}))(t)
	r, _ := s.claimRun(t, owner)
	require.Must(t, r.ID == run.ID, "claimed %q, want the student's", r.ID)
	h := require.Value(s.HandIn(ctx, bob, run.ID, ""))(t)
	require.NoError(t, s.DeleteRuns(ctx, bob, []string{run.ID}))
	r, _ = s.claimRun(t, owner)
	require.Must(t, r.ID == h.Run, "the gallery's own run is not next: %+v", r)
	require.NoError(t, s.FinishRun(ctx, owner, r.ID, sampleResult(1, 2)))
	got := require.Value(s.Run(ctx, c.Gallery(), h.Run))(t)
	require.Check(t, got.Status == Done && got.Model != nil, "%+v", got)
}

// A run is created and handed in together or not at all, and a repeated request changes nothing.
func TestCreateHandin(t *testing.T) {
	s, ctx, c := inCourse(t)
	n := NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code, Request: Request{Key: "a page"}}
	first := require.Value(s.CreateHandin(ctx, bob, n, "Bob"))(t)
	tables := func() string { return fmt.Sprint(count(t, s, "runs"), count(t, s, "handins"), count(t, s, "points")) }
	once := tables()
	again := require.Value(s.CreateHandin(ctx, bob, n, " Bob"))(t)
	require.Check(t, again.ID == first.ID && tables() == once && once == "2 1 1", "twice: %s, %s, then %s", again.ID, once, tables())
	other := n
	other.Spec = other.Spec.With("C", param.Of(7))
	second := require.Value(s.CreateHandin(ctx, bob, other, "Bob"))(t)
	require.Check(t, require.Value(s.CreateHandin(ctx, bob, n, "Bob"))(t).ID == first.ID, "another run")
	list := require.Value(s.Handins(ctx, bob, c.Code))(t)
	require.Check(t, len(list) == 1 && list[0].Source == second.ID, "what was handed in last does not stand: %+v", list)
	require.Equal(t, require.Value(s.HandIn(ctx, bob, second.ID, "Bob"))(t), list[0], "said again")
	require.NoError(t, s.Withdraw(ctx, bob, list[0].Run))
	require.Value(s.CreateHandin(ctx, bob, other, "Bob"))(t) // from a cached page of the browser
	list = require.Value(s.Handins(ctx, bob, c.Code))(t)
	require.Check(t, len(list) == 1 && list[0].Source == second.ID, "not handed in again: %+v", list)
	before := tables()
	require.NoError(t, s.CloseCourse(ctx, c.Code, true))
	other.Request.Key = "another page"
	wantErr(t, require.Err(s.CreateHandin(ctx, bob, other, "Bob")), ErrClosed)
	require.Check(t, tables() == before, "half done: %s, before %s", tables(), before)
}

// A submitted run is trained once, before its student's other waiting runs, and ends in the gallery
// with the same outcome.
func TestHandinFollowsItsSource(t *testing.T) {
	s, ctx, c := inCourse(t)
	n := NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}
	for range MaxQueuedEach {
		require.Value(s.CreateRun(ctx, bob, n))(t)
	}
	for i := range spareHandins {
		if i >= MaxNames { // this course's limit is reached
			n.Course = require.Value(s.CreateCourse(ctx, alice, sampleCourse("another")))(t).Code
		}
		require.Value(s.CreateHandin(ctx, bob, n, fmt.Sprint(i)))(t)
	}
	wantErr(t, require.Err(s.CreateHandin(ctx, bob, n, "one more")), ErrTooMany)

	ends := func(i int, end func(id string) error, want Status) {
		t.Helper()
		list := require.Value(s.Handins(ctx, bob, c.Code))(t)
		h := list[len(list)-1-i]
		r, _ := s.claimRun(t, owner)
		require.Must(t, r.ID == h.Source, "claimed %+v, want what was handed in", r)
		require.Equal(t, require.Value(s.Run(ctx, c.Gallery(), h.Run))(t).Status, Queued, "the copy")
		require.NoError(t, end(r.ID))
		own, got := require.Value(s.Run(ctx, bob, r.ID))(t), require.Value(s.Run(ctx, c.Gallery(), h.Run))(t)
		require.Must(t, got.Status == want, "the copy is %s, want %s", got.Status, want)
		if want.Ended() {
			own.ID, own.Name, own.Created = got.ID, got.Name, got.Created
			require.Equal(t, cmp.Diff(asText(t, own), asText(t, got)), "", "the copy")
		}
	}
	ends(0, func(id string) error { return s.FinishRun(ctx, owner, id, sampleResult(1, 2)) }, Done)
	ends(1, func(id string) error { return s.FailRun(ctx, owner, id, "bad luck") }, Failed)
	ends(2, func(id string) error { return s.CancelRun(ctx, bob, id) }, Queued)
	for range MaxQueuedEach + spareHandins { // the copy waits its turn
		if r, _ := s.claimRun(t, owner); r.Name == "2" {
			return
		}
	}
	t.Error("the copy of a cancelled run is not trained")
}

// A class of schema 4 or earlier becomes a course with its gallery.
func TestClassesBecameCourses(t *testing.T) {
	t.Parallel()
	s := released(t, 4, "testdata/classes_v4.sql")
	ctx := t.Context()
	c := require.Value(s.Course(ctx, "BCDFGH"))(t)
	want := Course{
		Code: "BCDFGH", Token: "secret", Title: "Monday", Target: "/lab?kernel=rbf", Hidden: []string{"C"}, Frozen: []string{"gamma"},
		Hash: "of the class", Data: "Mine", Handins: 1, Created: fromMillis(1763780000000), Questions: []OwnQuestion{},
	}
	require.Equal(t, cmp.Diff(want, c), "", "course (-want +got)")
	got := require.Value(s.Courses(ctx, "teacher"))(t)
	require.Check(t, len(got) == 2 && got[0].Closed && got[0].Title == "Tuesday", "courses %+v", got)
	require.Equal(t, cmp.Diff(c, require.Value(s.TaughtCourse(ctx, "secret"))(t)), "", "by the teacher's link")
	ids := func(ws Workspace) []string {
		list, _, err := s.Runs(ctx, ws, Filter{Sort: "created"})
		require.NoError(t, err)
		return lists.Map(list, func(r Run) string { return r.ID + " " + r.Course })
	}
	require.Equal(t, cmp.Diff([]string{"copy BCDFGH"}, ids(c.Gallery())), "", "gallery")
	require.Equal(t, cmp.Diff([]string{"own BCDFGH", "free "}, ids("student")), "", "the student's own")
	diff := cmp.Diff([]Handin{{Run: "copy", Source: "own", Name: "Ada", Created: fromMillis(1763780004000)}}, require.Value(s.Handins(ctx, "student", c.Code))(t))
	require.Check(t, diff == "", "hand-ins:\n%s", diff)
	again := require.Value(s.HandIn(ctx, "student", "own", "Ada"))(t)
	if got := ids(c.Gallery()); len(got) != 1 || got[0] != again.Run+" BCDFGH" {
		t.Errorf("handed in again: %q", got)
	}
	require.NoError(t, s.DeleteCourse(ctx, c.Code))
	forgetDeleted(t, s)
	if got := ids(c.Gallery()); len(got) != 0 || len(ids("student")) != 2 {
		t.Errorf("left of a deleted course: %q", got)
	}
	require.Equal(t, count(t, s, "points"), 1, "point sets, want that of the runs")
}

// studentsOf returns the owners of the runs in a gallery.
func studentsOf(t *testing.T, s *Store, c Course) map[string]Workspace {
	t.Helper()
	of := map[string]Workspace{}
	for _, one := range require.Value(s.Copies(t.Context(), c))(t) {
		of[one.Run] = one.Workspace
	}
	return of
}
