package reports

import (
	"net/url"
	"regexp"
	"strings"
	"sync"

	"marginlab/store"
	"marginlab/views/lessons"
)

// part is a piece of the text of a report: prose in Markdown, or the place of an item.
type part struct {
	prose            string
	caption, address string // of an item
}

// itemLine is a picture of Markdown on a line of its own that has the address of a page, maybe with
// the host before it.
var itemLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^!\[([^\[\]]{0,200})\]\((?:https?://[^/\s()]+)?(/[^\s()]+)\)$`)
})

// page is the path of a page that can be placed.
var page = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/(?:(?:searches|studies)/[a-z0-9]{1,40}|runs/[a-z0-9]{1,40}(?:/figures/[a-z0-9-]{1,60})?|compare)$`)
})

// fence returns the mark of a line that may open or close a block of code, and what follows it.
func fence(line string) (mark, rest string) {
	inner := strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		rest = strings.TrimLeft(inner, c)
		if mark = inner[:len(inner)-len(rest)]; len(mark) >= 3 && len(line)-len(inner) < 4 {
			return mark, strings.TrimSpace(rest)
		}
	}
	return "", ""
}

// split cuts a text into its parts: one item more than there may be at most, so that it shows.
func split(text string) (parts []part) {
	var prose []string
	end := func() {
		if p := strings.TrimSpace(strings.Join(prose, "\n")); p != "" {
			parts = append(parts, part{prose: strings.Trim(strings.Join(prose, "\n"), "\n")})
		}
		prose = nil
	}
	open, items := "", 0 // the mark of a block of code
	for line := range strings.SplitSeq(text, "\n") {
		switch mark, rest := fence(line); {
		case mark == "":
		case open == "" && !strings.Contains(rest, "`"):
			open = mark
		case open != "" && strings.HasPrefix(mark, open) && rest == "":
			open = ""
		}
		if found := itemLine().FindStringSubmatch(strings.TrimRight(line, " \t\r")); found != nil && open == "" && items <= store.MaxReportItems {
			if address, ok := addressOf(found[2]); ok {
				end()
				parts = append(parts, part{caption: strings.TrimSpace(found[1]), address: address})
				items++
				continue
			}
		}
		prose = append(prose, line)
	}
	end()
	return parts
}

// addressOf returns the address of a page without what does not change an item, and reports whether
// it can be placed.
func addressOf(text string) (string, bool) {
	u, err := url.Parse(text)
	if err != nil || len(text) > 2000 {
		return "", false
	}
	path, figure, isFigure := strings.Cut(u.Path, "/figures/")
	if isFigure {
		figure, _, _ = strings.Cut(figure, ".")
		path += "/figures/" + figure
	}
	if !page().MatchString(path) {
		return "", false
	}
	if path != "/compare" {
		return path, true
	}
	q, kept := u.Query(), url.Values{}
	for _, key := range []string{"run", "base", "folds", "draw"} {
		if q.Has(key) {
			kept[key] = q[key]
		}
	}
	return path + "?" + kept.Encode(), len(kept["run"]) > 1
}

// placed is the line that places an item.
func placed(caption, address string) string {
	return "![" + strings.NewReplacer("[", "(", "]", ")", "\n", " ").Replace(caption) + "](" + address + ")"
}

// check returns what is wrong with the prose of a text, nil if nothing is.
func check(parts []part) error {
	for _, p := range parts {
		if _, err := lessons.Prose(p.prose); err != nil {
			return err
		}
	}
	return nil
}
