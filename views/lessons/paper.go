package lessons

import (
	"context"
	"io"
	"regexp"
	"strings"

	"github.com/a-h/templ"
)

// A printed page of two columns, in letters; a figure and the end of a paragraph take as much
// room as so many letters.
const (
	pageLetters   = 5300
	figureLetters = 750
	blockLetters  = 40
)

var (
	tags   = regexp.MustCompile(`<[^>]*>`)
	blocks = regexp.MustCompile(`<(?:p|li|dd|h2|h3|tr|figcaption)\b`)
)

// columns puts parts under one another, on paper in two columns. The last of them that take a
// third of a page stay together there, so that no last page is nearly empty.
func columns(parts ...templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		written := make([]string, len(parts))
		for i, p := range parts {
			var b strings.Builder
			if err := p.Render(ctx, &b); err != nil {
				return err
			}
			written[i] = b.String()
		}
		last := ending(written)
		if last > 0 {
			if err := write(w, `<div class="columns">`+strings.Join(written[:last], "")+`</div>`); err != nil {
				return err
			}
		}
		return write(w, `<div class="columns ending">`+strings.Join(written[last:], "")+`</div>`)
	})
}

// ending is where the last parts begin that take a third of a page.
func ending(parts []string) int {
	last, letters := len(parts), 0
	for last > 0 && letters < pageLetters*2/5 { // some more, for the room is estimated
		last--
		letters += room(parts[last])
	}
	return last
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
