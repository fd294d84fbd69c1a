package store

import (
	"context"
	"time"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Dataset describes a stored data set. Data(Hash) returns its points.
type Dataset struct {
	ID       string
	Name     string
	Origin   string // source: "uploaded ripley.csv"
	Hash     string // SHA-256 of the canonical CSV
	Kind     dataset.Kind
	Rows     int
	Features []string // names of the features of vectors
	Label    string
	Classes  []string
	Created  time.Time
	Updated  time.Time // of the name or the points
}

// Dims returns the number of features.
func (d Dataset) Dims() int { return len(d.Features) }

// CreateDataset stores d under a name of 1 to 120 characters, which need not be unique. It returns
// param.Problems for an invalid name.
func (s *Store) CreateDataset(ctx context.Context, ws Workspace, name, origin string, d *dataset.Data) (Dataset, error) {
	return s.CreateDatasetOnce(ctx, ws, Request{}, name, origin, d)
}

// CreateDatasetOnce is an idempotent CreateDataset: a repeated request returns the existing data
// set. It may also return ErrReused.
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
	ds.ID, ds.Name, ds.Origin = newID(), name, oneLine(origin)
	ds.Created = fromMillis(s.now())
	ds.Updated = ds.Created
	request, err := asks.of(ds.Name, ds.Origin, ds.Hash)
	if err != nil {
		return Dataset{}, err
	}
	return result(ctx, s.update, func(tx *transaction) Dataset {
		if there, ok := repeated(tx, "datasets", ws, request, findDataset); ok {
			return there
		}
		s.room(tx, ws, 1, 0)
		writePoints(tx, p)
		insertDataset(tx, ws, request, ds)
		return ds
	})
}

// Dataset returns one data set of a workspace.
func (s *Store) Dataset(ctx context.Context, ws Workspace, id string) (Dataset, error) {
	return result(ctx, s.view, func(tx *transaction) Dataset { return findDataset(tx, `workspace = ? AND id = ?`, ws, id) })
}

// DatasetWithData returns one data set of a workspace with its points.
func (s *Store) DatasetWithData(ctx context.Context, ws Workspace, id string) (set Dataset, d *dataset.Data, err error) {
	d, err = s.data(ctx, func(tx *transaction) string {
		set = findDataset(tx, `workspace = ? AND id = ?`, ws, id)
		return set.Hash
	})
	return set, d, err
}

// Datasets lists the data sets of a workspace, newest first.
func (s *Store) Datasets(ctx context.Context, ws Workspace) ([]Dataset, error) {
	return listed(ctx, s, scanDataset, `SELECT `+datasetColumns+` FROM datasets WHERE workspace = ? ORDER BY created DESC, rowid DESC`, ws)
}

// RenameDataset renames a data set; its runs and searches show the new name.
func (s *Store) RenameDataset(ctx context.Context, ws Workspace, id, name string) error {
	name, err := cleanName(name)
	if err != nil {
		return err
	}
	return s.update(ctx, func(tx *transaction) {
		tx.execFound(`UPDATE datasets SET name = ?, updated = ? WHERE workspace = ? AND id = ?`, name, s.now(), ws, id)
		for _, table := range []string{"runs", "searches"} {
			tx.exec(`UPDATE `+table+` SET dataset_name = ? WHERE dataset = ?`, name, id)
		}
	})
}

// ReplaceData replaces the points of a data set. Runs keep the points they were
// trained on.
func (s *Store) ReplaceData(ctx context.Context, ws Workspace, id string, d *dataset.Data) (Dataset, error) {
	p, err := encode(d)
	if err != nil {
		return Dataset{}, err
	}
	return result(ctx, s.update, func(tx *transaction) Dataset {
		old, ds := findDataset(tx, `workspace = ? AND id = ?`, ws, id), describe(p)
		s.room(tx, ws, 0, 0)
		ds.ID, ds.Name, ds.Origin, ds.Created, ds.Updated = old.ID, old.Name, old.Origin, old.Created, fromMillis(s.now())
		writePoints(tx, p)
		tx.exec(`UPDATE datasets SET hash = ?, kind = ?, size = ?, features = ?, label = ?, classes = ?, updated = ? WHERE id = ?`,
			ds.Hash, ds.Kind, ds.Rows, asJSON(&ds.Features), ds.Label, asJSON(&ds.Classes), ds.Updated.UnixMilli(), id)
		dropPoints(tx, old.Hash)
		return ds
	})
}

// DeleteDataset deletes a data set. Its runs stay, with the points they were
// trained on. Restore brings it back.
func (s *Store) DeleteDataset(ctx context.Context, ws Workspace, id string) error {
	return s.update(ctx, func(tx *transaction) { s.softDelete(tx, "datasets", "id", ws, id) })
}

// describe returns the fields derived from the points.
func describe(p points) Dataset {
	return Dataset{Hash: p.hash, Kind: p.Kind(), Rows: p.Len(), Features: append([]string{}, p.Features...), Label: p.Label, Classes: p.Classes}
}

const datasetColumns = `id, name, origin, hash, kind, size, features, label, classes, created, updated`

func scanDataset(r row, d *Dataset) error {
	return r.Scan(&d.ID, &d.Name, &d.Origin, &d.Hash, &d.Kind, &d.Rows, asJSON(&d.Features), &d.Label, asJSON(&d.Classes), asMillis(&d.Created), asMillis(&d.Updated))
}

func findDataset(tx *transaction, where string, args ...any) Dataset {
	return find(tx, scanDataset, `SELECT `+datasetColumns+` FROM datasets WHERE `+where, args...)
}

func insertDataset(tx *transaction, ws Workspace, request string, d Dataset) {
	tx.exec(`INSERT INTO datasets (`+datasetColumns+`, workspace, request) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''))`,
		d.ID, d.Name, d.Origin, d.Hash, d.Kind, d.Rows, asJSON(&d.Features), d.Label, asJSON(&d.Classes), d.Created.UnixMilli(), d.Updated.UnixMilli(), ws, request)
}

// cleanName makes a name one line and checks its length.
func cleanName(name string) (string, error) {
	var ps param.Problems
	name = required(&ps, "name", oneLine(name), maxName)
	return name, ps.Err()
}
