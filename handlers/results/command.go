package results

import (
	"cmp"
	"path/filepath"
	"strings"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// FileName makes a name safe for any file system.
func FileName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '_'
		}
		return r
	}, strings.TrimSpace(name))
	return strings.TrimLeft(clean, ".")
}

// CSVName returns the file name of a data set as CSV.
func CSVName(name string) string {
	if strings.HasSuffix(strings.ToLower(name), ".csv") {
		return FileName(name)
	}
	return FileName(name) + ".csv"
}

// dataWord returns the name of a data set for the terminal: the slug of a built-in one, else the
// file that its page offers.
func dataWord(name string) string {
	b, _ := lists.Find(dataset.Builtins, func(b dataset.Builtin) bool { return b.Name == name })
	return cmp.Or(b.Slug, CSVName(name))
}

// CommandLine returns the terminal command that trains the same model.
func CommandLine(s ml.Spec, data string) string {
	return strings.Join(commandWords("fit", s, data), " ")
}

// commandWords returns the words of a command line for a spec, quoted for a shell.
func commandWords(command string, s ml.Spec, data string) []string {
	flags := lists.Map(Chosen(s), func(p param.Param) string { return "--" + p.Flag() + "=" + shellQuote(s.Text(p.Name)) })
	return append([]string{"marginlab", command, "--data", shellQuote(dataWord(data))}, flags...)
}

// Chosen lists the parameters of a spec that are not at their defaults.
func Chosen(s ml.Spec) []param.Param {
	def := ml.DefaultSpec()
	return lists.Filter(ml.Params, func(p param.Param) bool {
		return s.Applies(p.Name) && s.Text(p.Name) != def.Text(p.Name) && p.Name != "label"
	})
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

// NameOf returns the name given by the user, or the file's.
func NameOf(name, file string) string {
	if name = strings.TrimSpace(name); name != "" {
		return name
	}
	if file = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)); file != "" && file != "." {
		return file
	}
	return "Data set"
}
