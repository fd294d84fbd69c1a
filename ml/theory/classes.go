package theory

import "math"

// ClassSlacks returns the slacks of a point of class y with scores f, one per class (SVM notes
// 16.3):
//
//	each[c] = max(0, 1 - f_y + f_c)  for every wrong class c,  each[y] = 0.
//
// The Weston-Watkins machine penalises their sum, the Crammer-Singer machine the largest. The
// notes mix the two: their constraint has one slack per point, xi_n, their objective one per
// wrong class, xi_nj.
//
// Both are upper bounds on the 0/1 loss: if a wrong class reaches f_y, both are at least 1.
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

// ClassWork is the size of the problems that a multi-class method solves for n points in k
// equally large classes.
type ClassWork struct {
	Problems  int     // trained separately
	Variables float64 // dual variables of all problems
	Largest   float64 // variables of the largest problem
	Products  float64 // sum over the problems of (points)², the entries of their kernel matrices, in units of n²
}

// MulticlassWork compares one-vs-rest, one-vs-one and the joint machines (SVM notes 16.2 and
// 16.3): a binary dual has a variable per point, a joint one a variable per point and wrong
// class, with one matrix of all points.
func MulticlassWork(n, k int) (rest, pairs, joint ClassWork) {
	points, classes := float64(n), float64(k)
	rest = ClassWork{Problems: k, Variables: classes * points, Largest: points, Products: classes}
	pair := 2 / classes // fraction of the points
	count := k * (k - 1) / 2
	pairs = ClassWork{Problems: count, Variables: float64(count) * pair * points, Largest: pair * points, Products: float64(count) * pair * pair}
	joint = ClassWork{Problems: 1, Variables: points * (classes - 1), Largest: points * (classes - 1), Products: 1}
	return rest, pairs, joint
}
