package require

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
)

// File writes a file into a fresh directory and returns its path.
func File(t interface {
	T
	TempDir() string
}, name, text string,
) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Zip returns an archive of files, given as name and text in turn.
func Zip(t T, files ...string) string {
	t.Helper()
	var b strings.Builder
	w := zip.NewWriter(&b)
	for i := 0; i+1 < len(files); i += 2 {
		Value(Value(w.Create(files[i]))(t).Write([]byte(files[i+1])))(t)
	}
	NoError(t, w.Close())
	return b.String()
}
