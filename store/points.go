package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"

	"marginlab/ml/dataset"
)

// Large data sets being read share decodingBytes and wait for their part; texts up to smallText are
// read at once.
const (
	decodingBytes = 256 << 20
	smallText     = 1 << 20
)

// Data returns the point set with the given hash. Point sets have no owner: callers
// must have the hash from a data set or run they may access.
func (s *Store) Data(ctx context.Context, hash string) (*dataset.Data, error) {
	return s.data(ctx, known(hash))
}

// known returns a hash that need not be looked up.
func known(hash string) func(*transaction) string {
	return func(*transaction) string { return hash }
}

// data returns the points whose hash is read in the same transaction, so that they are not replaced
// in between. If they are replaced just before, the memory of the previous ones is reserved.
func (s *Store) data(ctx context.Context, hash func(*transaction) string) (*dataset.Data, error) {
	var packed, text int64
	if err := s.view(ctx, func(tx *transaction) { packed, text = sizeOf(tx, `csv`, `points WHERE hash = ?`, hash(tx)) }); err != nil {
		return nil, err
	}
	if text > smallText {
		// A one-digit value and its separator become a number of eight bytes.
		bytes := min(packed+5*text, decodingBytes)
		if err := s.decoding.Acquire(ctx, bytes); err != nil {
			return nil, err
		}
		defer s.decoding.Release(bytes)
	}
	return result(ctx, s.view, func(tx *transaction) *dataset.Data { return readPoints(tx, hash(tx)) })
}

// points is an encoded point set.
type points struct {
	*dataset.Data
	hash string
	csv  []byte // gzip
}

// encode encodes d, which may be nil; call it outside transactions, since it takes time.
func encode(d *dataset.Data) (points, error) {
	if d == nil {
		return points{}, nil
	}
	sum := sha256.New()
	csv, err := compressed(func(w io.Writer) error { return d.Encode(io.MultiWriter(sum, w)) })
	return points{d, hex.EncodeToString(sum.Sum(nil)), csv}, err
}

func writePoints(tx *transaction, p points) {
	if p.Data == nil {
		return
	}
	tx.exec(`INSERT INTO points (hash, csv) VALUES (?, ?) ON CONFLICT DO NOTHING`, p.hash, p.csv)
}

func readPoints(tx *transaction, hash string) *dataset.Data {
	z := value[[]byte](tx, `SELECT csv FROM points WHERE hash = ?`, hash)
	if tx.err != nil {
		return nil
	}
	csv, err := unpack(z)
	if err != nil {
		tx.fail(err)
		return nil
	}
	d, err := dataset.Decode(csv)
	tx.fail(err)
	return d
}

// sizeOf returns the sizes of compressed data in bytes, as stored and unpacked; from is a table with
// a condition.
func sizeOf(tx *transaction, column, from string, args ...any) (packed, text int64) {
	var end []byte // trailer of the compressed data, with their length
	tx.one(`SELECT length(`+column+`), substr(`+column+`, -4) FROM `+from, args...)(&packed, &end)
	if len(end) == 4 { // may be wrong if damaged, which shows on reading
		text = int64(binary.LittleEndian.Uint32(end))
	}
	return packed, text
}

// dropPoints deletes those of the point sets that nothing refers to any longer.
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
