package store

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
	"marginlab/ml/repeat"
	"marginlab/ml/study"
)

// shown is what a report shows of one run.
func shown() Frozen {
	return Frozen{
		Items: []ReportItem{{
			Address: "/runs/abc", Title: "mine", Verdict: "94.1 %", Tables: []study.Table{{Title: "t", Head: []string{"a", "b"}, Rows: [][]string{{"1", "2"}}}},
			Figures: []ReportFigure{{Caption: "c", Width: 3, Height: 2, SVG: []byte("<svg/>"), Dark: []byte("<svg/>"), PDF: []byte{0, 255}}},
			Task:    repeat.Task{Title: "mine", Points: "h", Spec: []byte(`{}`), Numbers: []repeat.Number{{Name: "n", Value: 0.1}}}, Saved: time.Unix(5, 0).UTC(),
		}},
		Points: map[string]string{"h": "x,y\n"},
	}
}

// A report comes back as it was stored, is seen by its workspace alone, and by others with its
// link; deleted it can be restored.
func TestReports(t *testing.T) {
	t.Parallel()
	s, ctx := open(t, t.TempDir()), t.Context()
	made, err := s.CreateReport(ctx, alice, Request{Key: "k", Strict: true}, " A  title ", "one\r\n\r\n![mine](/runs/abc)\n", shown())
	require.NoError(t, err)
	again, err := s.CreateReport(ctx, alice, Request{Key: "k", Strict: true}, " A  title ", "one\r\n\r\n![mine](/runs/abc)\n", shown())
	require.NoError(t, err)
	got, err := s.Report(ctx, alice, made.ID)
	require.NoError(t, err)
	if again.ID != made.ID || got.Title != "A title" || got.Text != "one\n\n![mine](/runs/abc)" || !cmp.Equal(got.Frozen, shown()) {
		t.Errorf("%+v, %s", got, cmp.Diff(got.Frozen, shown()))
	}
	_, err = s.Report(ctx, bob, made.ID)
	wantErr(t, err, ErrNotFound)
	wantErr(t, s.UpdateReport(ctx, bob, made.ID, "x", "", Frozen{}), ErrNotFound)
	wantErr(t, s.DeleteReport(ctx, bob, made.ID), ErrNotFound)
	_, err = s.ShareReport(ctx, bob, made.ID)
	wantErr(t, err, ErrNotFound)

	token, err := s.ShareReport(ctx, alice, made.ID)
	require.NoError(t, err)
	if got, err = s.SharedReport(ctx, token); err != nil || got.ID != made.ID {
		t.Error(got, err)
	}
	require.NoError(t, s.UpdateReport(ctx, alice, made.ID, "other", "text", Frozen{}))
	require.NoError(t, s.DeleteReport(ctx, alice, made.ID))
	_, err = s.SharedReport(ctx, token)
	wantErr(t, err, ErrNotFound)
	list, err := s.Deletions(ctx, alice)
	require.NoError(t, err)
	if len(list) != 1 || list[0].String() != "1 report" {
		t.Fatal(list)
	}
	_, err = s.Restore(ctx, alice, list[0].At)
	require.NoError(t, err)
	if got, err = s.SharedReport(ctx, token); err != nil || got.Title != "other" || len(got.Frozen.Items) > 0 {
		t.Error(got, err)
	}
	require.NoError(t, s.UnshareReport(ctx, alice, made.ID))
	_, err = s.SharedReport(ctx, token)
	wantErr(t, err, ErrNotFound)
	require.NoError(t, s.DeleteWorkspace(ctx, alice))
	if h, err := s.Holdings(ctx, alice); err != nil || h.Reports != 0 || h.Bytes != 0 {
		t.Error(h, err)
	}
}

// What is too large is refused, and said where.
func TestReportLimits(t *testing.T) {
	t.Parallel()
	s, ctx := open(t, t.TempDir()), t.Context()
	large := shown()
	large.Items[0].Figures[0].PDF = bytes.Repeat([]byte{1}, maxFrozen)
	many := Frozen{Items: make([]ReportItem, MaxReportItems+1)}
	for want, fails := range map[string]func() error{
		"1 to 120 characters": func() error { _, err := s.CreateReport(ctx, alice, Request{}, " ", "", Frozen{}); return err },
		"at most 50000": func() error {
			_, err := s.CreateReport(ctx, alice, Request{}, "a", strings.Repeat("a", MaxReportText+1), Frozen{})
			return err
		},
		"at most 30": func() error { _, err := s.CreateReport(ctx, alice, Request{}, "a", "", many); return err },
		"at most 32": func() error { _, err := s.CreateReport(ctx, alice, Request{}, "a", "", large); return err },
	} {
		if err := fails(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// An archive carries reports to another workspace, once.
func TestReportsInArchive(t *testing.T) {
	t.Parallel()
	s, ctx := open(t, t.TempDir()), t.Context()
	_, err := s.CreateReport(ctx, alice, Request{}, "title", "text", shown())
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, s.Export(ctx, alice, &b))
	for i, want := range []Imported{{Reports: 1}, {Present: 1}} {
		got, err := s.Import(ctx, bob, bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil || got != want {
			t.Errorf("%d: %+v, %v", i, got, err)
		}
	}
	list, _, err := s.Reports(ctx, bob, -1, 0)
	require.NoError(t, err)
	got, err := s.Report(ctx, bob, list[0].ID)
	if err != nil || !cmp.Equal(got.Frozen, shown()) || got.Text != "text" {
		t.Error(got, err)
	}
}
