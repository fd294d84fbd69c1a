package store

import (
	"slices"
	"strings"
	"unicode/utf8"

	"marginlab/ml/param"
)

// Lengths in characters.
const (
	maxName = 120
	maxNote = 10_000
	maxTag  = 40
	maxTags = 20
)

// oneLine returns s as one line of valid UTF-8, with single spaces and no control characters.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

// required adds a problem if text is empty or too long.
func required(ps *param.Problems, field, text string, most int) string {
	if text == "" {
		ps.Add(field, "Give a %s of 1 to %d characters.", field, most)
	}
	return limited(ps, field, text, most)
}

// limited adds a problem if text is too long.
func limited(ps *param.Problems, field, text string, most int) string {
	if n := utf8.RuneCountInString(text); n > most {
		ps.Add(field, "The %s has %d characters; at most %d are allowed.", field, n, most)
	}
	return text
}

// cleanNote normalises a note, keeping its line breaks.
func cleanNote(ps *param.Problems, note string) string {
	note = strings.ReplaceAll(strings.ToValidUTF8(note, "\uFFFD"), "\r\n", "\n")
	note = strings.ReplaceAll(note, "\x00", "")
	return limited(ps, "note", strings.TrimSpace(note), maxNote)
}

// cleanTags normalises tags, dropping empty and repeated ones.
func cleanTags(ps *param.Problems, tags []string) []string {
	clean := []string{}
	for _, t := range tags {
		if t = oneLine(t); t != "" && !slices.Contains(clean, t) {
			clean = append(clean, t)
		}
	}
	if len(clean) > maxTags {
		ps.Add("tags", "A run can have at most %d tags, not %d.", maxTags, len(clean))
	}
	for _, t := range clean {
		if n := utf8.RuneCountInString(t); n > maxTag {
			ps.Add("tags", "A tag has at most %d characters; this one has %d: %.*s…", maxTag, n, maxTag, t)
		}
	}
	return clean
}
