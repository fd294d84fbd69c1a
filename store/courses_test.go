package store

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/param"
)

func sampleCourse(title string) NewCourse {
	return NewCourse{Title: title, Target: "/lab?data=moons", Hidden: []string{"kernel"}, Frozen: []string{"gamma", "seed"}}
}

func TestCourseSurvivesRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	n := sampleCourse(" Small\tC ")
	n.Points, n.Data = sample(1), "mine"
	c := must[Course](t)(s.CreateCourse(t.Context(), alice, n))
	if !regexp.MustCompile(`^[B-DF-HJ-NP-TV-XZ]{6}$`).MatchString(c.Code) || len(c.Token) < 26 || c.Title != "Small C" || c.Hash != sample(1).Hash() {
		t.Errorf("%+v", c)
	}
	check(t, s.Close())
	s = open(t, dir)
	for name, get := range map[string]func() (Course, error){
		"by code":   func() (Course, error) { return s.Course(t.Context(), c.Code) },
		"by token":  func() (Course, error) { return s.TaughtCourse(t.Context(), c.Token) },
		"its owner": func() (Course, error) { return s.CourseOf(t.Context(), alice, c.Code) },
	} {
		if diff := cmp.Diff(c, must[Course](t)(get())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	_, err := s.CourseOf(t.Context(), bob, c.Code)
	wantErr(t, err, ErrNotFound)
	_, err = s.TaughtCourse(t.Context(), c.Code)
	wantErr(t, err, ErrNotFound)
	if !c.Fixes("kernel") || !c.Fixes("seed") || c.Fixes("C") {
		t.Error("the wrong controls are fixed")
	}
	if got := must[[]Course](t)(s.Courses(t.Context(), bob)); len(got) != 0 {
		t.Errorf("somebody else has %d courses", len(got))
	}
	if got := must[[]Course](t)(s.Courses(t.Context(), alice)); len(got) != 1 || got[0].Code != c.Code {
		t.Errorf("courses %+v", got)
	}
	check(t, s.DeleteCourse(t.Context(), c.Code))
	forgetDeleted(t, s)
	if n := count(t, s, "points"); n != 0 {
		t.Errorf("%d point sets left of a deleted course", n)
	}
	wantErr(t, s.DeleteCourse(t.Context(), c.Code), ErrNotFound)
}

func TestNewCourseProblems(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
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
		_, err := s.CreateCourse(t.Context(), alice, tc.n)
		var ps param.Problems
		if !errors.As(err, &ps) || ps.For(tc.field) == "" {
			t.Errorf("%s: %v", tc.field, err)
		}
	}
	if n := count(t, s, "courses"); n != 0 {
		t.Error("saved all the same")
	}
}

func TestCleanCode(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{"bcdfgh": "BCDFGH", " BCD-FGH ": "BCDFGH", "b c d f g h": "BCDFGH", "": ""} {
		if got := CleanCode(typed); got != want {
			t.Errorf("%q becomes %q", typed, got)
		}
	}
}

// The copy in the gallery does not follow what becomes of the run.
func TestHandIn(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ctx := t.Context()
	c := must[Course](t)(s.CreateCourse(ctx, alice, sampleCourse("c")))
	spec := ml.DefaultSpec()
	spec = spec.With("C", param.Of(0.1+0.2))
	run := must[Run](t)(s.saveRun(ctx, bob, NewRun{
		Name: "private name", Note: "private note", Tags: []string{"private"}, Data: sample(1), DatasetName: "d", Spec: spec, Axes: [2]string{"a", "b"}, Course: c.Code,
	}, sampleResult(0.9, 2)))

	h := must[Handin](t)(s.HandIn(ctx, bob, run.ID, "  Ada "))
	if h.Name != "Ada" || h.Source != run.ID || h.Run == run.ID {
		t.Errorf("%+v", h)
	}
	check(t, s.DeleteRuns(ctx, bob, []string{run.ID}))

	got := must[Run](t)(s.Run(ctx, c.Gallery(), h.Run))
	want := run
	want.ID, want.Name, want.Note, want.Tags, want.Created = h.Run, "Ada", "", []string{}, h.Created
	if diff := cmp.Diff(asText(t, want), asText(t, got)); diff != "" {
		t.Errorf("the copy: %s", diff)
	}
	if !equal(got.Scores, want.Scores) || got.Scores == nil {
		t.Error("the copy has other scores")
	}
	must[any](t)(s.Data(ctx, got.Hash))
	_, err := s.Run(ctx, bob, h.Run)
	wantErr(t, err, ErrNotFound)
	_, err = s.Run(ctx, alice, h.Run)
	wantErr(t, err, ErrNotFound)
	if n := must[Course](t)(s.Course(ctx, c.Code)).Handins; n != 1 {
		t.Errorf("%d hand-ins", n)
	}

	wantErr(t, s.Withdraw(ctx, alice, h.Run), ErrNotFound)
	check(t, s.Withdraw(ctx, bob, h.Run))
	forgetDeleted(t, s)
	for _, table := range []string{"handins", "runs", "models", "points"} {
		if n := count(t, s, table); n != 0 {
			t.Errorf("%d %s left", n, table)
		}
	}
}

func TestHandInAgain(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ctx := t.Context()
	c := must[Course](t)(s.CreateCourse(ctx, alice, sampleCourse("c")))
	saved := func(ws Workspace, accuracy float64) string {
		return must[Run](t)(s.saveRun(ctx, ws, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}, sampleResult(accuracy, 2))).ID
	}
	names := func(ws Workspace) (names []string) {
		for _, h := range must[[]Handin](t)(s.Handins(ctx, ws, c.Code)) {
			names = append(names, h.Name)
		}
		return names
	}
	first, second := saved(alice, 0.5), saved(alice, 0.75)
	must[Handin](t)(s.HandIn(ctx, alice, first, ""))
	must[Handin](t)(s.HandIn(ctx, bob, saved(bob, 1), ""))
	must[Handin](t)(s.HandIn(ctx, alice, saved(alice, 0.25), "Ada"))
	again := must[Handin](t)(s.HandIn(ctx, alice, second, ""))
	if got := names(alice); !slices.Equal(got, []string{"anonymous 1", "Ada"}) {
		t.Errorf("alice handed in %q", got)
	}
	if got := names(bob); !slices.Equal(got, []string{"anonymous 2"}) {
		t.Errorf("bob handed in %q", got)
	}
	if r := must[Run](t)(s.Run(ctx, c.Gallery(), again.Run)); *r.Report.TrainAccuracy != 0.75 {
		t.Errorf("the earlier run stayed: %+v", r.Report)
	}
	if n := count(t, s, "handins"); n != 3 {
		t.Errorf("%d hand-ins", n)
	}

	check(t, s.DeleteCourse(ctx, c.Code))
	forgetDeleted(t, s)
	if n := count(t, s, "runs"); n != 4 {
		t.Errorf("%d runs left, want the students' own four", n)
	}
	if n := count(t, s, "handins"); n != 0 {
		t.Errorf("%d hand-ins left", n)
	}
}

// A name that is given later renames what was handed in without one, and under the name before;
// never what stands under another name.
func TestLaterNames(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ctx := t.Context()
	c := must[Course](t)(s.CreateCourse(ctx, alice, sampleCourse("c")))
	saved := func(ws Workspace) string {
		return must[Run](t)(s.saveRun(ctx, ws, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}, sampleResult(0.5, 2))).ID
	}
	called := func(want ...string) {
		t.Helper()
		var names []string
		for _, h := range must[[]Handin](t)(s.Handins(ctx, bob, c.Code)) {
			if shown := must[Run](t)(s.Run(ctx, c.Gallery(), h.Run)).Name; shown != h.Name {
				t.Errorf("the gallery shows %q for %q", shown, h.Name)
			}
			names = append(names, h.Name)
		}
		slices.Sort(names)
		if !slices.Equal(names, want) {
			t.Errorf("the hand-ins are %q, want %q", names, want)
		}
	}
	run := saved(bob)
	before := must[Handin](t)(s.HandIn(ctx, bob, run, ""))
	must[Handin](t)(s.HandIn(ctx, alice, saved(alice), ""))
	check(t, s.NameStudent(ctx, bob, c.Code, " Bo "))
	called("Bo")
	check(t, s.NameStudent(ctx, bob, c.Code, "Bob"))
	called("Bob")
	check(t, s.NameStudent(ctx, bob, c.Code, ""))
	called("Bob")
	if h := must[Handin](t)(s.HandIn(ctx, bob, run, "Bob")); h.Run != before.Run {
		t.Error("a renamed hand-in was replaced by the same run")
	}
	other := saved(bob)
	must[Handin](t)(s.HandIn(ctx, bob, other, ""))
	if h := must[Handin](t)(s.HandIn(ctx, bob, other, "Eve")); h.Name != "Eve" || h.Anonymous {
		t.Errorf("the same run with a name: %+v", h)
	}
	called("Bob", "Eve")
	must[Handin](t)(s.HandIn(ctx, bob, saved(bob), ""))
	check(t, s.NameStudent(ctx, bob, c.Code, "Eve")) // who has handed in already
	called("Bob", "Eve", "anonymous 4")
	if list := must[[]Handin](t)(s.Handins(ctx, alice, c.Code)); len(list) != 1 || !list[0].Anonymous {
		t.Errorf("somebody else's: %+v", list)
	}
}

func TestHandInRefused(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ctx := t.Context()
	c := must[Course](t)(s.CreateCourse(ctx, alice, sampleCourse("c")))
	saved := func(code string) string {
		return must[Run](t)(s.saveRun(ctx, bob, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: code}, sampleResult(1, 2))).ID
	}
	refused := func(want *Error, ws Workspace, run string) {
		t.Helper()
		_, err := s.HandIn(ctx, ws, run, "x")
		wantErr(t, err, want)
	}
	own := saved(c.Code)
	refused(ErrNotFound, alice, own)           // somebody else's run
	refused(ErrNotFound, bob, saved(""))       // made outside of any course
	refused(ErrNotFound, bob, saved("NOSUCH")) // of a course that is gone

	check(t, s.CloseCourse(ctx, c.Code, true))
	refused(ErrClosed, bob, own)
	check(t, s.CloseCourse(ctx, c.Code, false))
	must[Handin](t)(s.HandIn(ctx, bob, own, "x"))
	_, err := s.HandIn(ctx, bob, own, strings.Repeat("ä", 61))
	var ps param.Problems
	if !errors.As(err, &ps) || ps.For("who") == "" {
		t.Error(err)
	}
	wantErr(t, s.CloseCourse(ctx, "NOSUCH", true), ErrNotFound)

	queued := must[Run](t)(s.CreateRun(ctx, bob, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}))
	check(t, s.CancelRun(ctx, bob, queued.ID))
	refused(ErrNoResult, bob, queued.ID)

	// One workspace does not fill the gallery, many do.
	for i := 1; i < MaxNames; i++ {
		must[Handin](t)(s.HandIn(ctx, bob, own, fmt.Sprint("name ", i)))
	}
	_, err = s.HandIn(ctx, bob, own, "one more")
	wantErr(t, err, ErrNames)
	_, err = s.CreateHandin(ctx, bob, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}, "")
	wantErr(t, err, ErrNames)
	again := must[Run](t)(s.saveRun(ctx, bob, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}, sampleResult(1, 2))).ID
	must[Handin](t)(s.HandIn(ctx, bob, again, "name 1")) // replaces
	elsewhere := must[Course](t)(s.CreateCourse(ctx, alice, sampleCourse("other")))
	must[Run](t)(s.CreateHandin(ctx, bob, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: elsewhere.Code}, "one more"))

	_, err = s.write.Exec(`
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
		INSERT INTO runs (id, workspace, name, note, tags, dataset_name, hash, spec, axes, status, course, created)
		SELECT 'copy ' || i, 'course ' || ?1, '', '', '[]', '', hash, spec, axes, 'queued', ?1, 0 FROM n JOIN runs ON id = ?3`, c.Code, MaxHandins-MaxNames, own)
	check(t, err)
	_, err = s.write.Exec(`INSERT INTO handins (run, course, workspace, source, name, number) SELECT id, course, 'of ' || id, id, '', 0 FROM runs WHERE id LIKE 'copy %'`)
	check(t, err)
	first := must[[]Handin](t)(s.Handins(ctx, bob, c.Code))[0]
	must[Handin](t)(s.HandIn(ctx, bob, own, first.Name)) // replaces
	own = must[Run](t)(s.saveRun(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}, sampleResult(1, 2))).ID
	refused(ErrGalleryFull, alice, own)
}

// Until a course ends, to the millisecond, it takes hand-ins; the end can be put off and
// lifted.
func TestCourseEnds(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ctx := t.Context()
	now := fromMillis(1_800_000_000_000)
	s.Now = func() time.Time { return now }
	c := must[Course](t)(s.CreateCourse(ctx, alice, sampleCourse("c")))
	if !c.Ends.IsZero() {
		t.Errorf("a new course ends at %v", c.Ends)
	}
	run := must[Run](t)(s.saveRun(ctx, bob, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}, sampleResult(1, 2))).ID
	for _, tc := range []struct {
		ends time.Time
		want *Error
	}{{now, ErrOver}, {now.Add(time.Millisecond), nil}, {fromMillis(1), ErrOver}, {time.Time{}, nil}} {
		check(t, s.EndCourse(ctx, c.Code, tc.ends))
		c = must[Course](t)(s.Course(ctx, c.Code))
		if !c.Ends.Equal(tc.ends) {
			t.Errorf("ends at %v, want %v", c.Ends, tc.ends)
		}
		_, err := s.HandIn(ctx, bob, run, "Bob")
		admitted := s.Admits(ctx, bob, c)
		if tc.want != nil {
			wantErr(t, err, tc.want)
			wantErr(t, admitted, tc.want)
		} else {
			check(t, err)
			check(t, admitted)
		}
	}
	wantErr(t, s.EndCourse(ctx, "NOSUCH", time.Time{}), ErrNotFound)
}

// A blocked browser loses all that lies in the gallery and nothing else, and can be let
// in again; others notice nothing.
func TestBlock(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ctx := t.Context()
	c, other := must[Course](t)(s.CreateCourse(ctx, alice, sampleCourse("c"))), must[Course](t)(s.CreateCourse(ctx, alice, sampleCourse("other")))
	handIn := func(ws Workspace, c Course, name string) string {
		t.Helper()
		run := must[Run](t)(s.CreateHandin(ctx, ws, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}, name))
		for _, h := range must[[]Handin](t)(s.Handins(ctx, ws, c.Code)) {
			if h.Source == run.ID {
				return h.Run
			}
		}
		return ""
	}
	one, two := handIn(bob, c, "Ada"), handIn(bob, c, "")
	elsewhere, hers := handIn(bob, other, "Bob"), handIn(alice, c, "Ada")
	if diff := cmp.Diff(map[string]Workspace{one: bob, two: bob, hers: alice}, studentsOf(t, s, c)); diff != "" {
		t.Error(diff)
	}

	check(t, s.Block(ctx, c.Code, []string{"gone", one, two, elsewhere}))
	check(t, s.Block(ctx, c.Code, []string{one}))
	if diff := cmp.Diff(map[string]Workspace{hers: alice}, studentsOf(t, s, c)); diff != "" {
		t.Error(diff)
	}
	if n := count(t, s, "runs"); n != 6 { // four of their own, two in galleries
		t.Errorf("%d runs", n)
	}
	blocks := must[[]Blocked](t)(s.Blocks(ctx, c.Code))
	if len(blocks) != 1 || blocks[0].Names != "anonymous 2, Ada" {
		t.Fatalf("%+v", blocks)
	}
	_, err := s.CreateHandin(ctx, bob, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}, "Eve")
	wantErr(t, err, ErrBlocked)
	wantErr(t, s.Admits(ctx, bob, c), ErrBlocked)
	check(t, s.Admits(ctx, alice, c))
	handIn(bob, other, "Bob")

	wantErr(t, s.Unblock(ctx, other.Code, blocks[0].ID), ErrNotFound)
	check(t, s.Unblock(ctx, c.Code, blocks[0].ID))
	wantErr(t, s.Unblock(ctx, c.Code, blocks[0].ID), ErrNotFound)
	check(t, s.Block(ctx, c.Code, []string{handIn(bob, c, "Ada")}))
	check(t, s.DeleteWorkspace(ctx, bob))
	if n := count(t, s, "blocks"); n != 0 {
		t.Errorf("%d blocks of somebody who has deleted everything", n)
	}
	check(t, s.Block(ctx, c.Code, []string{hers}))
	check(t, s.DeleteCourse(ctx, c.Code))
	forgetDeleted(t, s)
	if n := count(t, s, "blocks"); n != 0 {
		t.Errorf("%d blocks of a deleted course", n)
	}
}

// What has not ended is trained in the gallery, whatever becomes of the student's.
func TestHandInBeforeTheEnd(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ctx := t.Context()
	c := must[Course](t)(s.CreateCourse(ctx, alice, sampleCourse("c")))
	run := must[Run](t)(s.CreateRun(ctx, bob, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}))
	if r, ok, err := s.claimRun(ctx, owner); !ok || err != nil || r.ID != run.ID {
		t.Fatal(r.ID, ok, err)
	}
	h := must[Handin](t)(s.HandIn(ctx, bob, run.ID, ""))
	check(t, s.DeleteRuns(ctx, bob, []string{run.ID}))
	r, ok, err := s.claimRun(ctx, owner)
	if !ok || err != nil || r.ID != h.Run {
		t.Fatalf("the gallery's own run is not next: %+v %v", r, err)
	}
	check(t, s.FinishRun(ctx, owner, r.ID, sampleResult(1, 2)))
	if got := must[Run](t)(s.Run(ctx, c.Gallery(), h.Run)); got.Status != Done || got.Model == nil {
		t.Errorf("%+v", got)
	}
}

// A run is made and handed in together, or not at all, and a repeated request changes
// nothing.
func TestCreateHandin(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ctx := t.Context()
	c := must[Course](t)(s.CreateCourse(ctx, alice, sampleCourse("c")))
	n := NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code, Request: Request{Key: "a page"}}
	first := must[Run](t)(s.CreateHandin(ctx, bob, n, "Bob"))
	tables := func() string { return fmt.Sprint(count(t, s, "runs"), count(t, s, "handins"), count(t, s, "points")) }
	once := tables()
	if again := must[Run](t)(s.CreateHandin(ctx, bob, n, " Bob")); again.ID != first.ID || tables() != once || once != "2 1 1" {
		t.Errorf("twice: %s, %s, then %s", again.ID, once, tables())
	}
	other := n
	other.Spec = other.Spec.With("C", param.Of(7))
	second := must[Run](t)(s.CreateHandin(ctx, bob, other, "Bob"))
	if late := must[Run](t)(s.CreateHandin(ctx, bob, n, "Bob")); late.ID != first.ID {
		t.Error("another run")
	}
	list := must[[]Handin](t)(s.Handins(ctx, bob, c.Code))
	if len(list) != 1 || list[0].Source != second.ID {
		t.Errorf("what was handed in last does not stand: %+v", list)
	}
	if h := must[Handin](t)(s.HandIn(ctx, bob, second.ID, "Bob")); h != list[0] {
		t.Errorf("said again %+v, want %+v", h, list[0])
	}
	check(t, s.Withdraw(ctx, bob, list[0].Run))
	must[Run](t)(s.CreateHandin(ctx, bob, other, "Bob")) // from a page that the browser has kept
	list = must[[]Handin](t)(s.Handins(ctx, bob, c.Code))
	if len(list) != 1 || list[0].Source != second.ID {
		t.Errorf("not handed in again: %+v", list)
	}
	before := tables()
	check(t, s.CloseCourse(ctx, c.Code, true))
	other.Request.Key = "another page"
	_, err := s.CreateHandin(ctx, bob, other, "Bob")
	wantErr(t, err, ErrClosed)
	if tables() != before {
		t.Errorf("half done: %s, before %s", tables(), before)
	}
}

// A handed-in run is trained once, before the rest that its student has waiting, and
// ends in the gallery as it does with the student.
func TestHandinFollowsItsSource(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ctx := t.Context()
	c := must[Course](t)(s.CreateCourse(ctx, alice, sampleCourse("c")))
	n := NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: c.Code}
	for range MaxQueuedEach {
		must[Run](t)(s.CreateRun(ctx, bob, n))
	}
	for i := range spareHandins {
		if i >= MaxNames { // enough of this course
			n.Course = must[Course](t)(s.CreateCourse(ctx, alice, sampleCourse("another"))).Code
		}
		must[Run](t)(s.CreateHandin(ctx, bob, n, fmt.Sprint(i)))
	}
	_, err := s.CreateHandin(ctx, bob, n, "one more")
	wantErr(t, err, ErrTooMany)

	ends := func(i int, end func(id string) error, want Status) {
		t.Helper()
		list := must[[]Handin](t)(s.Handins(ctx, bob, c.Code))
		h := list[len(list)-1-i]
		r, ok, err := s.claimRun(ctx, owner)
		if err != nil || !ok || r.ID != h.Source {
			t.Fatalf("claimed %+v, %v, want what was handed in", r, err)
		}
		if got := must[Run](t)(s.Run(ctx, c.Gallery(), h.Run)); got.Status != Queued {
			t.Errorf("the copy is %s", got.Status)
		}
		check(t, end(r.ID))
		own, got := must[Run](t)(s.Run(ctx, bob, r.ID)), must[Run](t)(s.Run(ctx, c.Gallery(), h.Run))
		if got.Status != want {
			t.Fatalf("the copy is %s, want %s", got.Status, want)
		}
		if want.Ended() {
			own.ID, own.Name, own.Created = got.ID, got.Name, got.Created
			if diff := cmp.Diff(asText(t, own), asText(t, got)); diff != "" {
				t.Errorf("the copy: %s", diff)
			}
		}
	}
	ends(0, func(id string) error { return s.FinishRun(ctx, owner, id, sampleResult(1, 2)) }, Done)
	ends(1, func(id string) error { return s.FailRun(ctx, owner, id, "bad luck") }, Failed)
	ends(2, func(id string) error { return s.CancelRun(ctx, bob, id) }, Queued)
	for range MaxQueuedEach + spareHandins { // the copy takes its turn
		r, _, err := s.claimRun(ctx, owner)
		check(t, err)
		if r.Name == "2" {
			return
		}
	}
	t.Error("the copy of a cancelled run is not trained")
}

// What was a class before the fifth schema is a course with its gallery.
func TestClassesBecameCourses(t *testing.T) {
	t.Parallel()
	s := released(t, 4, "testdata/classes_v4.sql")
	ctx := t.Context()
	c := must[Course](t)(s.Course(ctx, "BCDFGH"))
	want := Course{
		Code: "BCDFGH", Token: "secret", Title: "Monday", Target: "/lab?kernel=rbf", Hidden: []string{"C"}, Frozen: []string{"gamma"},
		Hash: "of the class", Data: "Mine", Handins: 1, Created: fromMillis(1763780000000), Questions: []OwnQuestion{},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("course (-want +got):\n%s", diff)
	}
	if got := must[[]Course](t)(s.Courses(ctx, "teacher")); len(got) != 2 || !got[0].Closed || got[0].Title != "Tuesday" {
		t.Errorf("courses %+v", got)
	}
	if diff := cmp.Diff(c, must[Course](t)(s.TaughtCourse(ctx, "secret"))); diff != "" {
		t.Errorf("by the teacher's link:\n%s", diff)
	}
	ids := func(ws Workspace) (ids []string) {
		list, _, err := s.Runs(ctx, ws, Filter{Sort: "created"})
		check(t, err)
		for _, r := range list {
			ids = append(ids, r.ID+" "+r.Course)
		}
		return ids
	}
	if diff := cmp.Diff([]string{"copy BCDFGH"}, ids(c.Gallery())); diff != "" {
		t.Errorf("gallery:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"own BCDFGH", "free "}, ids("student")); diff != "" {
		t.Errorf("the student's own:\n%s", diff)
	}
	if diff := cmp.Diff([]Handin{{Run: "copy", Source: "own", Name: "Ada", Created: fromMillis(1763780004000)}}, must[[]Handin](t)(s.Handins(ctx, "student", c.Code))); diff != "" {
		t.Errorf("hand-ins:\n%s", diff)
	}
	again := must[Handin](t)(s.HandIn(ctx, "student", "own", "Ada"))
	if got := ids(c.Gallery()); len(got) != 1 || got[0] != again.Run+" BCDFGH" {
		t.Errorf("handed in again: %q", got)
	}
	check(t, s.DeleteCourse(ctx, c.Code))
	forgetDeleted(t, s)
	if got := ids(c.Gallery()); len(got) != 0 || len(ids("student")) != 2 {
		t.Errorf("left of a deleted course: %q", got)
	}
	if n := count(t, s, "points"); n != 1 {
		t.Errorf("%d point sets, want that of the runs", n)
	}
}

// studentsOf tells whose the runs in a gallery are.
func studentsOf(t *testing.T, s *Store, c Course) map[string]Workspace {
	t.Helper()
	of := map[string]Workspace{}
	for _, one := range must[[]Copy](t)(s.Copies(t.Context(), c)) {
		of[one.Run] = one.Workspace
	}
	return of
}
