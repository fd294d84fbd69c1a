package lessons

import (
	"context"
	"io"
	"math"
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
		left, right := halves(written[last:])
		return write(w, `<div class="ending"><div>`+strings.Join(left, "")+`</div><div>`+strings.Join(right, "")+`</div></div>`)
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

// halves are the first parts and the others, so that both take about as much room.
func halves(parts []string) (left, right []string) {
	best, at, before, all := math.MaxInt, 0, 0, 0
	for _, p := range parts {
		all += room(p)
	}
	for i := 0; i <= len(parts); i++ {
		if higher := max(before, all-before); higher < best {
			best, at = higher, i
		}
		if i < len(parts) {
			before += room(parts[i])
		}
	}
	return parts[:at], parts[at:]
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
