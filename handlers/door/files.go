package door

import (
	"bytes"
	"encoding/csv"
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/web"
)

// Attach makes the answer a download.
func Attach(w http.ResponseWriter, name, kind string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(name)}))
}

// byteOrderMark tells a spreadsheet that a text is UTF-8.
const byteOrderMark = "\ufeff"

// SendCSV sends a text as a file of CSV. For people it begins with a byte order mark where it
// has letters that a spreadsheet would take for others without one; programs know that it is
// UTF-8.
func SendCSV(w http.ResponseWriter, r *http.Request, name string, text io.ReadSeeker) error {
	plain, err := ascii(text)
	if err != nil {
		return err
	}
	if _, err := text.Seek(0, io.SeekStart); err != nil {
		return err
	}
	Attach(w, name, "text/csv; charset=utf-8")
	if !plain && !web.ForPrograms(r) {
		if _, err := io.WriteString(w, byteOrderMark); err != nil {
			return err
		}
	}
	_, err = io.Copy(w, text)
	return err
}

// SendRows sends rows, the first of which has the names of the columns, as SendCSV does.
func SendRows(w http.ResponseWriter, r *http.Request, name string, rows [][]string) error {
	return StreamRows(w, r, name, func(row func(...string) error) error {
		for _, fields := range rows {
			if err := row(fields...); err != nil {
				return err
			}
		}
		return nil
	})
}

// streamedBytes is how much of a file of CSV is held back until it is sent part by part.
const streamedBytes = 64 << 10

// StreamRows sends the rows that write writes as SendRows does, while they are written. What is too
// long to be held back begins with a byte order mark for people, whatever its letters.
func StreamRows(w http.ResponseWriter, r *http.Request, name string, write func(row func(fields ...string) error) error) error {
	var text bytes.Buffer
	begun := false
	rows := csv.NewWriter(&text)
	err := write(func(fields ...string) error {
		if err := rows.Write(fields); err != nil {
			return err
		}
		if rows.Flush(); text.Len() < streamedBytes {
			return rows.Error()
		}
		if !begun {
			begun = true
			Attach(w, name, "text/csv; charset=utf-8")
			if !web.ForPrograms(r) {
				if _, err := io.WriteString(w, byteOrderMark); err != nil {
					return err
				}
			}
		}
		if _, err := text.WriteTo(w); err != nil {
			return err
		}
		_ = http.NewResponseController(w).Flush() // not in every test
		return nil
	})
	if err != nil {
		return err
	}
	if !begun {
		return SendCSV(w, r, name, bytes.NewReader(text.Bytes()))
	}
	_, err = text.WriteTo(w)
	return err
}

// ascii tells whether a text has no other letters.
func ascii(text io.Reader) (bool, error) {
	part := make([]byte, 32<<10)
	for {
		n, err := text.Read(part)
		if slices.ContainsFunc(part[:n], func(b byte) bool { return b >= utf8.RuneSelf }) {
			return false, nil
		}
		switch {
		case err == io.EOF:
			return true, nil
		case err != nil:
			return false, err
		}
	}
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

// CSVName is the name of a file with the rows of a data set.
func CSVName(name string) string {
	if strings.HasSuffix(strings.ToLower(name), ".csv") {
		return fileName(name)
	}
	return fileName(name) + ".csv"
}

// DataWord is how the terminal names a data set: the slug of one that comes with the program,
// else the file that its page offers.
func DataWord(name string) string {
	for _, b := range dataset.Builtins {
		if b.Name == name {
			return b.Slug
		}
	}
	return CSVName(name)
}

// CommandLine is the call of the program that gives the same model.
func CommandLine(s ml.Spec, data string) string {
	return strings.Join(commandWords("fit", s, data), " ")
}

// commandWords are the words of CommandLine with a command, quoted for a shell.
func commandWords(command string, s ml.Spec, data string) []string {
	words := []string{"marginlab", command, "--data", shellQuote(DataWord(data))}
	for _, p := range Chosen(s) {
		words = append(words, "--"+p.Flag()+"="+shellQuote(s.Text(p.Name)))
	}
	return words
}

// Chosen lists the parameters of a spec that are not at their defaults.
func Chosen(s ml.Spec) (chosen []param.Param) {
	def := ml.DefaultSpec()
	for _, p := range ml.Params {
		if s.Applies(p.Name) && s.Text(p.Name) != def.Text(p.Name) && p.Name != "label" {
			chosen = append(chosen, p)
		}
	}
	return chosen
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
