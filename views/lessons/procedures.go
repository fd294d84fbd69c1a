package lessons

var procedures = Lesson{
	Slug: "procedures", Title: "Learning procedures",
	Summary: "Sub-gradients, naive ascent, chunking and SMO on the same points, one step at a time.",
	Screens: []Screen{{Slug: "start", Title: "Learning procedures", Words: proceduresStart}},
}
