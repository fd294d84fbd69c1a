package lessons

import (
	"context"
	"io"
	"regexp"
	"strings"

	"github.com/a-h/templ"
)

// A printed page of two columns of small type, in letters; a figure and the end of a paragraph
// take as much room as so many letters.
const (
	pageLetters   = 6300
	figureLetters = 800
	blockLetters  = 40
)

// What is left of a page below a title, and at least below the cut of a handout, where its
// answers begin. Some is kept back, as the room is estimated, and more where unbreakable
// pictures leave gaps.
const (
	belowGuide   = 0.9
	belowAnswers = 0.74
	belowCut     = 0.25
)

var (
	tags   = regexp.MustCompile(`<[^>]*>`)
	blocks = regexp.MustCompile(`<(?:p|li|dd|h2|h3|tr|figcaption)\b`)
)

// columns puts parts under one another, on paper in two columns. Where they may not fit into
// what is left of the page, a share of it, the last of them that take a third of one stay
// together: no last page is nearly empty then.
func columns(left float64, parts ...templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		written := make([]string, len(parts))
		for i, p := range parts {
			var b strings.Builder
			if err := p.Render(ctx, &b); err != nil {
				return err
			}
			written[i] = b.String()
		}
		last := ending(written, left)
		if last > 0 { // an empty block would part the heading from what follows
			if err := write(w, `<div class="columns">`+strings.Join(written[:last], "")+`</div>`); err != nil {
				return err
			}
		}
		if last == len(parts) {
			return nil
		}
		return write(w, `<div class="columns ending">`+strings.Join(written[last:], "")+`</div>`)
	})
}

// ending is where the last parts begin that take about a third of a page, past them all where they
// fit into what is left of one.
func ending(parts []string, left float64) int {
	all, at := 0, len(parts)
	for i := len(parts) - 1; i >= 0; i-- {
		part := room(parts[i])
		if all+part/2 < pageLetters*3/8 {
			at = i
		}
		all += part
	}
	if float64(all) < left*pageLetters {
		return len(parts)
	}
	return at
}

// room is how much of a page HTML takes, in letters.
func room(html string) int {
	return len([]rune(tags.ReplaceAllString(html, ""))) + figureLetters*strings.Count(html, "<img") + blockLetters*len(blocks.FindAllString(html, -1))
}

// each is a component of every item.
func each[T any](items []T, component func(T) templ.Component) []templ.Component {
	all := make([]templ.Component, len(items))
	for i, item := range items {
		all[i] = component(item)
	}
	return all
}
