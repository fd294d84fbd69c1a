package store

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/study"
)

// trained saves a run with the result of a real training.
func (s *Store) trained(t testing.TB, ws Workspace, n NewRun) Run {
	t.Helper()
	res := require.Value(ml.Train(t.Context(), n.Data, n.Spec, nil))(t)
	return require.Value(s.saveRun(t.Context(), ws, n, res))(t)
}

// busy fills a workspace with items of every kind and returns its archive.
func busy(t testing.TB, s *Store, ws Workspace) []byte {
	t.Helper()
	ctx := t.Context()
	moons := require.Value(dataset.Generate("moons", 30, 0.2, 1))(t)
	dna := require.Value(dataset.Generate("dna", 12, 0.1, 1))(t)
	set := require.Value(s.CreateDataset(ctx, ws, "moons", "generated", moons))(t)
	require.Value(s.CreateDataset(ctx, ws, "never trained on", "drawn", sample(1)))(t)
	spec := ml.DefaultSpec()
	spec.TestFraction, spec.Conformal = 0.3, "eigen"
	s.trained(t, ws, NewRun{Dataset: set.ID, Data: moons, Spec: spec, Name: "bent", Note: "two\nlines", Tags: []string{"a", "b c"}})
	strings := ml.DefaultSpec()
	require.NoError(t, strings.Set("kernel", "spectrum"))
	s.trained(t, ws, NewRun{Data: dna, DatasetName: "DNA", Spec: strings})
	failed := require.Value(s.CreateRun(ctx, ws, NewRun{Data: moons, Spec: ml.DefaultSpec(), Name: "no luck"}))(t)
	s.claimRun(t, owner)
	require.NoError(t, s.FailRun(ctx, owner, failed.ID, "not separable"))
	require.Value(s.CreateRun(ctx, ws, NewRun{Data: moons, Spec: ml.DefaultSpec(), Name: "still waiting"}))(t)
	require.Value(s.CreateSearch(ctx, ws, NewSearch{Dataset: set.ID, Data: moons, Spec: ml.DefaultSpec(), Grid: eval.Grid{"C": eval.Numbers(1, 10), "gamma": eval.Numbers(0.1, 1)}, Scheme: eval.Scheme{Folds: 2, Repeats: 1, Seed: 1, Nested: true}}))(t)
	require.Value(s.CreateSearch(ctx, ws, NewSearch{Data: moons, Spec: ml.DefaultSpec(), Drawn: &eval.Drawn{Design: eval.OfRandom, Points: 3, Seed: 2, Lists: eval.Grid{"gamma": eval.Numbers(0.1, 0.3, 1)}}, Scheme: eval.Scheme{Folds: 2, Repeats: 1}}))(t)
	s.studied(t, ws)
	s.work(t, owner, 1000)
	s.onward(t, ws, moons)
	s.work(t, owner, 1000)
	require.Value(s.CreateSearch(ctx, ws, NewSearch{Data: moons, DatasetName: "under way", Spec: ml.DefaultSpec(), Scheme: eval.Scheme{Folds: 2, Repeats: 1}}))(t)
	require.NoError(t, s.SaveAnswer(ctx, ws, "risk/1/q", Answer{"3", true}))
	require.NoError(t, s.DeleteDataset(ctx, ws, require.Value(s.CreateDataset(ctx, ws, "gone", "", moons))(t).ID))
	var b bytes.Buffer
	require.NoError(t, s.Export(ctx, ws, &b))
	return b.Bytes()
}

// studied creates a study of two learners on two data sets.
func (s *Store) studied(t testing.TB, ws Workspace) Study {
	t.Helper()
	const text = "title = \"who wins\"\n[scheme]\nfolds = 2\n[data.moons]\ngenerator = \"moons\"\nn = 20\n[data.xor]\ngenerator = \"xor\"\nn = 24\n[learner.SVM]\nC = [1, 10]\n[learner.MCM]\nlearner = \"mcm\"\n"
	asked := require.Value(study.Parse(text, "study"))(t)
	samples := require.Value(asked.Load(nil))(t)
	n := NewStudy{Title: asked.Title, File: text}
	for i, sample := range samples {
		n.Sizes = append(n.Sizes, sample.Of)
		for j := range asked.Learners {
			search := NewSearch{Data: sample.Data, DatasetName: asked.Sets[i].Name}
			search.Spec, search.Grid, search.Scheme = asked.Search(i, j)
			n.Searches = append(n.Searches, search)
		}
	}
	return require.Value(s.CreateStudy(t.Context(), ws, n))(t)
}

// onward creates a search around the best setting of a finished nested one.
func (s *Store) onward(t testing.TB, ws Workspace, d *dataset.Data) {
	t.Helper()
	list, _, err := s.Searches(t.Context(), ws, 100, 0)
	require.NoError(t, err)
	i := slices.IndexFunc(list, func(search Search) bool { return search.Scheme.Nested && search.Status == Done })
	one := require.Value(s.Search(t.Context(), ws, list[i].ID))(t)
	n := NewSearch{Data: d, DatasetName: "onward", Spec: one.Spec}
	design, scheme := eval.Next(one.Design(), one.Scheme, one.Result)
	n.Try(design)
	n.Scheme = scheme
	require.Must(t, len(scheme.Onward) == 2, "%+v", scheme)
	require.Value(s.CreateSearch(t.Context(), ws, n))(t)
}

// kept returns the parts of a workspace that an archive keeps.
func kept(t testing.TB, s *Store, ws Workspace) (text string) {
	t.Helper()
	ctx := t.Context()
	var lines []string
	show := func(v any) { lines = append(lines, string(require.Value(json.Marshal(v))(t))) }
	names := map[string]string{"": ""}
	for _, d := range require.Value(s.Datasets(ctx, ws))(t) {
		names[d.ID] = d.Name
		d.ID = ""
		show(d)
		show(require.Value(s.Data(ctx, d.Hash))(t).Hash())
	}
	list, _, err := s.Runs(ctx, ws, Filter{})
	require.NoError(t, err)
	for _, l := range list {
		r := require.Value(s.Run(ctx, ws, l.ID))(t)
		if !r.Status.Ended() {
			continue
		}
		r.ID, r.Dataset, r.Scores, r.ScoresBefore = "", names[r.Dataset], nil, nil
		show(r)
	}
	searches, _, err := s.Searches(ctx, ws, 100, 0)
	require.NoError(t, err)
	for _, l := range searches {
		if one := require.Value(s.Search(ctx, ws, l.ID))(t); one.Status == Done {
			one.ID, one.Dataset, one.Known = "", names[one.Dataset], 0
			show(one)
		}
	}
	studies, _, err := s.Studies(ctx, ws, 100, 0)
	require.NoError(t, err)
	for _, l := range studies {
		if l.Status() == Done {
			show([]any{l.Title, l.File, l.Sizes, l.Created, require.Value(s.StudyResult(ctx, l))(t)})
		}
	}
	show(require.Value(s.Answers(ctx, ws))(t))
	return strings.Join(lines, "\n")
}

// An archive restores its contents, on another server or in another workspace; importing it twice
// changes nothing.
func TestExportImport(t *testing.T) {
	t.Parallel()
	s, there := open(t, t.TempDir()), open(t, t.TempDir())
	ctx := t.Context()
	body := busy(t, s, alice)
	want := kept(t, s, alice)
	bring := func(to *Store, ws Workspace) Imported {
		t.Helper()
		return require.Value(to.Import(ctx, ws, bytes.NewReader(body), int64(len(body))))(t)
	}
	old := zipped(t, map[string]string{indexName: `{"format":1,"exported":"2025-03-01T12:00:07Z","datasets":[],"runs":[],"answers":[{"question":"risk/1/q","given":"3","right":true}]}`})
	if got, err := s.Import(ctx, "old", bytes.NewReader(old), int64(len(old))); err != nil || got != (Imported{}) || len(require.Value(s.Answers(ctx, "old"))(t)) != 1 {
		t.Errorf("an archive of an earlier version: %+v, %v", got, err)
	}
	require.Equal(t, bring(s, alice), Imported{Present: 9}, "into the same workspace")
	for range 2 {
		bring(there, bob)
		require.Equal(t, cmp.Diff(want, kept(t, there, bob)), "", "came back otherwise")
	}
	bring(s, bob)
	require.Equal(t, cmp.Diff(want, kept(t, s, bob)), "", "in another workspace")
	runs, _, err := there.Runs(ctx, bob, Filter{Where: MustQuery("bent")})
	require.Check(t, err == nil && len(runs) == 1 && runs[0].Dataset != "",
		"the run lost its data set: %+v, %v", runs, err)
	// A second import completes an interrupted one.
	require.NoError(t, there.DeleteRuns(ctx, bob, []string{runs[0].ID}))
	require.Equal(t, bring(there, bob), Imported{Runs: 1, Present: 8}, "after a loss")
	diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(kept(t, there, bob), "\n"), cmp.Transformer("sorted", func(l []string) []string {
		if slices.IsSorted(l) {
			return l
		}
		return slices.Sorted(slices.Values(l))
	}))
	require.Check(t, diff == "", "%v", diff)
	require.Slices(t, require.Value(damageOf(t, there.Path()))(t), nil, "damage")
}

// files returns the files of an archive.
func files(t testing.TB, body []byte) map[string]string {
	t.Helper()
	z := require.Value(zip.NewReader(bytes.NewReader(body), int64(len(body))))(t)
	all := map[string]string{}
	for _, f := range z.File {
		r := require.Value(f.Open())(t)
		all[f.Name] = string(require.Value(io.ReadAll(r))(t))
	}
	return all
}

// zipped returns an archive of files.
func zipped(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w := require.Value(z.Create(name))(t)
		require.Value(io.WriteString(w, text))(t)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// A file that is not an archive is refused with a reason and changes nothing.
func TestImportRefuses(t *testing.T) {
	s := fresh(t)
	whole := busy(t, s, alice)
	model := func(f map[string]string) string {
		for name := range f {
			if strings.HasPrefix(name, "models/") && !strings.HasSuffix(name, "-before.json") && strings.Contains(f[name], `"objects":"vectors"`) {
				return name
			}
		}
		t.Fatal("no model")
		return ""
	}
	points := func(f map[string]string) string {
		for name := range f {
			if strings.HasPrefix(name, "points/") {
				return name
			}
		}
		return ""
	}
	remove := func(folder string) func(f map[string]string) {
		return func(f map[string]string) {
			for name := range f {
				if strings.HasPrefix(name, folder) {
					delete(f, name)
				}
			}
		}
	}
	index := func(old, now string) func(f map[string]string) {
		return func(f map[string]string) {
			require.Check(t, strings.Contains(f[indexName], old), "no %q in %s", old, f[indexName])
			f[indexName] = strings.Replace(f[indexName], old, now, 1)
		}
	}
	for says, change := range map[string]func(f map[string]string){
		`"workspace.json" is missing`:     func(f map[string]string) { delete(f, indexName) },
		"unknown field \"colour\"":        index(`"format"`, `"colour": 1, "format"`),
		"its format is 9":                 index(`"format": 3`, `"format": 9`),
		"is not in its table of contents": func(f map[string]string) { f["../../etc/passwd"] = "" },
		"points/":                         func(f map[string]string) { delete(f, points(f)) },
		"do not match their hash":         func(f map[string]string) { f[points(f)] += "\n" },
		"models/":                         func(f map[string]string) { delete(f, model(f)) },
		"not a model":                     func(f map[string]string) { f[model(f)] = "[" },
		"have 30 rows": func(f map[string]string) {
			f[model(f)] = regexp.MustCompile(`"rows":\[\d+`).ReplaceAllString(f[model(f)], `"rows":[99`)
		},
		"found status \"queued\"":                              index(`"status": "failed"`, `"status": "queued"`),
		"a run has a result if, and only if":                   index(`"status": "failed"`, `"status": "done"`),
		"its settings":                                         index(`"C": 1`, `"C": "one"`),
		"at most 20 tags":                                      index(`"tags": [`, `"tags": [`+manyTags()),
		"The origin has":                                       index(`"origin": "`, `"origin": "`+strings.Repeat("x", 10_000)),
		"its data set is not in the archive":                   index(`"dataset": "`, `"dataset": "no`),
		"search 1: setting 1 does not match the search":        index(`"gamma": [`, `"gamma": [3, `),
		"search 1: folds expects":                              index(`"folds": 2`, `"folds": 1`),
		"searches/":                                            remove("searches/"),
		"study 1, \"who wins\": study, line 3: expected value": index(`folds = 2`, `folds = x`),
		"study 1, \"who wins\": data set moons, learner SVM: expected 3 folds": index(`folds = 2`, `folds = 3`),
		"study 1, \"who wins\": 2 data sets: expected 1":                       index(`[data.xor]\ngenerator = \"xor\"\nn = 24\n`, ``),
		"studies/":                  remove("studies/"),
		"the report covers 31 rows": index(`"n": 30`, `"n": 31`),
	} {
		f := files(t, whole)
		change(f)
		body := zipped(t, f)
		refused(t, require.Err(s.Import(t.Context(), bob, bytes.NewReader(body), int64(len(body)))), "file", says)
	}
	for _, body := range [][]byte{nil, []byte("dear"), whole[:len(whole)/2]} {
		refused(t, require.Err(s.Import(t.Context(), bob, bytes.NewReader(body), int64(len(body)))), "file", "")
	}
	h := require.Value(s.Holdings(t.Context(), bob))(t)
	require.Check(t, h.Datasets+h.Runs <= 0, "something was stored: %v", h)
}

func manyTags() string {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, `"t%d", `, i)
	}
	return b.String()
}

// FuzzImport checks that any archive is either imported as a whole, and can then be viewed and
// exported again, or refused with a message.
func FuzzImport(f *testing.F) {
	first := open(f, f.TempDir())
	spec := ml.DefaultSpec()
	require.NoError(f, spec.Set("kernel", "linear"))
	four := require.Value(dataset.Decode(strings.NewReader("x,y,c\n0,0,a\n1,0,a\n0,1,b\n1,1,b\n")))(f)
	first.trained(f, alice, NewRun{Data: four, Spec: spec, Name: "r"})
	var whole bytes.Buffer
	require.NoError(f, first.Export(f.Context(), alice, &whole))
	all := files(f, whole.Bytes())
	var points, vectors string
	for name := range all {
		switch {
		case strings.HasPrefix(name, "points/"):
			points = name
		case strings.HasPrefix(name, "models/"):
			vectors = name
		}
	}
	var small bytes.Buffer
	require.NoError(f, json.Compact(&small, []byte(all[indexName])))
	f.Add(small.String(), all[points], all[vectors])
	f.Add(`{"format":1,"datasets":[],"runs":[],"answers":[]}`, "x,y\n1,a\n", "{}")
	s := open(f, f.TempDir())
	f.Fuzz(func(t *testing.T, index, csv, model string) {
		body := zipped(t, map[string]string{indexName: index, points: csv, vectors: model})
		_, err := s.Import(t.Context(), bob, bytes.NewReader(body), int64(len(body)))
		var ps param.Problems
		switch {
		case err == nil:
			runs, _, err := s.Runs(t.Context(), bob, Filter{})
			require.NoError(t, err)
			for _, l := range runs {
				r := require.Value(s.Run(t.Context(), bob, l.ID))(t)
				if r.Status != Done {
					continue
				}
				d := require.Value(s.Data(t.Context(), r.Hash))(t)
				res := &ml.Result{Report: *r.Report, Model: r.Model, Before: r.Before}
				_, _ = res.Points(t.Context(), r.Model, d, r.Spec) // an error is a valid answer
			}
			require.NoError(t, s.Export(t.Context(), bob, io.Discard))
			require.NoError(t, s.DeleteWorkspace(context.WithoutCancel(t.Context()), bob))
		case !errors.As(err, &ps):
			t.Errorf("not in words: %v", err)
		}
	})
}

// A small archive that would unpack to too much is refused before it is unpacked.
func TestImportOfBombs(t *testing.T) {
	s := fresh(t)
	list := func(of, entry string, n int) string {
		return fmt.Sprintf(`{"format":2,%q:[%s]}`, of, strings.Repeat(entry+",", n-1)+entry)
	}
	points := strings.Repeat("0,", 20<<20)
	for says, files := range map[string]map[string]string{
		"workspace.json: it has more than 50000 entries": {indexName: list("runs", "{}", 100_000)},
		"workspace.json: it has more than 50000":         {indexName: list("datasets", "{}", 100_000)},
		"it has more than 50000 entries":                 {indexName: `{"format":2,"searches":[` + strings.Repeat("{},", 30_000) + `{}],"answers":[` + strings.Repeat("{},", 30_000) + `{}]}`},
		"exceed the memory limit":                        {indexName: list("runs", `{"tags":[`+strings.Repeat(`"",`, 10<<20)+`""]}`, 1)},
		"expected a list":                                {indexName: `{"format":2,"runs":{}}`},
		`unknown field "ruins"`:                          {indexName: `{"format":2,"ruins":[]}`},
		`points/x.csv" unpacks to 40 MB`:                 {indexName: `{"format":2}`, "points/x.csv": points},
		"it unpacks to more than":                        {indexName: `{"format":2}`, "a": points[:30<<20], "b": points[:30<<20], "c": points[:30<<20], "d": points[:30<<20]},
		"its settings take 97 kB":                        {indexName: list("runs", `{"id":"a","name":"n","points":"`+hashOfSquare+`","spec":{"a":"`+strings.Repeat("x", 99_500)+`"}}`, 1), pointsName(hashOfSquare): squareCSV},
	} {
		body := zipped(t, files)
		refused(t, require.Err(s.Import(t.Context(), bob, bytes.NewReader(body), int64(len(body)))), "file", says)
	}
}

const (
	squareCSV    = "x,label\n0,a\n1,b\n"
	hashOfSquare = "80917582aef87085acd7eb0f88f347c304fc2429c0ea0b48184ca7742a6ccd89"
)

// ArchiveMemory is based on the unpacked size, which an archive cannot understate.
func TestArchiveMemory(t *testing.T) {
	t.Parallel()
	body := zipped(t, map[string]string{indexName: "{}" + strings.Repeat(" ", 998), "a": strings.Repeat("0", 5000), "b": "1"})
	n, err := ArchiveMemory(bytes.NewReader(body), int64(len(body)))
	require.Check(t, err == nil && n == memoryPerByte*(1000+5000), "%d bytes, %v", n, err)
	understated := bytes.ReplaceAll(body, []byte{0x88, 0x13, 0, 0}, []byte{0x10, 0, 0, 0}) // 5000
	a := require.Value(listArchive(bytes.NewReader(understated), int64(len(understated))))(t)
	text := a.read("a", 1<<20)
	require.Check(t, a.fault != nil, "%d bytes are read where the archive says 16", len(text))
	many := strings.Repeat("PK\x01\x02"+strings.Repeat("\x00", 42), 2*maxEntries+1)
	require.Fails(t, require.Err(listArchive(strings.NewReader(many), int64(len(many)))), "more than 50000 files", "the error")
}
