package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"
)

// transaction is a transaction of the database with the context of the call that began it, beyond
// which it does not live. Once a statement of exec has failed nothing more is done, and what is
// read returns its error: nothing of the transaction is kept.
type transaction struct {
	*sql.Tx
	ctx context.Context
	err error // of the first exec that failed
}

// result runs fn in a transaction, by the method view, update or note of a store, and returns what
// it does.
func result[T any](ctx context.Context, run func(context.Context, func(*transaction) error) error, fn func(*transaction) (T, error)) (T, error) {
	var v T
	err := run(ctx, func(tx *transaction) (err error) {
		v, err = fn(tx)
		return err
	})
	if err != nil {
		return *new(T), err
	}
	return v, nil
}

// change makes one change, and returns ErrNotFound if there is nothing to be changed.
func (s *Store) change(ctx context.Context, query string, args ...any) error {
	return s.update(ctx, func(tx *transaction) error { return tx.execFound(query, args...) })
}

// exec runs one statement in a transaction of update.
func (s *Store) exec(ctx context.Context, query string, args ...any) error {
	return s.update(ctx, func(tx *transaction) error {
		tx.exec(query, args...)
		return nil
	})
}

// exec runs a statement.
func (tx *transaction) exec(query string, args ...any) {
	if tx.err == nil {
		_, tx.err = tx.ExecContext(tx.ctx, query, args...)
	}
}

// execCount runs a statement and returns how many rows it has changed.
func (tx *transaction) execCount(query string, args ...any) (int, error) {
	if tx.err != nil {
		return 0, tx.err
	}
	res, err := tx.ExecContext(tx.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// execFound runs a statement and returns ErrNotFound where it has changed no row.
func (tx *transaction) execFound(query string, args ...any) error {
	n, err := tx.execCount(query, args...)
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}

// row is what a query found.
type row interface{ Scan(to ...any) error }

// oneRow is the first row of a query.
type oneRow struct {
	*sql.Row
	err error // of the transaction
}

// Scan returns ErrNotFound where there is no row.
func (r oneRow) Scan(to ...any) error {
	if r.err != nil {
		return r.err
	}
	err := r.Row.Scan(to...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// one returns the first row of a query.
func (tx *transaction) one(query string, args ...any) oneRow {
	if tx.err != nil {
		return oneRow{nil, tx.err}
	}
	return oneRow{tx.QueryRowContext(tx.ctx, query, args...), nil}
}

// find reads the first row of a query.
func find[T any](tx *transaction, scan func(row, *T) error, query string, args ...any) (v T, err error) {
	err = scan(tx.one(query, args...), &v)
	return v, err
}

// value returns the one column of the first row of a query.
func value[T any](tx *transaction, query string, args ...any) (T, error) {
	return find(tx, column[T], query, args...)
}

// column reads a row of one column.
func column[T any](r row, v *T) error { return r.Scan(v) }

// each calls read with every row of a query.
func (tx *transaction) each(read func(row) error, query string, args ...any) error {
	if tx.err != nil {
		return tx.err
	}
	rows, err := tx.QueryContext(tx.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// listOf reads the rows of a query, as far as one fails.
func listOf[T any](tx *transaction, scan func(row, *T) error, query string, args ...any) (all []T, err error) {
	err = tx.each(func(r row) error {
		var v T
		err := scan(r, &v)
		if err == nil {
			all = append(all, v)
		}
		return err
	}, query, args...)
	return all, err
}

// counted lists rows of a table, and says how many there are in all.
func counted[T any](ctx context.Context, s *Store, list func(*transaction) ([]T, error), from string, args ...any) (all []T, total int, err error) {
	err = s.view(ctx, func(tx *transaction) error {
		if total, err = value[int](tx, `SELECT count(*) FROM `+from, args...); err != nil {
			return err
		}
		all, err = list(tx)
		return err
	})
	return all, total, err
}

// only returns the first of a list, ErrNotFound where there is none.
func only[T any](list []T, err error) (v T, _ error) {
	if err != nil {
		return v, err
	}
	if len(list) == 0 {
		return v, ErrNotFound
	}
	return list[0], nil
}

// orZero drops ErrNotFound: what was not found stays the zero value.
func orZero(err error) error {
	if err == ErrNotFound {
		return nil
	}
	return err
}

// texts returns the one column of a query.
func texts(tx *transaction, query string, args ...any) ([]string, error) {
	return listOf(tx, column[string], query, args...)
}

// byKey reads the rows of a query into a map.
func byKey[K comparable, V any](tx *transaction, scan func(row, *K, *V) error, query string, args ...any) (map[K]V, error) {
	all := map[K]V{}
	return all, tx.each(func(r row) error {
		var k K
		var v V
		err := scan(r, &k, &v)
		all[k] = v
		return err
	}, query, args...)
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
