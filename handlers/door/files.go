package door

import (
	"mime"
	"net/http"
	"path/filepath"
	"strings"

	"marginlab/ml"
)

// Attach makes the answer a download.
func Attach(w http.ResponseWriter, name, kind string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(name)}))
}

// fileName makes a name safe for any file system.
func fileName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '_'
		}
		return r
	}, strings.TrimSpace(name))
	return strings.TrimLeft(clean, ".")
}

// CommandLine is the call of the program that gives the same model.
func CommandLine(s ml.Spec, data string) string {
	words := []string{"marginlab", "fit", "--data", shellQuote(fileName(data) + ".csv")}
	def := ml.DefaultSpec()
	for _, p := range ml.Params {
		if v := s.Text(p.Name); s.Applies(p.Name) && v != def.Text(p.Name) && p.Name != "label" {
			words = append(words, "--"+p.Flag()+"="+shellQuote(v))
		}
	}
	return strings.Join(words, " ")
}

func shellQuote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.,+:/", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// NameOf is the name a person gave, or the file's.
func NameOf(name, file string) string {
	if name = strings.TrimSpace(name); name != "" {
		return name
	}
	if file = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)); file != "" {
		return file
	}
	return "Data set"
}
