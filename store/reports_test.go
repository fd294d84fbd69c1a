package store

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
	"marginlab/ml/repeat"
	"marginlab/ml/study"
)

// shown returns the items of a report with one run.
func shown() Frozen {
	return Frozen{
		Items: []ReportItem{{
			Address: "/runs/abc", Title: "mine", Verdict: "94.1 %", Tables: []study.Table{{Title: "t", Head: []string{"a", "b"}, Rows: [][]string{{"1", "2"}}}},
			Figures: []ReportFigure{{Caption: "c", Width: 3, Height: 2, SVG: []byte("<svg/>"), Dark: []byte("<svg/>"), PDF: []byte{0, 255}}},
			Task:    repeat.Task{Title: "mine", Points: hashOfSquare, Spec: []byte(`{}`), Numbers: []repeat.Number{{Name: "n", Value: 0.1}}}, Saved: time.Unix(5, 0).UTC(),
		}},
		Points: map[string]string{hashOfSquare: squareCSV},
	}
}

// A report is returned as stored, is visible only to its workspace and to others with its link, and
// can be restored after deletion.
func TestReports(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	made := require.Value(s.CreateReport(ctx, alice, Request{Key: "k", Strict: true}, " A  title ", "one\r\n\r\n![mine](/runs/abc)\n", shown()))(t)
	again := require.Value(s.CreateReport(ctx, alice, Request{Key: "k", Strict: true}, " A  title ", "one\r\n\r\n![mine](/runs/abc)\n", shown()))(t)
	got := require.Value(s.Report(ctx, alice, made.ID))(t)
	require.Check(t, again.ID == made.ID && got.Title == "A title" && got.Text == "one\n\n![mine](/runs/abc)" && cmp.Equal(got.Frozen, shown()),
		"%+v, %s", got, cmp.Diff(got.Frozen, shown()))
	wantErr(t, require.Err(s.Report(ctx, bob, made.ID)), ErrNotFound)
	wantErr(t, s.UpdateReport(ctx, bob, made.ID, "x", "", Frozen{}), ErrNotFound)
	wantErr(t, require.Err(s.ReportWithoutItems(ctx, bob, made.ID, "")), ErrNotFound)
	wantErr(t, s.DeleteReport(ctx, bob, made.ID), ErrNotFound)
	wantErr(t, require.Err(s.ShareReport(ctx, bob, made.ID)), ErrNotFound)

	token := require.Value(s.ShareReport(ctx, alice, made.ID))(t)
	got = require.Value(s.ReportVersion(ctx, require.Value(s.ReportWithoutItems(ctx, bob, "", token))(t)))(t)
	require.Check(t, got.ID == made.ID && cmp.Equal(got.Frozen, shown()), "%v", got)
	require.NoError(t, s.UpdateReport(ctx, alice, made.ID, "other", "text", Frozen{}))
	changed := require.Value(s.ReportWithoutItems(ctx, bob, "", token))(t)
	require.Check(t, changed.Title == "other" && changed.Updated.After(made.Updated), "%+v after %v", changed, made.Updated)
	wantErr(t, require.Err(s.ReportVersion(ctx, got)), ErrNotFound)
	require.NoError(t, s.DeleteReport(ctx, alice, made.ID))
	wantErr(t, require.Err(s.ReportWithoutItems(ctx, bob, "", token)), ErrNotFound)
	list := require.Value(s.Deletions(ctx, alice))(t)
	require.Must(t, len(list) == 1 && list[0].String() == "1 report", "%v", list)
	require.Value(s.Restore(ctx, alice, list[0].At))(t)
	got, err := s.ReportVersion(ctx, require.Value(s.ReportWithoutItems(ctx, bob, "", token))(t))
	require.Check(t, err == nil && got.Title == "other" && len(got.Frozen.Items) == 0, "%v %v", got, err)
	require.NoError(t, s.UnshareReport(ctx, alice, made.ID))
	wantErr(t, require.Err(s.ReportWithoutItems(ctx, bob, "", token)), ErrNotFound)
	require.NoError(t, s.DeleteWorkspace(ctx, alice))
	h, err := s.Holdings(ctx, alice)
	require.Check(t, err == nil && h.Reports == 0 && h.Bytes == 0, "%v %v", h, err)

	// Texts and items over a limit are refused.
	large := shown()
	large.Items[0].Figures[0].PDF = bytes.Repeat([]byte{1}, MaxFrozen)
	many := Frozen{Items: make([]ReportItem, MaxReportItems+1)}
	for want, fails := range map[string]func() error{
		"1 to 120 characters": func() error { return require.Err(s.CreateReport(ctx, alice, Request{}, " ", "", Frozen{})) },
		"at most 50000": func() error {
			return require.Err(s.CreateReport(ctx, alice, Request{}, "a", strings.Repeat("a", MaxReportText+1), Frozen{}))
		},
		"at most 30": func() error { return require.Err(s.CreateReport(ctx, alice, Request{}, "a", "", many)) },
		"at most 32": func() error { return require.Err(s.CreateReport(ctx, alice, Request{}, "a", "", large)) },
	} {
		require.Fails(t, fails(), want, "does not say")
	}
}

// An archive carries reports to another workspace, once each. No way of adding reports exceeds
// MaxReports or loses one.
func TestReportsInArchive(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	made := require.Value(s.CreateReport(ctx, alice, Request{}, "title", "text", shown()))(t)
	var b bytes.Buffer
	require.NoError(t, s.Export(ctx, alice, &b))
	for i, want := range []Imported{{Reports: 1}, {Present: 1}} {
		got, err := s.Import(ctx, bob, bytes.NewReader(b.Bytes()), int64(b.Len()))
		require.Check(t, err == nil && got == want, "%d: %+v, %v", i, got, err)
	}
	got, err := s.Report(ctx, bob, require.Value(s.Reports(ctx, bob))(t)[0].ID)
	require.Check(t, err == nil && cmp.Equal(got.Frozen, shown()) && got.Text == "text", "%v %v", got, err)

	require.NoError(t, s.DeleteReport(ctx, alice, made.ID))
	deleted := require.Value(s.Deletions(ctx, alice))(t)[0]
	run(t, s, `WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO reports (id, workspace, title, text, frozen, created, updated) SELECT 'r' || i, ?, 'r', '', x'', i, i FROM n`, MaxReports, alice)

	enter := map[string]func() error{
		"create":  func() error { return require.Err(s.CreateReport(ctx, alice, Request{}, "more", "", Frozen{})) },
		"import":  func() error { return require.Err(s.Import(ctx, alice, bytes.NewReader(b.Bytes()), int64(b.Len()))) },
		"restore": func() error { return require.Err(s.Restore(ctx, alice, deleted.At)) },
	}
	for way, try := range enter {
		require.Fails(t, try(), "at most 200 are allowed. Delete some", "%s", way)
	}
	list := require.Value(s.ReportTitles(ctx, alice))(t)
	require.Check(t, len(list) == MaxReports && list[0].ID == "r200" && list[0].Title == "r", "%d reports", len(list))
	for i, way := range []string{"create", "import", "restore"} {
		require.NoError(t, s.DeleteReport(ctx, alice, "r"+strconv.Itoa(i+1)))
		require.Equal(t, enter[way](), nil, "%s, with room", way)
	}
}

// An archived report must include all its points: naming a hash gives no access to another's.
func TestReportsOfArchivesAreWhole(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	secret := require.Value(s.CreateDataset(ctx, alice, "secret", "", sample(1)))(t).Hash
	for says, change := range map[string]func(f *Frozen){
		"do not match":          func(f *Frozen) { f.Points[hashOfSquare] += "2,b\n" },
		"of item 1 are missing": func(f *Frozen) { f.Items[0].Task.Points = secret },
		"of item 2 are missing": func(f *Frozen) {
			f.Items = append(f.Items, ReportItem{Task: repeat.Task{Runs: []repeat.Task{{Points: secret}}}})
		},
		"of item 3 are missing": func(f *Frozen) {
			f.Items = append(f.Items, ReportItem{}, ReportItem{Task: repeat.Task{Study: &repeat.Study{Points: map[string]string{"set": secret}}}})
		},
		"the points \"\"": func(f *Frozen) { f.Points[""] = "" },
	} {
		f := shown()
		change(&f)
		body := zipped(t, map[string]string{
			indexName:       `{"format":3,"reports":[{"id":"a","title":"t","text":"","created":"2026-01-01T00:00:00Z","updated":"2026-01-01T00:00:00Z"}]}`,
			reportName("a"): string(require.Value(json.Marshal(f))(t)),
		})
		refused(t, require.Err(s.Import(ctx, bob, bytes.NewReader(body), int64(len(body)))), "file", says)
	}
	list := require.Value(s.ReportTitles(ctx, bob))(t)
	require.Check(t, len(list) == 0, "%v", list)
}
