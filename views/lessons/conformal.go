package lessons

var conformal = Lesson{
	Slug: "conformal", Title: "Kernel optimisation",
	Summary: "Magnify where the classes meet: the conformal factor and three ways to choose it.",
	Screens: []Screen{{Slug: "start", Title: "Kernel optimisation", Words: conformalStart}},
}
