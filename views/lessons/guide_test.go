package lessons

import (
	"testing"

	"marginlab/ml/mltest/require"
)

func TestNewGuide(t *testing.T) {
	t.Parallel()
	l := Lesson{Slug: "kernels", Screens: screens("one", "two")}
	l.Guide = newGuide("- See it\n- Say it\n\n## one, 6 min\n\nDo: Drag.\n\nMisconception: None.\n\n## two, 12 min, spare\nDo: Step.\nMisconception: Many.\n")
	require.NoError(t, l.CheckGuide())
	if g := l.Guide; len(g.Aims) != 2 || g.Aims[1] != "Say it" || g.Minutes() != 18 || g.Short() != 6 || g.Screens[1] != (GuideScreen{"two", 12, true, "Step.", "Many."}) {
		t.Errorf("%+v", g)
	}
	const one, two = "- a\n## one, 6 min\nDo: x\nMisconception: y\n", "## two, 6 min\nDo: x\nMisconception: y\n"
	for text, want := range map[string]string{
		"": "no aims", one: "screen two", "- a\n" + two + one[4:]: "screen one", one + "## two, 6 min\nDo: x\n": "too little of the screen two",
		one + two + "## three, 1 min\n": "has not", one + "## two, six min\nDo: x\nMisconception: y\n": "heading", one + "## two, 40 min\nDo: x\nMisconception: y\n": "46 without", one + two + "Do: more\n": "none of the kind",
	} {
		l.Guide = newGuide(text)
		require.Fails(t, l.CheckGuide(), want, "%q", text)
	}
}
