package reports

import (
	"net/url"
	"regexp"
	"strings"
	"sync"

	"marginlab/store"
)

// part is a piece of a report's text: Markdown prose, or an item.
type part struct {
	prose            string
	caption, address string // of an item
}

// itemLine matches a Markdown image on its own line with the URL of a page, with or without the
// host.
var itemLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^!\[([^\[\]]{0,200})\]\((?:https?://[^/\s()]+)?(/[^\s()]+)\)$`)
})

// page matches the paths of pages that can be items.
var page = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/(?:(?:searches|studies)/[a-z0-9]{1,40}|runs/[a-z0-9]{1,40}(?:/figures/[a-z0-9-]{1,60})?|compare)$`)
})

// fence returns the marker of a line that may open or close a code block, and the rest of the line.
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

// split splits a text into parts, with up to one item above the limit, to detect an excess.
func split(text string) (parts []part) {
	var prose []string
	end := func() {
		if p := strings.TrimSpace(strings.Join(prose, "\n")); p != "" {
			parts = append(parts, part{prose: strings.Trim(strings.Join(prose, "\n"), "\n")})
		}
		prose = nil
	}
	open, items := "", 0 // marker of the open code block
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

// addressOf returns the URL of a page without parameters that do not affect an item, and reports
// whether it can be an item.
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

// placed returns the line that inserts an item.
func placed(caption, address string) string {
	return "![" + strings.NewReplacer("[", "(", "]", ")", "\n", " ").Replace(caption) + "](" + address + ")"
}
