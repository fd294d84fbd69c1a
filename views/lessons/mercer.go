package lessons

var mercer = Lesson{
	Slug: "mercer", Title: "Kernels and Mercer's condition",
	Summary: "The Gram matrix as a picture, its eigenvalues, and what goes wrong when they are negative.",
	Screens: []Screen{{Slug: "start", Title: "Kernels and Mercer's condition", Words: mercerStart}},
}
