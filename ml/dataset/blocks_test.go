package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"marginlab/ml/mltest/require"
)

// A text scanned in blocks has the lines and fields of the text scanned in one go.
func TestBlocks(t *testing.T) {
	t.Parallel()
	line := rapid.OneOf(
		rapid.StringMatching(`[+-]?1( {1,2}[0-9]{1,3}:-?[0-9]{0,3}\.?[0-9]{0,18}){0,4} ?`),
		rapid.StringMatching(`[ \t\x{85}\x{a0}:#a1.e+-]{0,9}`),
		rapid.StringMatching(`([0-9.]{0,9},){0,4}x?`),
		rapid.SampledFrom([]string{"", "# a note", "1 qid:2 1:3", "1 1:1e5 2:inf 3:1..2 0x4:5 9999999999:1 :1 1:"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		lines, end := rapid.SliceOfN(line, 1, 40).Draw(t, "lines"), rapid.SampledFrom([]string{"\n", "\r\n", "\r"})
		ends := rapid.SliceOfN(end, 40, 40).Draw(t, "ends")
		for text.Len() < 2*blockSize {
			for k, l := range lines {
				text.WriteString(l + ends[k])
			}
		}
		text.WriteString(strings.Repeat("1 1:1", rapid.IntRange(0, 1).Draw(t, "rest")))
		var got, want []string
		scan := func(b *block[libsvmField], text string, from int) { scanLIBSVM(b, text, from, 3) }
		kept := func(f field) string { // in a column of many texts
			c := cells{file: text.String(), many: []packed{}}
			c.put(f)
			return c.Cell(0)
		}
		for r := range inBlocks(text.String(), 0, 1, scan) {
			for _, f := range r.fields {
				require.Check(t, kept(field{f.value(), f.packed}) == f.value(), "LIBSVM: %q of %q", f.value(), f.text)
			}
			got = append(got, fmt.Sprint(r.line, r.fields))
		}
		var b block[libsvmField]
		scan(&b, text.String(), 0)
		from := 0
		for _, r := range b.records {
			want = append(want, fmt.Sprint(r.line, b.fields[from:r.end]))
			from = r.end
		}
		require.Check(t, slices.Equal(got, want), "LIBSVM: %s", cmp.Diff(want, got))
		got, want = nil, nil
		sc := csvScanner{text: text.String(), sep: rapid.SampledFrom([]byte(", \t")).Draw(t, "separator"), line: 1, most: 3}
		for r := range sc.records() {
			for _, f := range r.fields {
				require.Check(t, kept(f) == f.text, "CSV: %q", f.text)
			}
			got = append(got, fmt.Sprint(r.line, r.count, r.fields))
		}
		for sc.next() {
			want = append(want, fmt.Sprint(sc.start, sc.count, sc.fields))
		}
		require.Check(t, slices.Equal(got, want), "CSV: %s", cmp.Diff(want, got))
	})
}

// A field is what strings.Fields finds, a number what parseNumber reads, also in one pass.
func TestCutPair(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.StringMatching(`[a+-]?1?( [0-9]{1,2}:[+-]?[0-9]{0,3}\.?[0-9]{0,3}(e-?1)?){0,3} ?`), rapid.StringMatching(`( ?[+-]?[0-9]{0,11}:?[+-]?[0-9]{0,18}\.?[0-9]{0,3}[e\t \x{a0}]?){1,3}`), rapid.StringMatching(`[ \t\x{85}\x{a0}:a1.é+-]{0,9}`))
	rapid.Check(t, func(t *rapid.T) {
		line := text.Draw(t, "line")
		rest, fields := line, []libsvmField(nil)
		for _, want := range strings.Fields(rest) {
			var f libsvmField
			rest = f.cut(rest, len(line)-len(rest))
			fields = append(fields, f)
			left, value, pair := strings.Cut(want, ":")
			_, number := parseNumber(value)
			require.Check(t, f.text == want && (f.colon >= 0) == pair && (!pair || f.colon == len(left) && f.number == number), "%+v of %q", f, want)
		}
		var f libsvmField
		f.cut(rest, 0)
		require.Check(t, f.text == "", "%q behind the last", f.text)
		var b block[libsvmField]
		if next, plain := plainLine(&b, line, 0, len(fields)); plain {
			require.Check(t, next == len(line) && slices.Equal(b.fields, fields), "%q in one pass: %+v, want %+v", line, b.fields, fields)
		}
		if pairs := len(fields) - 2; pairs >= 0 {
			_, plain := plainLine(&b, line, 0, pairs)
			require.Check(t, !plain, "%q in one pass, of at most %d pairs", line, pairs)
		}
	})
}

// A panic in a goroutine reaches the caller.
func TestInOrderPanics(t *testing.T) {
	t.Parallel()
	defer func() { require.Equal(t, recover(), any("block 7"), "recovered") }()
	sideBySide(20, func(k int) {
		if k == 7 {
			panic("block 7")
		}
	})
}
