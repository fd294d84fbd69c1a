package lessons

var width = Lesson{
	Slug: "width", Title: "The width of the Gaussian kernel",
	Summary: "From the identity matrix to all ones: overfitting, underfitting and what lies between.",
	Screens: []Screen{{Slug: "start", Title: "The width of the Gaussian kernel", Words: widthStart}},
}
