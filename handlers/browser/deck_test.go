package browser

import (
	"testing"
)

// TestDeck: every page of a lesson's slides to print holds what is on it, with and without the
// answers.
func TestDeck(t *testing.T) {
	p := fresh(t)
	p.size(1280, 720)
	for _, l := range walked() {
		for _, query := range []string{"", "?everything=1"} {
			path := "/lessons/" + l.Slug + "/deck" + query
			p.visit(path)
			beyond := get[[]string](p, `[...document.querySelectorAll(".deck-sheet")].map((sheet) => {
				const box = sheet.querySelector(".deck-body").getBoundingClientRect();
				const out = [...sheet.querySelectorAll(".deck-body *:not(math *)")].find((e) => {
					const b = e.getBoundingClientRect();
					return b.height && (b.bottom > box.bottom + 2 || b.right > box.right + 2);
				});
				return out && sheet.getAttribute("aria-label") + ", " + sheet.className + ": " + sheet.querySelector("h2").textContent + ": " + out.tagName + " " + out.textContent.slice(0, 60);
			}).filter(Boolean)`)
			for _, b := range beyond {
				t.Errorf("%s: %s", path, b)
			}
		}
	}
	p.inspect("deck", "/lessons/margins/deck", p.server.client())
}
