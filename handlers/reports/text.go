package reports

import (
	"net/url"
	"regexp"
	"strings"

	"marginlab/views/lessons"
)

// part is a piece of the text of a report: prose in Markdown, or the place of an item.
type part struct {
	prose            string
	caption, address string // of an item
}

// itemLine is a picture of Markdown on a line of its own that has the address of a page, maybe with
// the host before it.
var itemLine = regexp.MustCompile(`^!\[([^\[\]]{0,200})\]\((?:https?://[^/\s()]+)?(/[^\s()]+)\)$`)

// page is the path of a page that can be placed.
var page = regexp.MustCompile(`^/(?:(?:searches|studies)/[a-z0-9]{1,40}|runs/[a-z0-9]{1,40}(?:/figures/[a-z0-9-]{1,60})?|compare)$`)

// split cuts a text into its parts.
func split(text string) (parts []part) {
	var prose []string
	end := func() {
		if p := strings.TrimSpace(strings.Join(prose, "\n")); p != "" {
			parts = append(parts, part{prose: strings.Trim(strings.Join(prose, "\n"), "\n")})
		}
		prose = nil
	}
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		fenced = fenced != strings.HasPrefix(line, "```")
		if found := itemLine.FindStringSubmatch(strings.TrimRight(line, " \t\r")); found != nil && !fenced {
			if address, ok := addressOf(found[2]); ok {
				end()
				parts = append(parts, part{caption: strings.TrimSpace(found[1]), address: address})
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
	if !page.MatchString(path) {
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
