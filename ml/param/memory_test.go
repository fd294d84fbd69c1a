package param

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"marginlab/ml/mltest/require"
)

func TestUnfolding(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		bytes int64
	}{
		{"", 0},
		{`12345`, 5},
		{`[]`, 2 + listBytes},
		{`{}`, 2 + objectBytes},
		{`[1,2,3]`, 7 + listBytes + 2*elementBytes},
		{`"[{,,}]"`, 8},
		{`"\"[{,"`, 7},
		{`"\\",[`, 6 + elementBytes + listBytes},
	} {
		for _, r := range []io.Reader{strings.NewReader(test.text), iotest.OneByteReader(strings.NewReader(test.text))} {
			got, err := io.ReadAll(Unfolding(r, test.bytes))
			require.Check(t, err == nil && string(got) == test.text,
				"%s within %d bytes: %q, %v", test.text, test.bytes, got, err)
		}
		require.Is(t, require.Err(io.ReadAll(Unfolding(strings.NewReader(test.text), test.bytes-1))), ErrUnfolds, "%s within %d bytes", test.text, test.bytes-1)
	}
}
