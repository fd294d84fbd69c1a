package frame

import (
	"bytes"
	"encoding/csv"
	"io"
	"mime"
	"net/http"
	"slices"
	"unicode/utf8"

	"marginlab/handlers/results"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/web"
)

// Attach sets the headers of a download.
func Attach(w http.ResponseWriter, name, kind string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": results.FileName(name)}))
}

// CSV is the media type of CSV files.
const CSV = "text/csv; charset=utf-8"

// Send sends a file once write has written all of it, CSV like SendCSV.
func Send(w http.ResponseWriter, r *http.Request, name, kind string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if kind == CSV {
		return SendCSV(w, r, name, bytes.NewReader(b.Bytes()))
	}
	Attach(w, name, kind)
	_, err := b.WriteTo(w)
	return err
}

// byteOrderMark marks a text as UTF-8 for spreadsheets.
const byteOrderMark = "\ufeff"

// SendCSV sends a text as a CSV file. For browsers, non-ASCII text starts with a byte order mark,
// which spreadsheets need; API clients know that it is UTF-8.
func SendCSV(w http.ResponseWriter, r *http.Request, name string, text io.ReadSeeker) error {
	plain, err := ascii(text)
	if err != nil {
		return err
	}
	if _, err := text.Seek(0, io.SeekStart); err != nil {
		return err
	}
	Attach(w, name, CSV)
	if !plain && !web.ForPrograms(r) {
		if _, err := io.WriteString(w, byteOrderMark); err != nil {
			return err
		}
	}
	_, err = io.Copy(w, text)
	return err
}

// SendRows is SendCSV for rows, of which the first holds the column names.
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

// streamedBytes is how much of a CSV file is buffered before it is streamed.
const streamedBytes = 64 << 10

// StreamRows is SendRows for rows produced by write, sent while they are written. A file too long
// to be buffered always starts with a byte order mark for browsers.
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
			Attach(w, name, CSV)
			if !web.ForPrograms(r) {
				if _, err := io.WriteString(w, byteOrderMark); err != nil {
					return err
				}
			}
		}
		if _, err := text.WriteTo(w); err != nil {
			return err
		}
		_ = http.NewResponseController(w).Flush() // not supported in every test
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

// ascii reports whether a text is pure ASCII.
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

// SendList sends the rows that limit and offset in the query select, by default all, as JSON under a name.
func SendList[Row, JSON any](w http.ResponseWriter, r *http.Request, name string, rows []Row, as func(Row) JSON) error {
	var ps param.Problems
	total := len(rows)
	limit, offset := results.Window(r.URL.Query(), &ps, total)
	if err := ps.Err(); err != nil {
		return err
	}
	rows = rows[min(offset, total):]
	return web.JSON(w, http.StatusOK, map[string]any{name: lists.Map(rows[:min(limit, len(rows))], as), "total": total, "limit": limit, "offset": offset})
}
