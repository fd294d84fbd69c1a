package data_test

import (
	"net/http"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
)

// TestPointsOfManyColumns shows data of more than two features on their principal components,
// unless the reader names columns, and data of two on those.
func TestPointsOfManyColumns(t *testing.T) {
	c := handlerstest.Fresh(t, false).As(t, handlerstest.Alice)
	drawn := func(id, query string) string {
		return string(c.Want(http.StatusOK, "GET", "/datasets/"+id+"/figures/points.svg"+query, "").Body)
	}
	require.Check(t, drawn("heart", "") == drawn("heart", "?x=pca"), "heart is not shown on its principal components")
	require.Check(t, drawn("heart", "") != drawn("heart", "?x=age&y=sex"), "the columns that the reader names are ignored")
	require.Check(t, drawn("moons", "") == drawn("moons", "?x=x1&y=x2"), "moons are not shown on their two columns")
}
