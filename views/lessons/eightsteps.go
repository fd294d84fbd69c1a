package lessons

var eightsteps = Lesson{
	Slug: "eight-steps", Title: "The conformal MCM in eight steps",
	Summary: "The whole procedure on any data set, one step a screen.",
	Screens: []Screen{{Slug: "start", Title: "The conformal MCM in eight steps", Words: eightstepsStart}},
}
