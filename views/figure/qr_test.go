package figure

import (
	"image/png"
	"strings"
	"testing"

	"rsc.io/qr"

	"marginlab/ml/mltest/require"
)

// The modules are where the standard has them: three finders with their light rims, dark
// and light by turns between them, and every other one as it was encoded.
func TestQR(t *testing.T) {
	t.Parallel()
	const address = "https://lab.example.org:8443/course/BCDFGH"
	pic := require.Value(QR(address, "QR code of "+address))(t)
	img := require.Value(png.Decode(strings.NewReader(require.Drawn(t, pic.PNG))))(t)
	n := img.Bounds().Dx()/qrModule - 2*qrQuiet
	dark := func(x, y int) bool {
		r, _, _, _ := img.At((x+qrQuiet)*qrModule+qrModule/2, (y+qrQuiet)*qrModule+qrModule/2).RGBA()
		return r < 1<<15
	}
	const finder = "#######.\n#.....#.\n#.###.#.\n#.###.#.\n#.###.#.\n#.....#.\n#######.\n........"
	for _, corner := range [][2]int{{0, 0}, {1, 0}, {0, 1}} { // not at the lower right
		for y, line := range strings.Split(finder, "\n") {
			for x := range line {
				at := [2]int{x, y}
				for i, far := range corner {
					if far == 1 {
						at[i] = n - 1 - at[i]
					}
				}
				require.Must(t, dark(at[0], at[1]) == (line[x] == '#'),
					"module %v of the finder at %v is wrong", at, corner)
			}
		}
	}
	for i := 8; i < n-8; i++ {
		require.Check(t, dark(i, 6) == (i%2 == 0) && dark(6, i) == (i%2 == 0), "timing at %d", i)
	}
	code, err := qr.Encode(address, qr.M)
	require.Must(t, err == nil && code.Size == n, "%v %v %v", err, code.Size, n)
	for y := -qrQuiet; y < n+qrQuiet; y++ {
		for x := -qrQuiet; x < n+qrQuiet; x++ {
			require.Must(t, dark(x, y) == code.Black(x, y), "module %d, %d", x, y)
		}
	}
	require.Fails(t, require.Err(QR(strings.Repeat("x", 5000), "")), "", "a text that no code holds")
}
