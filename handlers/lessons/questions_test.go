package lessons_test

import (
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
)

// The page of a question would have a query longer than addresses can be in every link.
func TestAnswerOnLongAddress(t *testing.T) {
	t.Parallel()
	c := handlerstest.Serve(t, false).Browse(t, handlerstest.Alice)
	const path, form = "/lessons/procedures/naive/questions/objective", "answer=x&query=b%3D"
	c.Send(422, path, form+strings.Repeat("1", 60<<10))
	refused := c.Send(413, path, form+strings.Repeat("1", 64<<10))
	require.Check(t, strings.Contains(string(refused.Body), "longer than any address") && len(refused.Body) < 32<<10, "%.300s", refused.Body)
}
