package lessons

var mcm = Lesson{
	Slug: "mcm", Title: "The minimal complexity machine",
	Summary: "From the ratio of radius and margin to a linear programme, one step at a time.",
	Screens: []Screen{{Slug: "start", Title: "The minimal complexity machine", Words: mcmStart}},
}
