package store

import (
	"context"
	"database/sql"
	"time"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Dataset describes a stored data set. Data(Hash) returns its points.
type Dataset struct {
	ID       string
	Name     string
	Origin   string // how it came: "uploaded ripley.csv"
	Hash     string // SHA-256 of the canonical CSV
	Kind     dataset.Kind
	Rows     int
	Features []string // of vectors
	Label    string
	Classes  []string
	Created  time.Time
	Updated  time.Time // of the name or the points
}

// Dims is the number of features.
func (d Dataset) Dims() int { return len(d.Features) }

// CreateDataset stores d under a name of 1 to 120 characters, which need not be
// unique. It returns param.Problems for a name that is not.
func (s *Store) CreateDataset(ctx context.Context, ws Workspace, name, origin string, d *dataset.Data) (Dataset, error) {
	return s.CreateDatasetOnce(ctx, ws, Request{}, name, origin, d)
}

// CreateDatasetOnce does as CreateDataset; where the same request has asked for the same
// before, it returns the data set that is there. Errors also: ErrReused.
func (s *Store) CreateDatasetOnce(ctx context.Context, ws Workspace, asks Request, name, origin string, d *dataset.Data) (Dataset, error) {
	name, err := cleanName(name)
	if err != nil {
		return Dataset{}, err
	}
	p, err := encode(d)
	if err != nil {
		return Dataset{}, err
	}
	ds := describe(p)
	ds.ID, ds.Name, ds.Origin = newID(), name, line(origin)
	ds.Created = fromMillis(s.now())
	ds.Updated = ds.Created
	request, err := asks.of(ds.Name, ds.Origin, ds.Hash)
	if err != nil {
		return Dataset{}, err
	}
	err = s.update(ctx, func(tx *sql.Tx) error {
		if there, err := requestedDataset(ctx, tx, ws, request); err != ErrNotFound {
			ds = there
			return err
		}
		if err := s.room(ctx, tx, ws, 1, 0); err != nil {
			return err
		}
		if err := writePoints(ctx, tx, p); err != nil {
			return err
		}
		return insertDataset(ctx, tx, ws, request, ds)
	})
	return ds, err
}

// requestedDataset is the one that the same request has made before.
func requestedDataset(ctx context.Context, tx *sql.Tx, ws Workspace, request string) (Dataset, error) {
	d, err := scanDataset(tx.QueryRowContext(ctx, `SELECT `+datasetColumns+` FROM datasets WHERE workspace = ? AND request = nullif(?, '')`, ws, request))
	if err = found(err); err == ErrNotFound {
		err = neverAsked(ctx, tx, "datasets", ws, request)
	}
	return d, err
}

// Dataset returns one data set of a workspace.
func (s *Store) Dataset(ctx context.Context, ws Workspace, id string) (ds Dataset, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		ds, err = findDataset(ctx, tx, ws, id)
		return err
	})
	return ds, err
}

// Datasets lists the data sets of a workspace, newest first.
func (s *Store) Datasets(ctx context.Context, ws Workspace) (list []Dataset, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		list, err = listDatasets(ctx, tx, ws)
		return err
	})
	return list, err
}

// RenameDataset gives a data set another name; its runs and searches show it too.
func (s *Store) RenameDataset(ctx context.Context, ws Workspace, id, name string) error {
	name, err := cleanName(name)
	if err != nil {
		return err
	}
	return s.update(ctx, func(tx *sql.Tx) error {
		if err := affected(tx.ExecContext(ctx, `UPDATE datasets SET name = ?, updated = ? WHERE workspace = ? AND id = ?`,
			name, s.now(), ws, id)); err != nil {
			return err
		}
		for _, table := range []string{"runs", "searches"} {
			if _, err := tx.ExecContext(ctx, `UPDATE `+table+` SET dataset_name = ? WHERE dataset = ?`, name, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReplaceData puts other points into a data set. Runs keep the points they were
// trained on.
func (s *Store) ReplaceData(ctx context.Context, ws Workspace, id string, d *dataset.Data) (ds Dataset, err error) {
	p, err := encode(d)
	if err != nil {
		return Dataset{}, err
	}
	err = s.update(ctx, func(tx *sql.Tx) error {
		old, err := findDataset(ctx, tx, ws, id)
		if err != nil {
			return err
		}
		ds = describe(p)
		if err := s.room(ctx, tx, ws, 0, 0); err != nil {
			return err
		}
		ds.ID, ds.Name, ds.Origin, ds.Created, ds.Updated = old.ID, old.Name, old.Origin, old.Created, fromMillis(s.now())
		if err := writePoints(ctx, tx, p); err != nil {
			return err
		}
		if err := updateDataset(ctx, tx, ds); err != nil {
			return err
		}
		return dropPoints(ctx, tx, old.Hash)
	})
	return ds, err
}

// DeleteDataset deletes a data set. Its runs stay, with the points they were
// trained on. Restore brings it back.
func (s *Store) DeleteDataset(ctx context.Context, ws Workspace, id string) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		at, err := deletionTime(ctx, tx, ws, s.now())
		if err != nil {
			return err
		}
		if err := softDelete(ctx, tx, "datasets", "id", ws, id, at); err != nil {
			return err
		}
		return s.Quota.bound(ctx, tx, ws, 1)
	})
}

// describe fills in what the points tell.
func describe(p points) Dataset {
	return Dataset{Hash: p.hash, Kind: p.Kind(), Rows: p.Len(), Features: append([]string{}, p.Features...), Label: p.Label, Classes: p.Classes}
}

const datasetColumns = `id, name, origin, hash, kind, size, features, label, classes, created, updated`

func scanDataset(row interface{ Scan(...any) error }) (d Dataset, err error) {
	var created, updated int64
	err = row.Scan(&d.ID, &d.Name, &d.Origin, &d.Hash, &d.Kind, &d.Rows, asJSON(&d.Features), &d.Label,
		asJSON(&d.Classes), &created, &updated)
	d.Created, d.Updated = fromMillis(created), fromMillis(updated)
	return d, err
}

func findDataset(ctx context.Context, tx *sql.Tx, ws Workspace, id string) (Dataset, error) {
	d, err := scanDataset(tx.QueryRowContext(ctx, `SELECT `+datasetColumns+` FROM datasets WHERE workspace = ? AND id = ?`, ws, id))
	return d, found(err)
}

func listDatasets(ctx context.Context, tx *sql.Tx, ws Workspace) (list []Dataset, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT `+datasetColumns+` FROM datasets WHERE workspace = ? ORDER BY created DESC, rowid DESC`, ws)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		d, err := scanDataset(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, rows.Err()
}

func insertDataset(ctx context.Context, tx *sql.Tx, ws Workspace, request string, d Dataset) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO datasets (`+datasetColumns+`, workspace, request) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''))`,
		d.ID, d.Name, d.Origin, d.Hash, d.Kind, d.Rows, asJSON(&d.Features), d.Label, asJSON(&d.Classes), d.Created.UnixMilli(), d.Updated.UnixMilli(), ws, request)
	return err
}

func updateDataset(ctx context.Context, tx *sql.Tx, d Dataset) error {
	_, err := tx.ExecContext(ctx, `UPDATE datasets SET hash = ?, kind = ?, size = ?, features = ?, label = ?, classes = ?, updated = ? WHERE id = ?`,
		d.Hash, d.Kind, d.Rows, asJSON(&d.Features), d.Label, asJSON(&d.Classes), d.Updated.UnixMilli(), d.ID)
	return err
}

// cleanName makes a name one line and checks its length.
func cleanName(name string) (string, error) {
	var ps param.Problems
	name = required(&ps, "name", line(name), maxName)
	return name, ps.Err()
}
