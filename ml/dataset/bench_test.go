package dataset

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"marginlab/ml/mltest/require"
)

// BenchmarkRead reads files of normal deviates with six decimals and labels ±1.
func BenchmarkRead(b *testing.B) {
	for _, size := range [][2]int{{200, 60}, {1000, 2}, {100_000, 2}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			var text bytes.Buffer
			for j := range size[1] {
				fmt.Fprintf(&text, "x%d,", j+1)
			}
			text.WriteString("label\n")
			for i := range size[0] {
				for range size[1] {
					fmt.Fprintf(&text, "%.6f,", r.NormFloat64())
				}
				fmt.Fprintln(&text, i%2*2-1)
			}
			file := filepath.Join(b.TempDir(), "points.csv")
			require.NoError(b, os.WriteFile(file, text.Bytes(), 0o600))
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				f := require.Value(os.Open(file))(b)
				require.Value(Read(f, file, Mapping{}, Limits{}))(b)
				f.Close()
			}
		})
	}
}
