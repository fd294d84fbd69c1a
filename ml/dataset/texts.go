package dataset

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// member is a file in an archive or folder.
type member struct {
	name string // with slashes
	open func() (io.ReadCloser, error)
	text string // once read
	note string // about its encoding
}

// ParseFolder reads the files below a folder as ParseTable reads those of an archive.
func ParseFolder(folder fs.FS, file string, lim Limits) (*Table, error) {
	lim = lim.orDefault()
	var members []member
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			members = append(members, member{name: name, open: func() (io.ReadCloser, error) { return folder.Open(name) }})
		}
		return err
	})
	if err != nil {
		return nil, &Error{File: file, Message: "reading failed: " + err.Error(), Err: err}
	}
	return parseMembers(members, file, lim)
}

// isArchive reports whether data begin like a zip file, even an empty one.
func isArchive(raw string) bool {
	return strings.HasPrefix(raw, "PK\x03\x04") || strings.HasPrefix(raw, "PK\x05\x06")
}

// parseArchive reads a zip file.
func parseArchive(raw, file, sheet string, lim Limits) (*Table, error) {
	archive, err := zip.NewReader(strings.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, &Error{File: file, Message: "expected a zip archive, found a damaged one: " + strings.TrimPrefix(err.Error(), "zip: ") + ": save or upload the file again"}
	}
	for _, f := range archive.File {
		f.Name = strings.ReplaceAll(f.Name, `\`, "/") // as some programs write it
	}
	if isWorkbook(archive) {
		return parseWorkbook(archive, file, sheet, lim)
	}
	if sheet != "" {
		return nil, noWorkbook(file, sheet)
	}
	var members []member
	for _, f := range archive.File {
		name := f.Name
		switch {
		case name == "[Content_Types].xml", name == "mimetype", strings.HasSuffix(name, ".iwa"):
			return nil, &Error{File: file, Message: "expected a text file, an .xlsx workbook or a zip archive of texts, found another kind of document: save the sheet as .xlsx or CSV"}
		case !utf8.ValidString(name):
			return nil, &Error{File: file, Message: fmt.Sprintf("expected file names in UTF-8, found %s", quote(name))}
		case strings.HasSuffix(name, "/"):
			continue
		case f.Flags&1 != 0:
			return nil, &Error{File: inside(file, name), Message: "expected an unencrypted file, found an encrypted one: create the archive without a password"}
		}
		members = append(members, member{name: strings.TrimPrefix(path.Clean("/"+name), "/"), open: f.Open})
	}
	return parseMembers(members, file, lim)
}

// inside returns the name, for messages, of a file in an archive or folder.
func inside(file, name string) string {
	if file == "" {
		return name
	}
	return file + ", " + name
}

// parseMembers reads texts, each a file, in one folder per class or with a table of labels,
// or a set of graphs in TU Dortmund's format. A single file is read as if it were not in an
// archive.
func parseMembers(members []member, file string, lim Limits) (*Table, error) {
	members = slices.DeleteFunc(members, func(m member) bool { return isHidden(m.name) })
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	if set := tuMembers(members); set != nil {
		return parseTU(set, file, lim)
	}
	switch {
	case len(members) == 0:
		return nil, &Error{File: file, Message: "expected texts, found no files"}
	case len(members) > lim.Rows+1: // a table of labels among them
		return nil, &Error{File: file, Message: "expected at most " + Count(lim.Rows, "text"), Err: ErrTooLarge}
	}
	if fault := readMembers(members, file, lim); fault != nil {
		return nil, fault
	}
	if len(members) == 1 {
		return parseText(members[0].text, inside(file, members[0].name), lim)
	}
	table := -1
	for i, m := range members {
		if ext := strings.ToLower(path.Ext(m.name)); ext != ".csv" && ext != ".tsv" {
			continue
		}
		if table >= 0 {
			return nil, &Error{File: file, Message: fmt.Sprintf("expected one table, alone or with the texts that it labels, found %s and %s: take one out of the archive", quote(members[table].name), quote(m.name))}
		}
		table = i
	}
	if table >= 0 {
		labels := members[table]
		return labelledTexts(slices.Delete(members, table, table+1), labels, file, lim)
	}
	return textsInFolders(members, file)
}

// isHidden reports whether a file is one that operating systems add, such as .DS_Store.
func isHidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || part == "__MACOSX" || part == "Thumbs.db" || part == "desktop.ini" {
			return true
		}
	}
	return false
}

// readMembers reads the texts. It limits their total to the size of a file, since the sizes
// declared in an archive cannot be trusted.
func readMembers(members []member, file string, lim Limits) *Error {
	left := lim.Bytes
	for i := range members {
		m := &members[i]
		wrong := func(fault *Error) *Error {
			fault.File = inside(file, m.name)
			return fault
		}
		if i > 0 && m.name == members[i-1].name {
			return wrong(&Error{Message: "expected distinct names, found this one twice"})
		}
		r, err := m.open()
		if err != nil {
			return wrong(&Error{Message: "reading failed: " + strings.TrimPrefix(err.Error(), "zip: ")})
		}
		var b strings.Builder
		n, err := io.Copy(&b, io.LimitReader(r, left+1))
		r.Close()
		switch left -= n; {
		case err != nil:
			return wrong(&Error{Message: "reading failed: " + strings.TrimPrefix(err.Error(), "zip: ")})
		case left < 0:
			return wrong(&Error{Message: fmt.Sprintf("expected at most %s in all files, uncompressed", param.Bytes(lim.Bytes)), Err: ErrTooLarge})
		}
		text, note, fault := decodeText(b.String())
		if fault != nil {
			return wrong(fault)
		}
		m.text, m.note = text, note
	}
	return nil
}

// textTable returns a table of texts without labels.
func textTable(members []member, file string) *Table {
	t := &Table{File: file, Format: "zip", Header: true, Kind: KindStrings, Lines: make([]int, len(members)), members: make([]string, len(members))}
	texts, names := make([]string, len(members)), make([]string, len(members))
	for i, m := range members {
		texts[i], names[i], t.members[i] = m.text, m.name, m.name
		if m.note != "" && !slices.Contains(t.Notes, m.note) {
			t.Notes = append(t.Notes, m.note)
		}
	}
	t.Columns = []Column{column("text", texts), column("file", names)}
	return t
}

// textsInFolders reads texts whose classes are the folders they are in. If there is only one
// folder, they have no labels.
func textsInFolders(members []member, file string) (*Table, error) {
	t := textTable(members, file)
	labels := lists.Map(members, func(m member) string { return path.Base(path.Dir(m.name)) })
	if !slices.ContainsFunc(members, func(m member) bool { return path.Dir(m.name) != path.Dir(members[0].name) }) {
		return t, nil
	}
	if i := slices.Index(labels, "."); i >= 0 {
		return nil, t.fault(i, -1, "expected the file in the folder of its class, found it next to the folders")
	}
	t.Columns = append(t.Columns, column(labelName, labels))
	return t, nil
}

// labelledTexts reads texts whose names and labels are in a table.
func labelledTexts(members []member, table member, file string, lim Limits) (*Table, error) {
	names, err := parseText(table.text, inside(file, table.name), lim)
	if err != nil {
		return nil, err
	}
	place := make(map[string]int) // index of each text, by the names a table may use
	beside := path.Dir(table.name) + "/"
	for i, m := range members {
		for _, name := range []string{m.name, strings.TrimPrefix(m.name, beside)} {
			place[strings.TrimSuffix(name, path.Ext(name))] = i
		}
	}
	for i, m := range members { // a whole name takes precedence over part of another
		place[strings.TrimPrefix(m.name, beside)], place[m.name] = i, i
	}
	if slices.ContainsFunc(names.names(), func(s string) bool { _, ok := place[s]; return ok }) {
		names.headerIsRow()
	}
	// The column with the most file names must have them all; otherwise it has a fault.
	of, most := 0, 0
	for j, c := range names.Columns {
		found := 0
		for _, cell := range c.all() {
			if _, ok := place[cell]; ok {
				found++
			}
		}
		if found > most {
			of, most = j, found
		}
	}
	switch {
	case most == 0:
		return nil, names.fault(-1, -1, "expected a column with the names of the texts, such as %s, found none: to read only the table, take it out of the archive", quote(members[0].name))
	case len(names.Columns) == 1:
		return nil, names.fault(-1, -1, "expected a column of labels next to the names of the texts, found a single column")
	}
	labels := make([]string, len(members))
	rows := make([]int, len(members)) // counted from 1
	others := *names
	others.Columns = slices.Delete(slices.Clone(names.Columns), of, of+1)
	label, _ := others.guessLabel()
	for row, cell := range names.Columns[of].all() {
		i, ok := place[cell]
		switch {
		case !ok:
			return nil, names.fault(row, of, "expected the name of a text, found %s, which does not exist", quote(cell))
		case rows[i] > 0:
			return nil, names.fault(row, of, "expected each text once, found %s also on line %d", quote(cell), names.Lines[rows[i]-1])
		}
		labels[i], rows[i] = others.Columns[label].Cell(row), row+1
	}
	if i := slices.Index(rows, 0); i >= 0 {
		return nil, names.fault(-1, of, "expected a row for each text, found none for %s", quote(members[i].name))
	}
	t := textTable(members, file)
	t.Columns = append(t.Columns, column(labelName, labels))
	return t, nil
}
