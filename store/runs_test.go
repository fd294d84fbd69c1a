package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
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

// asText compares models bit for bit: JSON carries every digit and the sign of zero.
func asText(t testing.TB, v any) string {
	t.Helper()
	return string(require.Value(json.Marshal(v))(t))
}

// The default name of a run is found quickly, even after thousands with the same settings.
func TestDefaultNameOfMany(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	n := NewRun{Data: sample(1), Spec: ml.DefaultSpec()}
	first := require.Value(s.CreateRun(ctx, alice, n))(t)
	require.NoError(t, s.exec(ctx, `WITH RECURSIVE many (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM many WHERE i < 5000)
		INSERT INTO runs (id, workspace, name, note, tags, dataset_name, hash, spec, axes, status, created)
		SELECT id || i, workspace, name || ' (' || i || ')', note, tags, dataset_name, hash, spec, axes, 'cancelled', created FROM runs, many`))
	began := time.Now()
	r := require.Value(s.CreateRun(ctx, alice, n))(t)
	require.Check(t, r.Name == first.Name+" (5001)" && time.Since(began) < time.Second, "%q after %v", r.Name, time.Since(began))
}

func TestSavedRunSurvivesRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	ctx := t.Context()
	ds := require.Value(s.CreateDataset(ctx, alice, "ripley", "", sample(1)))(t)
	spec := ml.DefaultSpec()
	spec = spec.With("C", param.Of(0.1+0.2))
	spec.Conformal, spec.Seed = "eigen", 1<<53
	res := sampleResult(0.9, 2)
	saved := require.Value(s.saveRun(ctx, alice, NewRun{
		Name: " first\trun ", Note: "line 1\r\nline 2\n", Tags: []string{"b", " a  c ", "", "b"}, Dataset: ds.ID, Data: sample(1), Spec: spec,
	}, res))(t)
	require.NoError(t, s.Close())

	s = open(t, dir)
	got := require.Value(s.Run(ctx, alice, saved.ID))(t)
	require.Equal(t, cmp.Diff(saved, got, cmp.Comparer(equal)), "", "as saved, as read")
	require.Check(t, got.Name == "first run" && got.Note == "line 1\nline 2" && slices.Equal(got.Tags, []string{"b", "a c"}) &&
		got.Status == Done && got.Dataset == ds.ID && got.DatasetName == "ripley" && got.Hash == ds.Hash && !got.Finished.IsZero(),
		"%+v", got)
	require.Check(t, asText(t, got.Model) == asText(t, res.Model) && asText(t, got.Before) == asText(t, res.Before),
		"a model came back changed")
	require.Equal(t, asText(t, got.Spec), asText(t, spec), "spec came back as")
	require.Check(t, equal(got.Scores, res.Scores) && got.ScoresBefore == nil, "scores came back changed")
	light := require.Value(s.RunWithoutModels(ctx, alice, saved.ID))(t)
	got.Model, got.Before, got.Scores = nil, nil, nil
	require.Equal(t, cmp.Diff(got, light), "", "diff")

	require.NoError(t, s.DeleteRuns(ctx, alice, []string{saved.ID}))
	forgetDeleted(t, s)
	require.Equal(t, count(t, s, "models"), 0, "models left of a deleted run")
	wantErr(t, require.Err(s.Run(ctx, alice, saved.ID)), ErrNotFound)
	wantErr(t, require.Err(s.WithModels(ctx, Run{ID: saved.ID})), ErrNotFound)
}

// A run trained before its data set was edited keeps its training points.
func TestRunAfterEdit(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	ds := require.Value(s.CreateDataset(ctx, alice, "d", "", sample(1)))(t)
	require.Value(s.ReplaceData(ctx, alice, ds.ID, sample(2)))(t)
	r := require.Value(s.saveRun(ctx, alice, NewRun{Dataset: ds.ID, Data: sample(1), Spec: ml.DefaultSpec()}, sampleResult(1, 1)))(t)
	require.Check(t, r.Hash == sample(1).Hash(), "the run has the edited points")
	require.Value(s.Data(ctx, r.Hash))(t)
}

func TestNewRunProblems(t *testing.T) {
	s := fresh(t)
	bad := ml.DefaultSpec()
	bad = bad.With("C", param.Of(-1))
	_, err := s.CreateRun(t.Context(), alice, NewRun{
		Name: strings.Repeat("x", 121), Note: strings.Repeat("x", maxNote+1), Tags: []string{strings.Repeat("x", 41)}, Spec: bad,
	})
	for _, field := range []string{"name", "note", "tags", "dataset", "C"} {
		refused(t, err, field, "")
	}
	require.Check(t, count(t, s, "runs") == 0, "saved all the same")

	r := require.Value(s.CreateRun(t.Context(), alice, NewRun{Data: sample(1), DatasetName: strings.Repeat("ä", 200), Spec: ml.DefaultSpec()}))(t)
	n := len([]rune(r.Name))
	require.Check(t, n <= maxName && n >= maxName-10 && strings.HasPrefix(r.Name, "SVM, C 1 · ää"), "name of %d characters: %s", n, r.Name)
	refused(t, s.UpdateRun(t.Context(), alice, r.ID, new(" "), nil, nil), "name", "")
	refused(t, s.UpdateRun(t.Context(), alice, r.ID, nil, nil, new(strings.Split(strings.Repeat("ab,", 9)+"c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w", ","))), "tags", "")
	require.NoError(t, s.UpdateRun(t.Context(), alice, r.ID, new("new <name>"), new("note & more"), &[]string{"x"}))
	got := require.Value(s.Run(t.Context(), alice, r.ID))(t)
	require.Check(t, got.Name == "new <name>" && got.Note == "note & more" && slices.Equal(got.Tags, []string{"x"}),
		"%+v", got)
}

func TestShare(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	r := require.Value(s.saveRun(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec()}, sampleResult(1, 1)))(t)
	_, err := s.SharedRun(ctx, "")
	wantErr(t, err, ErrNotFound) // an unshared run does not match the empty token
	token := require.Value(s.ShareRun(ctx, alice, r.ID))(t)
	again := require.Value(s.ShareRun(ctx, alice, r.ID))(t)
	require.Check(t, again == token && len(token) == 26, "tokens %q, %q", token, again)
	got := require.Value(s.SharedRun(ctx, token))(t)
	require.Check(t, got.ID == r.ID && got.Model != nil && got.Share == token, "%+v", got)
	require.NoError(t, s.UnshareRun(ctx, alice, r.ID))
	wantErr(t, require.Err(s.SharedRun(ctx, token)), ErrNotFound)
	require.Check(t, require.Value(s.ShareRun(ctx, alice, r.ID))(t) != token, "a withdrawn link works again")
}

func TestDeleteRunsAllOrNone(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	ids := lists.Make(3, func(int) string {
		return require.Value(s.saveRun(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec()}, sampleResult(1, 1)))(t).ID
	})
	wantErr(t, s.DeleteRuns(ctx, alice, append(slices.Clone(ids), "gone")), ErrNotFound)
	require.Equal(t, count(t, s, "runs"), 3, "runs left")
	require.NoError(t, s.DeleteRuns(ctx, alice, ids))
	forgetDeleted(t, s)
	require.Equal(t, count(t, s, "points"), 0, "point sets left")
}

func TestRunsFilterSortPage(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	ripley := require.Value(s.CreateDataset(ctx, alice, "Ripley", "", sample(1)))(t)
	save := func(name, note string, tags []string, accuracy float64, vectors int, change func(*NewRun)) {
		n := NewRun{Name: name, Note: note, Tags: tags, Data: sample(2), DatasetName: "moons", Spec: ml.DefaultSpec()}
		change(&n)
		res := sampleResult(accuracy, vectors)
		res.Report.Rule = map[string]ml.Rule{"c": ml.Sign, "d": ml.OneVsOne}[name]
		if name == "A" { // nothing held out: training accuracy does not count as accuracy
			res.Report.TestAccuracy = nil
		}
		require.Value(s.saveRun(ctx, alice, n, res))(t)
	}
	save("b", "100% sure", []string{"good", `qu"o<te`}, 0.8, 5, func(n *NewRun) { n.Spec = n.Spec.With("C", param.Of(10)) })
	save("A", "", nil, 0.95, 50, func(n *NewRun) {
		n.Spec.Learner = "mcm"
		n.Spec = n.Spec.With("C", param.Of(2))
		n.Dataset, n.Data = ripley.ID, nil
	})
	save("c", "a_b", []string{"goodish"}, 0.7, 7, func(n *NewRun) { n.Spec.Kernel = "linear"; n.Spec = n.Spec.With("hard_margin", param.Of(true)) })
	save("d", "", nil, 0.9, 6, func(n *NewRun) { n.Spec.Conformal = "eigen"; n.Spec = n.Spec.With("C", param.Of(100)) })
	require.Value(s.CreateRun(ctx, alice, NewRun{Name: "q", Data: sample(2), Spec: ml.DefaultSpec()}))(t)

	where := func(text string) Filter { return Filter{Where: MustQuery(text)} }
	for _, test := range []struct {
		name string
		f    Filter
		want string
	}{
		{"all, oldest first", Filter{}, "b A c d q"},
		{"newest first", Filter{Sort: "created", Desc: true}, "q d c A b"},
		{"unknown key", Filter{Sort: "1; DROP TABLE runs", Desc: true}, "q d c A b"},
		{"name ignores case", Filter{Sort: "name"}, "A b c d q"},
		{"accuracy, those without last", Filter{Sort: "accuracy"}, "c b d A q"},
		{"accuracy down, those without last", Filter{Sort: "accuracy", Desc: true}, "d b c q A"},
		{"train accuracy", Filter{Sort: "train_accuracy", Desc: true}, "A d b c q"},
		{"support vectors as numbers", Filter{Sort: "support_vectors"}, "b d c A q"},
		{"C as numbers, hard margin last", Filter{Sort: "C", Desc: true}, "d b A q c"},
		{"learner", Filter{Sort: "learner"}, "A b c d q"},
		{"kernel", Filter{Sort: "kernel", Desc: true}, "q d A b c"},
		{"by learner", where("learner = mcm"), "A"},
		{"by kernel", where("kernel = rbf"), "b A d q"},
		{"by conformal", where("conformal = eigen"), "d"},
		{"by status", where("status = queued"), "q"},
		{"by rule", where("rule = ovo"), "d"},
		{"by rule, also of reports that do not name it", where("rule = sign"), "b A c"},
		{"by data set", where("data = ripley"), "A"},
		{"by tag, whole", where("tag = good"), "b"},
		{"query: tag", where("good"), "b c"},
		{"query: tag that JSON escapes", where(`"qu\"o<t"`), "b"},
		{"query: data set", where(" RIPL "), "A"},
		{"query: percent is no wildcard", where("%"), "b"},
		{"query: underscore is no wildcard", where("_"), "c"},
		{"query: injection", where(`"' OR '1'='1"`), ""},
		{"several", Filter{Where: MustQuery("kernel = rbf and moon"), Sort: "name"}, "b d"},
		{"page 2", Filter{Limit: 2, Offset: 2}, "c d"},
		{"past the end", Filter{Limit: 2, Offset: 20}, ""},
	} {
		list, total, err := s.Runs(ctx, alice, test.f)
		require.NoError(t, err)
		var names []string
		for _, r := range list {
			names = append(names, r.Name)
			require.Check(t, r.Model == nil, "a list carries models")
		}
		require.Equal(t, strings.Join(names, " "), test.want, "%s", test.name)
		require.Check(t, (test.f.Limit != 0 || total == len(list)) && (test.f.Limit <= 0 || total == 5),
			"%s: total %d", test.name, total)
	}
	require.Slices(t, require.Value(s.Tags(ctx, alice))(t), []string{"good", "goodish", `qu"o<te`}, "tags")
	require.NoError(t, s.RenameDataset(ctx, alice, ripley.ID, "Synthetic"))
	list, _, _ := s.Runs(ctx, alice, where("synth"))
	require.Check(t, len(list) == 1, "the run does not show its data set's new name")
}

func TestQueue(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	queue := func(name string) string {
		r := require.Value(s.CreateRun(ctx, alice, NewRun{Name: name, Data: sample(1), Spec: ml.DefaultSpec()}))(t)
		require.Check(t, r.Status == Queued && r.Started.IsZero(), "new run: %+v", r)
		return r.ID
	}
	claim := func(want string) {
		t.Helper()
		r, ok := s.claimRun(t, owner)
		require.Must(t, ok && r.ID == want && r.Status == Running && !r.Started.IsZero(),
			"claimed %+v, %v, want %s", r, ok, want)
	}
	r, ok := s.claimRun(t, owner)
	require.Must(t, !ok, "claimed %+v of an empty queue", r)
	first, second, third := queue("1"), queue("2"), queue("3")

	wantErr(t, s.FinishRun(ctx, owner, first, sampleResult(1, 1)), ErrNotFound) // not running yet
	claim(first)
	require.NoError(t, s.FinishRun(ctx, owner, first, sampleResult(1, 1)))
	wantErr(t, s.FinishRun(ctx, owner, first, sampleResult(1, 1)), ErrNotFound)
	wantErr(t, s.CancelRun(ctx, alice, first), ErrEnded)
	r = require.Value(s.Run(ctx, alice, first))(t)
	require.Check(t, r.Status == Done && r.Model != nil && r.Finished.After(r.Started), "%+v", r)

	require.NoError(t, s.CancelRun(ctx, alice, second)) // while queued: skipped by the workers
	claim(third)
	require.NoError(t, s.CancelRun(ctx, alice, third)) // while running: its result arrives too late
	wantErr(t, s.FinishRun(ctx, owner, third, sampleResult(1, 1)), ErrNotFound)
	wantErr(t, s.FailRun(ctx, owner, third, "x"), ErrNotFound)
	r = require.Value(s.Run(ctx, alice, third))(t)
	require.Check(t, r.Status == Cancelled && r.Model == nil, "%+v", r)

	fourth := queue("4")
	claim(fourth)
	require.NoError(t, s.FailRun(ctx, owner, fourth, "no <luck>"))
	r = require.Value(s.Run(ctx, alice, fourth))(t)
	require.Check(t, r.Status == Failed && r.Error == "no <luck>" && !r.Finished.IsZero(), "%+v", r)
	states, err := s.States(ctx, third, fourth, "nothing")
	require.Check(t, err == nil && len(states) == 2 && states[fourth].Status.Ended() && states[fourth].Error == "no <luck>" && states[third].Error == "", "%v %v", states, err)
}

// No run is taken from an owner who renews its lease; those of a dead owner go to one other, and
// only that one can finish them.
func TestLeases(t *testing.T) {
	s, ctx, now := stopped(t)
	id := require.Value(s.CreateRun(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec()}))(t).ID
	claims := func(owner Owner, want bool) {
		t.Helper()
		require.Equal(t, len(require.Value(s.Waiting(ctx, owner))(t)) > 0, want, "%s: waiting", owner)
		r, ok := s.claimRun(t, owner)
		require.Must(t, ok == want && (!ok || r.ID == id), "%s claims %v, %v, want %v", owner, r.ID, ok, want)
	}
	holds := func(owner Owner, want ...string) {
		t.Helper()
		held, _ := s.renew(t, owner)
		require.Slices(t, held, want, "%s holds", owner)
	}
	const first, second, third Owner = "first", "second", "third"
	claims(first, true)
	claims(second, false)
	for range 5 {
		*now = now.Add(Lease)
		holds(first, id)
		claims(second, false)
	}
	*now = now.Add(Lease + time.Millisecond)
	claims(first, false) // its own worker may still be running it
	holds(second)
	claims(second, true)
	claims(third, false)
	holds(first)
	wantErr(t, s.FinishRun(ctx, first, id, sampleResult(1, 1)), ErrNotFound)
	wantErr(t, s.FailRun(ctx, first, id, "x"), ErrNotFound)
	wantErr(t, s.ReleaseRun(ctx, first, id, Light), ErrNotFound)
	holds(second, id)
	require.NoError(t, s.FinishRun(ctx, second, id, sampleResult(1, 1)))
	holds(second)
	*now = now.Add(time.Hour)
	claims(third, false)
}

func TestDeadlyRun(t *testing.T) {
	s, ctx, now := stopped(t)
	id := require.Value(s.CreateRun(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec()}))(t).ID
	for range 5 { // an orderly stop does not count
		_, ok := s.claimRun(t, owner)
		require.Must(t, ok, "not in the queue")
		require.NoError(t, s.ReleaseRun(ctx, owner, id, Light))
		r := require.Value(s.Run(ctx, alice, id))(t)
		require.Must(t, r.Status == Queued && r.Started.IsZero(), "%+v", r)
	}
	for i := range MaxAttempts {
		_, ok := s.claimRun(t, Owner(fmt.Sprint(i)))
		require.Must(t, ok, "attempt %d is not begun", i+1)
		*now = now.Add(Lease + time.Millisecond) // the program dies
	}
	next := require.Value(s.CreateRun(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec()}))(t).ID
	r, _ := s.claimRun(t, owner)
	require.Check(t, r.ID == next, "claimed %q, want the next run", r.ID)
	if r := require.Value(s.Run(ctx, alice, id))(t); r.Status != Failed || !strings.Contains(r.Error, "3 times") {
		t.Errorf("a run that kills the program is begun for ever: %+v", r)
	}
	states, err := s.States(ctx, id)
	require.Check(t, states[id].Status == Failed && strings.Contains(states[id].Error, "3 times") && err == nil, "%v %v", states, err)
}

// wait queues n runs for each of many workspaces with the same name prefix.
func (s *Store) wait(t *testing.T, name string, workspaces, n int) {
	t.Helper()
	run(t, s, `
		WITH RECURSIVE w (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM w WHERE i < ?2),
			n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?3)
		INSERT INTO runs (id, workspace, name, note, tags, dataset_name, hash, spec, axes, status, created)
		SELECT ?1 || w.i || ' ' || n.i, ?1 || w.i, '', '', '[]', '', hash, '{}', '[]', 'queued', 0 FROM w, n, points`, name, workspaces, n)
}

// queue queues a run of a workspace.
func (s *Store) queue(t *testing.T, ws Workspace) error {
	t.Helper()
	return require.Err(s.CreateRun(t.Context(), ws, NewRun{Data: sample(1), Spec: ml.DefaultSpec()}))
}

// The workspaces of one network cannot fill the queue, and leave room for a newcomer among them.
func TestQueueIsShared(t *testing.T) {
	s := fresh(t)
	s.Network = func(ws Workspace) string { network, _, _ := strings.Cut(string(ws), " "); return network }
	require.NoError(t, s.queue(t, "elsewhere"))
	s.wait(t, "near ", 25, 40)                     // half of the queue
	wantErr(t, s.queue(t, "near 1"), ErrQueueFull) // its share is used up
	require.NoError(t, s.queue(t, "near new"))
	require.NoError(t, s.queue(t, "elsewhere"))
	s.wait(t, "near more ", 700, 1)
	require.NoError(t, s.queue(t, "near newer"))
	s.wait(t, "near most ", 100, 1)
	wantErr(t, s.queue(t, "near newest"), ErrQueueFull) // the last tenth is for other networks
	require.NoError(t, s.queue(t, "elsewhere"))
	require.NoError(t, s.queue(t, "another"))
}

// Unfinished studies are shared like the queue: one network leaves some to others.
func TestStudiesAreShared(t *testing.T) {
	s := fresh(t)
	s.Network = func(ws Workspace) string { network, _, _ := strings.Cut(string(ws), " "); return network }
	study := func(ws Workspace) error {
		return require.Err(s.CreateStudy(t.Context(), ws, askedStudy(t)))
	}
	for i := range maxStudyingAll * 9 / 10 {
		require.NoError(t, study(Workspace(fmt.Sprint("near ", i))))
	}
	wantErr(t, study("near new"), ErrQueueFull)
	require.NoError(t, study("elsewhere"))
}

func TestQueueIsBounded(t *testing.T) {
	s := fresh(t)
	for range MaxQueuedEach {
		require.NoError(t, s.queue(t, alice))
	}
	points := count(t, s, "points")
	wantErr(t, require.Err(s.CreateRun(t.Context(), alice, NewRun{Data: sample(9), Spec: ml.DefaultSpec()})), ErrTooMany)
	require.Check(t, count(t, s, "points") == points, "the refused run left its points")
	require.NoError(t, s.queue(t, bob))
	s.claimRun(t, owner)
	require.NoError(t, s.queue(t, alice))

	s.wait(t, "another ", maxQueued-MaxQueuedEach-1, 1)
	wantErr(t, s.queue(t, bob), ErrQueueFull)
}

// Deleted data are also gone from the file.
func TestDeletedIsGone(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	const secret = "diagnosis of a patient"
	d := require.Value(s.CreateDataset(ctx, alice, secret, secret, sample(1)))(t)
	r := require.Value(s.saveRun(ctx, alice, NewRun{Name: secret, Note: strings.Repeat(secret, 400), Dataset: d.ID, Spec: ml.DefaultSpec()}, sampleResult(1, 1)))(t)
	require.Value(s.CreateDataset(ctx, alice, "kept", "", sample(1)))(t)
	file := func() string {
		require.Value(s.write.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`))(t)
		return string(require.Value(os.ReadFile(s.Path()))(t))
	}
	require.Must(t, strings.Contains(file(), secret), "the test looks in the wrong place")
	require.NoError(t, s.DeleteDataset(ctx, alice, d.ID))
	require.NoError(t, s.DeleteRuns(ctx, alice, []string{r.ID}))
	forgetDeleted(t, s)
	text := file()
	require.Check(t, !strings.Contains(text, secret) && strings.Contains(text, "kept"), "deleted text is still in the file")
}

// The holder of the data directory's lock resumes at once the work of a killed program, and the
// attempts count.
func TestTakeBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	ctx := t.Context()
	now := time.Now()
	s.Now = func() time.Time { return now } // which stands still
	search := require.Value(s.CreateSearch(ctx, bob, asked(t)))(t)
	run := require.Value(s.CreateRun(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec()}))(t)
	done := require.Value(s.saveRun(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec()}, sampleResult(1, 1)))(t)
	lock := require.Value(TakeLock(dir, "serve"))(t)
	t.Cleanup(func() { lock.Release() })
	for i := range MaxAttempts {
		killed := Owner(fmt.Sprint(i))
		require.NoError(t, s.TakeBack(ctx, lock))
		r, _ := s.claimRun(t, killed)
		require.Must(t, r.ID == run.ID, "start %d takes run %q", i, r.ID)
		c, ok := s.claimCell(t, killed)
		require.Must(t, ok && c.Place == 0, "start %d takes cell %+v: %v", i, c, ok)
		_, ok = s.claimRun(t, "another")
		require.Check(t, !ok, "run of %s taken", killed)
	}
	require.NoError(t, s.TakeBack(ctx, lock))
	_, again := s.claimRun(t, "last")
	_, more := s.claimCell(t, "last")
	deadly, ended, kept := require.Value(s.Run(ctx, alice, run.ID))(t), require.Value(s.Search(ctx, bob, search.ID))(t), require.Value(s.Run(ctx, alice, done.ID))(t)
	require.Check(t, !again && !more && deadly.Status == Failed && ended.Status == Failed && kept.Status == Done,
		"run %v %v, search %v %v, the one that was done %v", again, deadly.Status, more, ended.Status, kept.Status)
}

// A lease is renewed once a third of it has passed, not at every call.
func TestRenewSeldom(t *testing.T) {
	s, ctx, now := stopped(t)
	require.Value(s.CreateRun(ctx, alice, NewRun{Data: asked(t).Data, Spec: ml.DefaultSpec()}))(t)
	require.Value(s.CreateSearch(ctx, alice, asked(t)))(t)
	s.claimRun(t, "one")
	s.claimCell(t, "one")
	written := 0
	for range 60 {
		*now = now.Add(time.Second)
		runs, cells := s.renew(t, "one")
		require.Must(t, len(runs) == 1 && len(cells) == 1, "holds %v and %v", runs, cells)
		written += count(t, s, "(SELECT lease FROM runs UNION ALL SELECT lease FROM cells) WHERE lease = "+fmt.Sprint(leaseEnd(s.now())))
		n := count(t, s, "(SELECT lease FROM runs UNION ALL SELECT lease FROM cells WHERE lease > 0) WHERE lease < "+fmt.Sprint(leaseDue(s.now())-1000))
		require.Check(t, n <= 0, "%d leases are about to end", n)
	}
	require.Check(t, written >= 2*9 && written <= 2*12, "in a minute leases were written %d times", written)
}

// Waiting work is counted by run and cell, not by workspace.
func TestCountWaiting(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	for range 3 {
		require.Value(s.CreateRun(ctx, alice, NewRun{Data: asked(t).Data, Spec: ml.DefaultSpec()}))(t)
	}
	search := require.Value(s.CreateSearch(ctx, alice, asked(t)))(t)
	run(t, s, `UPDATE runs SET work = 20000 WHERE rowid = 1`)
	want := map[Weight]int{Light: 2 + search.Total, Medium: 1}
	n := require.Value(s.CountWaiting(ctx, "one"))(t)
	require.Check(t, maps.Equal(n, want) && search.Total >= 2, "%v wait, want %v", n, want)
	s.claimCell(t, "one")
	want[Light]--
	n = require.Value(s.CountWaiting(ctx, "one"))(t)
	require.Check(t, maps.Equal(n, want), "%v wait, want %v", n, want)
}
