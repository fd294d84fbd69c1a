package lessons

var perceptron = Lesson{
	Slug: "perceptron", Title: "The perceptron in dual form",
	Summary: "Count mistakes instead of adding vectors: an algorithm that only needs inner products.",
	Screens: []Screen{{Slug: "start", Title: "The perceptron in dual form", Words: perceptronStart}},
}
