package lessons

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// DeckBuilds returns the text of a screen as pages of a printed slide, each with one build more. A
// build is a block or list item with the formulas that follow it; a heading belongs to what
// follows.
func DeckBuilds(html string) (pages []string) {
	var done strings.Builder
	blocks := slices.DeleteFunc(elements(html), func(b string) bool { return strings.HasPrefix(b, `<p class="on-screen"`) })
	for i, b := range blocks {
		open, inner, end := "", []string{b}, ""
		if name := tagName(b); name == "ul" || name == "ol" {
			at, to := strings.IndexByte(b, '>')+1, strings.LastIndex(b, "</")
			open, inner, end = b[:at], elements(b[at:to]), b[to:]
		}
		done.WriteString(open)
		for _, item := range inner {
			done.WriteString(item)
			if n := tagName(item); n == "math" && len(pages) > 0 && open == "" {
				pages[len(pages)-1] = done.String()
			} else if !strings.HasPrefix(n, "h") || i == len(blocks)-1 {
				pages = append(pages, done.String()+end)
			}
		}
		done.WriteString(end)
	}
	return pages
}

var tag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9]*)[^>]*>`) })

// elements splits well-formed HTML without void elements into those at its top.
func elements(html string) (list []string) {
	depth, from := 0, 0
	for _, at := range tag().FindAllStringSubmatchIndex(html, -1) {
		switch {
		case at[3] > at[2]: // closes
			if depth--; depth == 0 {
				list = append(list, html[from:at[1]])
			}
		case html[at[1]-2] == '/':
		default:
			if depth++; depth == 1 {
				from = at[0]
			}
		}
	}
	return list
}

func tagName(element string) string {
	if at := tag().FindStringSubmatch(element); at != nil {
		return at[2]
	}
	return ""
}
