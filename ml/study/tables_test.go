package study_test

import (
	"bytes"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/ml/study"
)

// A table without columns is written with a single one.
func TestEmptyHead(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, study.LaTeX(&b, []study.Table{{Title: "t"}}))
	require.Check(t, strings.Contains(b.String(), `\begin{tabular}{l}`), "%v", b.String())
}
