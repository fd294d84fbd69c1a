package lessons

var kerneltrick = Lesson{
	Slug: "kernel-trick", Title: "Feature spaces and the kernel trick",
	Summary: "XOR by hand in six dimensions, bumps that lift a ring, and inner products without the features.",
	Screens: []Screen{{Slug: "start", Title: "Feature spaces and the kernel trick", Words: kerneltrickStart}},
}
