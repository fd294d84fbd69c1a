package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"

	"marginlab/ml/dataset"
)

// Large data share decodingBytes while they are read, however many requests there are, and
// wait for it; up to smallText of text is read at once.
const (
	decodingBytes = 256 << 20
	smallText     = 1 << 20
)

// Data returns the point set with the given hash. Point sets carry no owner: a
// caller has the hash from a data set or a run that it may see.
func (s *Store) Data(ctx context.Context, hash string) (d *dataset.Data, err error) {
	var packed, text int64
	err = s.view(ctx, func(tx *transaction) (err error) {
		packed, text, err = sizeOfPoints(tx, hash)
		return err
	})
	if err != nil {
		return nil, err
	}
	if text > smallText {
		// A value of one digit and the separator behind it become a number of eight bytes.
		bytes := min(packed+5*text, decodingBytes)
		if err := s.decoding.Acquire(ctx, bytes); err != nil {
			return nil, err
		}
		defer s.decoding.Release(bytes)
	}
	return result(ctx, s.view, func(tx *transaction) (*dataset.Data, error) { return readPoints(tx, hash) })
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

func writePoints(tx *transaction, p points) {
	tx.exec(`INSERT INTO points (hash, csv) VALUES (?, ?) ON CONFLICT DO NOTHING`, p.hash, p.csv)
}

func readPoints(tx *transaction, hash string) (*dataset.Data, error) {
	z, err := value[[]byte](tx, `SELECT csv FROM points WHERE hash = ?`, hash)
	if err != nil {
		return nil, err
	}
	csv, err := unpack(z)
	if err != nil {
		return nil, err
	}
	return dataset.Decode(csv)
}

// sizeOfPoints returns the sizes of points in bytes, as stored and unpacked.
func sizeOfPoints(tx *transaction, hash string) (packed, text int64, err error) {
	var end []byte // of the packed ones, which says how long they are
	err = tx.one(`SELECT length(csv), substr(csv, -4) FROM points WHERE hash = ?`, hash).Scan(&packed, &end)
	if len(end) == 4 { // of damaged ones, anything: reading them will tell
		text = int64(binary.LittleEndian.Uint32(end))
	}
	return packed, text, err
}

// dropPoints deletes those point sets that nothing refers to any more.
func dropPoints(tx *transaction, hashes ...string) {
	for _, hash := range hashes {
		tx.exec(`
			DELETE FROM points WHERE hash = ?1
			AND NOT EXISTS (SELECT 1 FROM datasets WHERE hash = ?1)
			AND NOT EXISTS (SELECT 1 FROM runs WHERE hash = ?1)
			AND NOT EXISTS (SELECT 1 FROM searches WHERE hash = ?1)
			AND NOT EXISTS (SELECT 1 FROM courses WHERE hash = ?1)
			AND NOT EXISTS (SELECT 1 FROM links WHERE hash = ?1)`, hash)
	}
}
