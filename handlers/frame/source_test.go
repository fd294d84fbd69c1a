package frame

import (
	"context"
	"fmt"
	"testing"

	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/store"
	"marginlab/store/storetest"
	"marginlab/web/cache"
)

// interrupted is a context that calls before between the first and the second read of the store.
type interrupted struct {
	context.Context
	readings *int
	before   func()
}

func (i interrupted) Value(key any) any {
	if fmt.Sprintf("%T", key) == "store.transactionKey" {
		if *i.readings++; *i.readings == 2 {
			i.before()
		}
	}
	return i.Context.Value(key)
}

// A data set that is replaced after its hash was read is found with its new points.
func TestSourceIsReplaced(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, t.TempDir(), store.Open)
	a := &Base{Store: st, stored: cache.NewWeighed(storedValues, valuesOf)}
	old, next := require.Value(dataset.Builtins[0].Load())(t), require.Value(dataset.Builtins[1].Load())(t)
	set := require.Value(st.CreateDataset(t.Context(), Workspace(t.Context()), "mine", "", old))(t)
	ctx := interrupted{t.Context(), new(int), func() {
		set = require.Value(st.ReplaceData(t.Context(), Workspace(t.Context()), set.ID, next))(t)
	}}
	got := require.Value(a.Source(ctx, set.ID))(t)
	require.Check(t, got.Hash == set.Hash && got.Data.Hash() == set.Hash && got.Name == "mine", "%q with points %.6s, want %.6s", got.Name, got.Hash, set.Hash)
}
