package store

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"marginlab/migrations"
	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

// released opens a database with rows written by an earlier version: testdata/rows_vN.sql for
// schema N.
func released(t *testing.T, version int64, file string) *Store {
	t.Helper()
	return open(t, writtenBy(t, version, file))
}

// writtenBy returns a data directory as that version left it.
func writtenBy(t *testing.T, version int64, file string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	db := require.Value(sql.Open("sqlite3", dir+"/marginlab.db"))(t)
	p := require.Value(goose.NewProvider(goose.DialectSQLite3, db, migrations.Files))(t)
	require.Value(p.UpTo(t.Context(), version))(t)
	rows := require.Value(os.ReadFile(file))(t)
	require.Value(db.Exec(string(rows)))(t)
	require.NoError(t, db.Close())
	return dir
}

// The database of an earlier version is checked, backed up and restored unchanged.
func TestReleasedIsKept(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := writtenBy(t, 4, "testdata/rows_v4.sql")
	look := func(path string) {
		t.Helper()
		damage, have, err := Check(ctx, path)
		require.Check(t, err == nil && len(damage) == 0 && have.Runs == 12, "%q, %v, %v", damage, have, err)
		db := require.Value(sql.Open("sqlite3", path))(t)
		defer db.Close()
		require.Equal(t, require.Value(version(ctx, db))(t), 4, "schema")
	}
	look(DatabaseIn(dir))
	copied := filepath.Join(t.TempDir(), "copy.db")
	require.Value(Backup(ctx, dir, copied))(t)
	look(copied)
	back := t.TempDir()
	_, have, err := Restore(ctx, back, copied)
	require.Check(t, err == nil && have.Runs == 12, "%v, %v", have, err)
	look(DatabaseIn(back))
	require.Equal(t, count(t, open(t, back), "runs"), 12, "runs")
}

// Rows stored by a released version are shown, and its models predict as before.
func TestReleasedRows(t *testing.T) {
	t.Parallel()
	s := released(t, 4, "testdata/rows_v4.sql")
	ctx := t.Context()
	ws := WorkspaceOf("0123456789abcdef0123456789abcdef")
	list, total, err := s.Runs(ctx, ws, Filter{})
	require.Must(t, err == nil && total == 12 && len(list) == total, "%d of %d runs, %v", len(list), total, err)
	sets := require.Value(s.Datasets(ctx, ws))(t)
	require.Check(t, len(sets) == 2 && sets[0].Hash != "", "data sets %+v", sets)
	_, signs, err := s.Runs(ctx, ws, Filter{Where: MustQuery("rule = sign")})
	require.Check(t, err == nil && signs == total, "%d of %d runs have two sides, %v", signs, total, err)
	conformal := 0
	for _, l := range list {
		r := require.Value(s.Run(ctx, ws, l.ID))(t)
		d, err := s.Data(ctx, r.Hash)
		require.Must(t, err == nil && r.Status == Done && r.Report != nil && r.Model != nil,
			"%s: %+v, %v", l.Name, r, err)
		if r.Before != nil {
			conformal++
		}
		require.Check(t, d.Hash() == r.Hash, "%s: the points have another hash now", r.Name)
		if r.Report.TestN > 0 {
			continue // the report lacks the accuracy over both parts
		}
		got, err := r.Model.Accuracy(d)
		require.Check(t, err == nil && got == *r.Report.TrainAccuracy,
			"%s: accuracy %v, was %v, %v", r.Name, got, *r.Report.TrainAccuracy, err)
	}
	require.Equal(t, conformal, 3, "conformal runs")
	first := list[0]
	require.Check(t, first.Name == "SVM rbf C=1 on points.csv" && first.Note == "the first" && len(first.Tags) == 2 && first.Share != "" && first.Course == "moons7",
		"%+v", first)
	a := require.Value(s.Answers(ctx, ws))(t)
	require.Check(t, len(a) == 1, "answers %+v", a)
}

// Migrating down to a released schema and up again loses no row.
func TestMigrationsGoBack(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"testdata/rows_v4.sql", "testdata/classes_v4.sql"} {
		s := released(t, 4, file)
		rows := func() (runs string) {
			var courses string
			require.NoError(t, s.write.QueryRow(`SELECT group_concat(id || workspace || course || spec || coalesce(report, '') || coalesce(rule, '') || kind) FROM (SELECT * FROM runs ORDER BY id)`).Scan(&runs))
			require.NoError(t, s.write.QueryRow(`SELECT group_concat(code || title || (SELECT count(*) FROM handins WHERE course = code)) FROM courses`).Scan(&courses))
			return runs + courses
		}
		before := rows()
		p := require.Value(goose.NewProvider(goose.DialectSQLite3, s.write, migrations.Files))(t)
		require.Value(p.DownTo(t.Context(), 4))(t)
		var old, now int
		require.NoError(t, s.write.QueryRow(`SELECT count(*) FILTER (WHERE workspace LIKE 'class %'), count(*) FILTER (WHERE workspace LIKE 'course %') FROM runs`).Scan(&old, &now))
		galleries := strings.Count(before, "course ")
		require.Check(t, old == galleries && now == 0, "%s: %d runs in galleries by their old name and %d by their new one, want %d", file, old, now, galleries)
		require.Value(p.Up(t.Context()))(t)
		require.Equal(t, rows(), before, "%s: the rows after and before", file)
	}
}

// A row stays readable after a bound is narrowed, a name removed or a quantity's type changed.
func TestStoredRowsAreReadLeniently(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	var ids []string
	for range 4 {
		r := require.Value(s.saveRun(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec()}, sampleResult(0.75, 2)))(t)
		ids = append(ids, r.ID)
	}
	for i, change := range []string{
		`spec = json_set(spec, '$.C', -7, '$.gamma', 1e300, '$.kernel', 'of yore')`,
		`spec = json_set(spec, '$.nobody_knows', 3, '$.learner', 'forgotten')`,
		`report = json_set(report, '$.iterations', 'many', '$.nobody_knows', json('{"a":[1]}'), '$.status', 5)`,
		`spec = json_remove(spec, '$.C'), report = json_remove(report, '$.gap')`,
	} {
		require.Value(s.write.Exec(`UPDATE runs SET `+change+` WHERE id = ?`, ids[i]))(t)
	}
	list, total, err := s.Runs(ctx, alice, Filter{})
	require.Must(t, err == nil && total == 4 && len(list) == 4, "%d of %d runs, %v", len(list), total, err)
	for i, r := range list {
		require.Check(t, r.ID == ids[i] && r.Report != nil && *r.Report.TrainAccuracy == 0.75, "run %d: %+v", i, r)
		require.Value(s.Run(ctx, alice, r.ID))(t)
	}
	if got := list[0].Spec; got.Text("C") != "-7" || got.Text("kernel") != "of yore" || got.Validate() == nil {
		t.Errorf("what was stored is not shown: %+v", got)
	}
	got := list[1].Spec
	require.Check(t, got.Text("learner") == "forgotten" && got.Validate() != nil, "what was stored is not shown: %+v", got)
}
