package lessons

var hardmargin = Lesson{
	Slug: "hard-margin", Title: "The hard margin: primal, dual, support vectors",
	Summary: "The widest margin as a quadratic programme, its dual, and why only a few points matter.",
	Screens: []Screen{{Slug: "start", Title: "The hard margin: primal, dual, support vectors", Words: hardmarginStart}},
}
