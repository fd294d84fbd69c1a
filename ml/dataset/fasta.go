package dataset

import (
	"fmt"
	"strings"
	"unicode"
)

// parseFASTA reads sequences, each below a line of ">", a name and, after a space, its label. Lines
// and spaces within a sequence are joined. Lines that begin with ";" are comments. If no sequence
// has a label, there is no label column.
func parseFASTA(text string, lim Limits) (*Table, *Error) {
	t := &Table{Format: "fasta", Header: true, Kind: KindStrings, first: 1}
	var names, labels, sequences []string
	labelled := false
	var sequence strings.Builder
	end := func() *Error {
		if len(names) == 0 {
			return nil
		}
		if sequence.Len() == 0 {
			return &Error{Line: t.Lines[len(names)-1], Message: fmt.Sprintf("expected a sequence below %s, found nothing", quote(">"+names[len(names)-1]))}
		}
		sequences = append(sequences, sequence.String())
		sequence.Reset()
		return nil
	}
	for line := 1; text != ""; line++ {
		var s string
		s, text = cutLine(text)
		s = strings.TrimSpace(s)
		head, isHead := strings.CutPrefix(s, ">")
		switch {
		case s == "" || s[0] == ';':
		case isHead:
			if fault := end(); fault != nil {
				return nil, fault
			}
			if len(names) == lim.Rows {
				return nil, beyond(line, lim.Rows, "row")
			}
			name, label := strings.TrimSpace(head), ""
			if i := strings.IndexFunc(name, unicode.IsSpace); i >= 0 {
				name, label = name[:i], strings.TrimSpace(name[i:])
			}
			labelled = labelled || label != ""
			names, labels, t.Lines = append(names, name), append(labels, label), append(t.Lines, line)
		case len(names) == 0:
			return nil, &Error{Line: line, Message: "expected a line that begins with > and a name, found " + quote(s)}
		default:
			for part := range strings.FieldsSeq(s) { // some programs write letters in tens
				sequence.WriteString(part)
			}
		}
	}
	if fault := end(); fault != nil {
		return nil, fault
	}
	t.Columns = []Column{column("sequence", sequences), column("name", names)}
	if labelled {
		t.Columns = append(t.Columns, column(labelName, labels))
	}
	return t, noRows(t)
}
