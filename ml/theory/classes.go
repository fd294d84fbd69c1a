package theory

import "math"

// ClassSlacks are the slacks of a point of class y whose scores are f, one for every class
// (SVM notes 16.3):
//
//	each[c] = max(0, 1 - f_y + f_c)  for every wrong class c,  each[y] = 0.
//
// The machine of Weston and Watkins pays for their sum, that of Crammer and Singer for the
// largest. The notes mix the two: their constraint has one slack for a point, xi_n, their
// objective one for every wrong class, xi_nj.
//
// Either is an upper bound of the 0/1 loss: where a wrong class reaches f_y, both are 1 or
// more.
func ClassSlacks(f []float64, y int) (each []float64, sum, largest float64) {
	each = make([]float64, len(f))
	for c := range f {
		if c != y {
			each[c] = Hinge(f[y] - f[c])
			sum += each[c]
			largest = math.Max(largest, each[c])
		}
	}
	return each, sum, largest
}

// ClassWork is the size of the problems that a way to tell k classes apart solves for n
// points of k equally large classes.
type ClassWork struct {
	Problems  int     // trained each by itself
	Variables float64 // of the dual, of all problems together
	Largest   float64 // variables of the largest problem
	Products  float64 // sum over the problems of (points)², in units of n²: their kernel matrices
}

// MulticlassWork compares one against the rest, one against one, and the machines that
// learn all classes at once (SVM notes 16.2 and 16.3): a binary dual has a variable for
// every point, a joint one for every point and wrong class, over one matrix of all points.
func MulticlassWork(n, k int) (rest, pairs, joint ClassWork) {
	points, classes := float64(n), float64(k)
	rest = ClassWork{Problems: k, Variables: classes * points, Largest: points, Products: classes}
	pair := 2 / classes // share of the points
	count := k * (k - 1) / 2
	pairs = ClassWork{Problems: count, Variables: float64(count) * pair * points, Largest: pair * points, Products: float64(count) * pair * pair}
	joint = ClassWork{Problems: 1, Variables: points * (classes - 1), Largest: points * (classes - 1), Products: 1}
	return rest, pairs, joint
}
