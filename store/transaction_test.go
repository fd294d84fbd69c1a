package store

import (
	"testing"

	"marginlab/ml/mltest/require"
)

// After a statement that failed nothing of a transaction is kept, also where its function returns nil.
func TestTransactionFails(t *testing.T) {
	s := fresh(t)
	const save = `INSERT INTO barred (what, since) VALUES (?, ?)`
	err := s.update(t.Context(), func(tx *transaction) error {
		tx.exec(save, "address 192.0.2.1", 1)
		tx.exec(save, "address 192.0.2.1", 1) // it is there
		tx.exec(save, "address 192.0.2.2", 1)
		require.Fails(t, require.Err(value[int](tx, `SELECT count(*) FROM barred`)), "", "reads on after a failure")
		require.Fails(t, require.Err(texts(tx, `SELECT what FROM barred`)), "", "lists on after a failure")
		require.Check(t, tx.execFound(`DELETE FROM barred`) != nil, "deletes after a failure")
		return nil
	})
	require.Check(t, err != nil, "no error")
	b := require.Value(s.Barred(t.Context()))(t)
	require.Check(t, len(b.Addresses) == 0, "kept %v", b)
}
