package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"
)

// transaction is a database transaction with the context of the call that began it. After its first
// error, all further calls do nothing and return zero values, and nothing is committed. Callers
// check err only where they cannot continue.
type transaction struct {
	*sql.Tx
	ctx context.Context
	err error // first error
}

// fail records the first error; nil has no effect.
func (tx *transaction) fail(err error) { tx.err = cmp.Or(tx.err, err) }

// annotate calls do and makes its error an *ItemError.
func (tx *transaction) annotate(item string, do func()) {
	if tx.err != nil {
		return
	}
	if do(); tx.err != nil {
		tx.err = &ItemError{item, tx.err}
	}
}

// result runs fn in a transaction, by the store's view, update or note, and returns its result.
func result[T any](ctx context.Context, run func(context.Context, func(*transaction)) error, fn func(*transaction) T) (T, error) {
	var v T
	if err := run(ctx, func(tx *transaction) { v = fn(tx) }); err != nil {
		return *new(T), err
	}
	return v, nil
}

// listed returns the rows of a query in a transaction of its own.
func listed[T any](ctx context.Context, s *Store, scan func(row, *T) error, query string, args ...any) ([]T, error) {
	return result(ctx, s.view, func(tx *transaction) []T { return listOf(tx, scan, query, args...) })
}

// keyed returns the rows of a query as a map, in a transaction of its own.
func keyed[K comparable, V any](ctx context.Context, s *Store, scan func(row, *K, *V) error, query string, args ...any) (map[K]V, error) {
	return result(ctx, s.view, func(tx *transaction) map[K]V { return byKey(tx, scan, query, args...) })
}

// change runs one statement in a transaction of its own; it returns ErrNotFound if no row changes.
func (s *Store) change(ctx context.Context, query string, args ...any) error {
	return s.update(ctx, func(tx *transaction) { tx.execFound(query, args...) })
}

// exec runs one statement in a transaction of its own.
func (s *Store) exec(ctx context.Context, query string, args ...any) error {
	return s.update(ctx, func(tx *transaction) { tx.exec(query, args...) })
}

// exec runs a statement and returns the number of rows it changed.
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

// execFound runs a statement and fails with ErrNotFound if it changes no row.
func (tx *transaction) execFound(query string, args ...any) {
	if tx.exec(query, args...) == 0 {
		tx.fail(ErrNotFound)
	}
}

// row is a row of a query's result.
type row interface{ Scan(to ...any) error }

// queryFirst reads the first row of a query and reports whether there is one.
func (tx *transaction) queryFirst(read func(row) error, query string, args ...any) bool {
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

// one returns a function that scans the first row of a query. Without a row, the transaction fails
// with ErrNotFound.
func (tx *transaction) one(query string, args ...any) (into func(to ...any)) {
	return func(to ...any) {
		if !tx.queryFirst(func(r row) error { return r.Scan(to...) }, query, args...) {
			tx.fail(ErrNotFound)
		}
	}
}

// lookup returns the first row of a query, if any.
func lookup[T any](tx *transaction, scan func(row, *T) error, query string, args ...any) (v T, ok bool) {
	if ok = tx.queryFirst(func(r row) error { return scan(r, &v) }, query, args...); !ok {
		return *new(T), false
	}
	return v, true
}

// find returns the first row of a query; without one, the transaction fails with ErrNotFound.
func find[T any](tx *transaction, scan func(row, *T) error, query string, args ...any) T {
	v, ok := lookup(tx, scan, query, args...)
	if !ok {
		tx.fail(ErrNotFound)
	}
	return v
}

// value returns the single column of the first row of a query; without a row, the transaction fails
// with ErrNotFound.
func value[T any](tx *transaction, query string, args ...any) T {
	return find(tx, column[T], query, args...)
}

// exists reports whether from, a table with a condition, has rows.
func (tx *transaction) exists(from string, args ...any) bool {
	return value[bool](tx, `SELECT EXISTS (SELECT 1 FROM `+from+`)`, args...)
}

// column scans a row of one column.
func column[T any](r row, v *T) error { return r.Scan(v) }

// each calls read for every row of a query.
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

// listOf returns the rows of a query, up to the first that fails.
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

// counted returns a list and the total number of rows, in one transaction.
func counted[T any](ctx context.Context, s *Store, list func(*transaction) []T, from string, args ...any) (all []T, total int, err error) {
	err = s.view(ctx, func(tx *transaction) {
		total = value[int](tx, `SELECT count(*) FROM `+from, args...)
		all = list(tx)
	})
	return all, total, err
}

// first returns the first element of a list; if it is empty, the transaction fails with
// ErrNotFound.
func first[T any](tx *transaction, list []T) (v T) {
	if len(list) == 0 {
		tx.fail(ErrNotFound)
		return v
	}
	return list[0]
}

// texts returns the single column of a query.
func texts(tx *transaction, query string, args ...any) []string {
	return listOf(tx, column[string], query, args...)
}

// byKey returns the rows of a query as a map.
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

// pair scans a row of two columns.
func pair[K, V any](r row, k *K, v *V) error { return r.Scan(k, v) }

// millis stores a time as Unix milliseconds, the zero time as NULL, and scans it.
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
