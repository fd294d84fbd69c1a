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
	set := c.Upload("name=three.csv", "a,b,c,label\n1,2,3,x\n2,1,3,y\n3,3,1,x\n1,1,1,y\n")
	chosen := c.Page(200, "/datasets/"+set.ID).Find("select[name=x] option[selected]").AttrOr("value", "")
	require.Equal(t, chosen, "pca", "the horizontal axis that the page says is shown")
	require.Check(t, drawn("heart", "") != drawn("heart", "?x=age&y=sex"), "the columns that the reader names are ignored")
	require.Check(t, drawn("moons", "") == drawn("moons", "?x=x1&y=x2"), "moons are not shown on their two columns")
}
