package lessons

var lagrange = Lesson{
	Slug: "lagrange", Title: "Lagrange multipliers and the KKT conditions",
	Summary: "Minimise under a constraint: four worked examples with a line that can be moved.",
	Screens: []Screen{{Slug: "start", Title: "Lagrange multipliers and the KKT conditions", Words: lagrangeStart}},
}
