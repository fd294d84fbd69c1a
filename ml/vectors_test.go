package ml

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
)

// Vectors are read as encoding/json reads lists of numbers, what is no number included.
func FuzzVectors(f *testing.F) {
	for _, text := range []string{
		`[]`, ` [ ] `, `null`, `[[]]`, `[[1,0,-2.5e3],[ 4 , 0.1 ]]`, "[[0\n,-0],\t[00]]", `[[1],null,[2]]`, `[null]`, `[[1],2]`,
		`[[[1]]]`, `[[1e999]]`, `[["]"]]`, `[[1],"[2]"]`, `[[true]]`, `{"a":[[1]]}`, `[[null]]`, `[[1],[]]`, `5`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want [][]float64
		var got vectors
		wrong := json.Unmarshal(text, &want)
		err := json.Unmarshal(text, &got)
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(wrong), "%s: the error", text)
		require.Check(t, err != nil || cmp.Equal([][]float64(got), want), "%s: %v, want %v", text, got, want)
	})
}
