package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"io"

	"marginlab/ml/dataset"
)

// Data returns the point set with the given hash. Point sets carry no owner: a
// caller has the hash from a data set or a run that it may see.
func (s *Store) Data(ctx context.Context, hash string) (d *dataset.Data, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		d, err = readPoints(ctx, tx, hash)
		return err
	})
	return d, err
}

// points is a point set ready to be stored.
type points struct {
	*dataset.Data
	hash string
	csv  []byte // gzip
}

// encode prepares d outside of any transaction, so that nobody waits for it.
func encode(d *dataset.Data) (points, error) {
	sum := sha256.New()
	csv, err := compressed(func(w io.Writer) error { return d.Encode(io.MultiWriter(sum, w)) })
	return points{d, hex.EncodeToString(sum.Sum(nil)), csv}, err
}

func writePoints(ctx context.Context, tx *sql.Tx, p points) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO points (hash, csv) VALUES (?, ?) ON CONFLICT DO NOTHING`, p.hash, p.csv)
	return err
}

func readPoints(ctx context.Context, tx *sql.Tx, hash string) (*dataset.Data, error) {
	var z []byte
	if err := tx.QueryRowContext(ctx, `SELECT csv FROM points WHERE hash = ?`, hash).Scan(&z); err != nil {
		return nil, found(err)
	}
	csv, err := unpack(z)
	if err != nil {
		return nil, err
	}
	return dataset.Decode(csv)
}

// dropPoints deletes a point set that nothing refers to any more.
func dropPoints(ctx context.Context, tx *sql.Tx, hash string) error {
	_, err := tx.ExecContext(ctx, `
		DELETE FROM points WHERE hash = ?1
		AND NOT EXISTS (SELECT 1 FROM datasets WHERE hash = ?1)
		AND NOT EXISTS (SELECT 1 FROM runs WHERE hash = ?1)
		AND NOT EXISTS (SELECT 1 FROM searches WHERE hash = ?1)
		AND NOT EXISTS (SELECT 1 FROM courses WHERE hash = ?1)
		AND NOT EXISTS (SELECT 1 FROM links WHERE hash = ?1)`, hash)
	return err
}
