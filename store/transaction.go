package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// transaction is a transaction of the database with the context of the call that began it, beyond
// which it does not live. Its first error ends it: whatever follows does nothing and returns zero
// values, and nothing of the transaction is kept. Callers look at err only where they cannot go on.
type transaction struct {
	*sql.Tx
	ctx context.Context
	err error // the first one
}

// fail ends the transaction with an error, unless that is nil.
func (tx *transaction) fail(err error) { tx.err = cmp.Or(tx.err, err) }

// about calls do, and puts what it is about before its error.
func (tx *transaction) about(what string, do func()) {
	if tx.err != nil {
		return
	}
	if do(); tx.err != nil {
		tx.err = fmt.Errorf("%s: %w", what, tx.err)
	}
}

// result runs fn in a transaction, by the method view, update or note of a store, and returns what
// it does.
func result[T any](ctx context.Context, run func(context.Context, func(*transaction)) error, fn func(*transaction) T) (T, error) {
	var v T
	if err := run(ctx, func(tx *transaction) { v = fn(tx) }); err != nil {
		return *new(T), err
	}
	return v, nil
}

// listed reads the rows of a query in a transaction of its own.
func listed[T any](ctx context.Context, s *Store, scan func(row, *T) error, query string, args ...any) ([]T, error) {
	return result(ctx, s.view, func(tx *transaction) []T { return listOf(tx, scan, query, args...) })
}

// keyed reads the rows of a query into a map, in a transaction of its own.
func keyed[K comparable, V any](ctx context.Context, s *Store, scan func(row, *K, *V) error, query string, args ...any) (map[K]V, error) {
	return result(ctx, s.view, func(tx *transaction) map[K]V { return byKey(tx, scan, query, args...) })
}

// change makes one change, and returns ErrNotFound if there is nothing to be changed.
func (s *Store) change(ctx context.Context, query string, args ...any) error {
	return s.update(ctx, func(tx *transaction) { tx.execFound(query, args...) })
}

// exec runs one statement in a transaction of update.
func (s *Store) exec(ctx context.Context, query string, args ...any) error {
	return s.update(ctx, func(tx *transaction) { tx.exec(query, args...) })
}

// exec runs a statement and returns how many rows it has changed.
func (tx *transaction) exec(query string, args ...any) int {
	if tx.err != nil {
		return 0
	}
	res, err := tx.ExecContext(tx.ctx, query, args...)
	if err != nil {
		tx.fail(err)
		return 0
	}
	n, err := res.RowsAffected()
	tx.fail(err)
	return int(n)
}

// execFound runs a statement, and fails with ErrNotFound where it has changed no row.
func (tx *transaction) execFound(query string, args ...any) {
	if tx.exec(query, args...) == 0 {
		tx.fail(ErrNotFound)
	}
}

// row is what a query found.
type row interface{ Scan(to ...any) error }

// look reads the first row of a query, and reports whether there is one.
func (tx *transaction) look(read func(row) error, query string, args ...any) bool {
	if tx.err != nil {
		return false
	}
	err := read(tx.QueryRowContext(tx.ctx, query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return false
	}
	tx.fail(err)
	return err == nil
}

// one returns a function that reads the columns of the first row of a query. Where there is none
// the transaction fails with ErrNotFound.
func (tx *transaction) one(query string, args ...any) (into func(to ...any)) {
	return func(to ...any) {
		if !tx.look(func(r row) error { return r.Scan(to...) }, query, args...) {
			tx.fail(ErrNotFound)
		}
	}
}

// lookup reads the first row of a query, if there is one.
func lookup[T any](tx *transaction, scan func(row, *T) error, query string, args ...any) (v T, ok bool) {
	if ok = tx.look(func(r row) error { return scan(r, &v) }, query, args...); !ok {
		return *new(T), false
	}
	return v, true
}

// find reads the first row of a query, and fails with ErrNotFound where there is none.
func find[T any](tx *transaction, scan func(row, *T) error, query string, args ...any) T {
	v, ok := lookup(tx, scan, query, args...)
	if !ok {
		tx.fail(ErrNotFound)
	}
	return v
}

// value returns the one column of the first row of a query, and fails with ErrNotFound where there
// is none.
func value[T any](tx *transaction, query string, args ...any) T {
	return find(tx, column[T], query, args...)
}

// exists reports whether rows of a table meet a condition.
func (tx *transaction) exists(from string, args ...any) bool {
	return value[bool](tx, `SELECT EXISTS (SELECT 1 FROM `+from+`)`, args...)
}

// column reads a row of one column.
func column[T any](r row, v *T) error { return r.Scan(v) }

// each calls read with every row of a query.
func (tx *transaction) each(read func(row) error, query string, args ...any) {
	if tx.err != nil {
		return
	}
	rows, err := tx.QueryContext(tx.ctx, query, args...)
	if err != nil {
		tx.fail(err)
		return
	}
	defer rows.Close()
	for tx.err == nil && rows.Next() {
		tx.fail(read(rows))
	}
	tx.fail(rows.Err())
}

// listOf reads the rows of a query, as far as one fails.
func listOf[T any](tx *transaction, scan func(row, *T) error, query string, args ...any) (all []T) {
	tx.each(func(r row) error {
		var v T
		err := scan(r, &v)
		if err == nil {
			all = append(all, v)
		}
		return err
	}, query, args...)
	return all
}

// counted lists rows of a table, and says how many there are in all.
func counted[T any](ctx context.Context, s *Store, list func(*transaction) []T, from string, args ...any) (all []T, total int, err error) {
	err = s.view(ctx, func(tx *transaction) {
		total = value[int](tx, `SELECT count(*) FROM `+from, args...)
		all = list(tx)
	})
	return all, total, err
}

// first returns the first of a list, and fails with ErrNotFound where there is none.
func first[T any](tx *transaction, list []T) (v T) {
	if len(list) == 0 {
		tx.fail(ErrNotFound)
		return v
	}
	return list[0]
}

// texts returns the one column of a query.
func texts(tx *transaction, query string, args ...any) []string {
	return listOf(tx, column[string], query, args...)
}

// byKey reads the rows of a query into a map.
func byKey[K comparable, V any](tx *transaction, scan func(row, *K, *V) error, query string, args ...any) map[K]V {
	all := map[K]V{}
	tx.each(func(r row) error {
		var k K
		var v V
		err := scan(r, &k, &v)
		all[k] = v
		return err
	}, query, args...)
	return all
}

// pair reads a row of two columns.
func pair[K, V any](r row, k *K, v *V) error { return r.Scan(k, v) }

// millis stores a time as Unix milliseconds and reads it back, the zero time as NULL.
type millis struct{ t *time.Time }

func asMillis(t *time.Time) millis { return millis{t} }

func (m millis) Value() (driver.Value, error) {
	if m.t.IsZero() {
		return nil, nil
	}
	return m.t.UnixMilli(), nil
}

func (m millis) Scan(src any) error {
	*m.t = time.Time{}
	if ms, ok := src.(int64); ok {
		*m.t = fromMillis(ms)
	}
	return nil
}
