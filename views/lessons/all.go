package lessons

// All lists the lessons in the order in which they are taught.
var All = []Lesson{
	margins,
	lagrange,
	hardmargin,
	perceptron,
	softmargin,
	kerneltrick,
	mercer,
	width,
	procedures,
	risk,
	mcm,
	conformal,
	eightsteps,
	generalisation,
}
