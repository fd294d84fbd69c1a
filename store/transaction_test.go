package store

import (
	"testing"

	"marginlab/ml/mltest/require"
)

// After a failed statement, a transaction does nothing more and is rolled back.
func TestTransactionFails(t *testing.T) {
	s := fresh(t)
	const save = `INSERT INTO barred (what, since) VALUES (?, ?)`
	err := s.update(t.Context(), func(tx *transaction) {
		tx.exec(save, "address 192.0.2.1", 1)
		tx.exec(save, "address 192.0.2.1", 1) // a duplicate: fails
		tx.exec(save, "address 192.0.2.2", 1)
		failed := tx.err
		require.Equal(t, value[int](tx, `SELECT count(*) FROM barred`), 0, "reads on after a failure")
		require.Equal(t, len(texts(tx, `SELECT what FROM barred`)), 0, "lists on after a failure")
		require.Equal(t, tx.exec(`DELETE FROM barred`), 0, "deletes after a failure")
		tx.execFound(`DELETE FROM barred`)
		require.Equal(t, tx.err, failed, "the error that is kept")
	})
	require.Check(t, err != nil, "no error")
	b := require.Value(s.Barred(t.Context()))(t)
	require.Check(t, len(b.Addresses) == 0, "kept %v", b)
}
