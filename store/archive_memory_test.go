package store

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// A small archive that would unpack to too much is refused before it is unpacked.
func TestImportOfBombs(t *testing.T) {
	s := fresh(t)
	list := func(of, entry string, n int) string {
		return fmt.Sprintf(`{"format":2,%q:[%s]}`, of, strings.Repeat(entry+",", n-1)+entry)
	}
	points := strings.Repeat("0,", 20<<20)
	for says, files := range map[string]map[string]string{
		"workspace.json: it has more than 50000 entries": {indexName: list("runs", "{}", 100_000)},
		"workspace.json: it has more than 50000":         {indexName: list("datasets", "{}", 100_000)},
		"it has more than 50000 entries":                 {indexName: `{"format":2,"searches":[` + strings.Repeat("{},", 30_000) + `{}],"answers":[` + strings.Repeat("{},", 30_000) + `{}]}`},
		"exceed the memory limit":                        {indexName: list("runs", `{"tags":[`+strings.Repeat(`"",`, 10<<20)+`""]}`, 1)},
		"expected a list":                                {indexName: `{"format":2,"runs":{}}`},
		`unknown field "ruins"`:                          {indexName: `{"format":2,"ruins":[]}`},
		`points/x.csv" unpacks to 40 MB`:                 {indexName: `{"format":2}`, "points/x.csv": points},
		"it unpacks to more than":                        {indexName: `{"format":2}`, "a": points[:30<<20], "b": points[:30<<20], "c": points[:30<<20], "d": points[:30<<20]},
		"its settings take 97 kB":                        {indexName: list("runs", `{"id":"a","name":"n","points":"`+hashOfSquare+`","spec":{"a":"`+strings.Repeat("x", 99_500)+`"}}`, 1), pointsName(hashOfSquare): squareCSV},
	} {
		body := zipped(t, files)
		_, err := s.Import(t.Context(), bob, bytes.NewReader(body), int64(len(body)))
		var ps param.Problems
		require.Check(t, errors.As(err, &ps) && ps.For("file") != "" && strings.Contains(err.Error(), says),
			"%.300v does not say %q", err, says)
	}
}

const (
	squareCSV    = "x,label\n0,a\n1,b\n"
	hashOfSquare = "80917582aef87085acd7eb0f88f347c304fc2429c0ea0b48184ca7742a6ccd89"
)

// ArchiveMemory is based on the unpacked size, which an archive cannot understate.
func TestArchiveMemory(t *testing.T) {
	t.Parallel()
	body := zipped(t, map[string]string{indexName: "{}" + strings.Repeat(" ", 998), "a": strings.Repeat("0", 5000), "b": "1"})
	n, err := ArchiveMemory(bytes.NewReader(body), int64(len(body)))
	require.Check(t, err == nil && n == memoryPerByte*(1000+5000), "%d bytes, %v", n, err)
	understated := bytes.ReplaceAll(body, []byte{0x88, 0x13, 0, 0}, []byte{0x10, 0, 0, 0}) // 5000
	a := require.Value(listArchive(bytes.NewReader(understated), int64(len(understated))))(t)
	text := a.read("a", 1<<20)
	require.Check(t, a.fault != nil, "%d bytes are read where the archive says 16", len(text))
	many := strings.Repeat("PK\x01\x02"+strings.Repeat("\x00", 42), 2*maxEntries+1)
	require.Fails(t, require.Err(listArchive(strings.NewReader(many), int64(len(many)))), "more than 50000 files", "the error")
}
