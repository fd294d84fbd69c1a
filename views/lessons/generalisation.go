package lessons

var generalisation = Lesson{
	Slug: "generalisation", Title: "Generalisation and fewer support vectors",
	Summary: "What the bounds say, what is measured, and what fewer support vectors do not prove.",
	Screens: []Screen{{Slug: "start", Title: "Generalisation and fewer support vectors", Words: generalisationStart}},
}
