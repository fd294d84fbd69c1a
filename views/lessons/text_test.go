package lessons

import (
	"strings"
	"testing"
)

// TestHints: the spoken form of a text includes its hints, without marks.
func TestHints(t *testing.T) {
	t.Parallel()
	const text = "The *probe*. ~Drag $x$.~"
	if got := Spoken(text); got != "The probe. Drag x." {
		t.Errorf("spoken: %q", got)
	}
	if got := Printed(text); got != "The *probe*." {
		t.Errorf("printed: %q", got)
	}
	if got := Printed("~All of it.~"); got != "" {
		t.Errorf("a hint printed: %q", got)
	}
	if got, err := rendered(t, Text(Literal("a~b"))); err != nil || strings.Contains(got, "~") {
		t.Errorf("a name: %q, %v", got, err)
	}
}
