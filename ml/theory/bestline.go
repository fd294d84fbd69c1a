package theory

import (
	"math"

	"marginlab/ml/param"
)

// BestLine returns a line w·x + b = 0 in the plane with the fewest errors, y_i (w·x_i + b) <= 0,
// and their number, for points in general position with labels y (±1). Every labelling produced
// by a line is produced by one that passes arbitrarily close to two of the points: shift the line
// until it meets a point, then rotate it about that point until it meets another. So it tries all
// pairs, with both points of a pair on their correct sides, which takes O(M³).
//
// Other points on the line through a pair count as errors, so the result may not be optimal if
// many points are collinear. At least two points must differ, and distances must be large
// compared with 1e-6, the offset of the line from the pair.
func BestLine(points [][2]float64, y []float64) (w [2]float64, b float64, errors int, err error) {
	const aside = 1e-6
	if err := checkLabels(y, len(points)); err != nil {
		return w, 0, 0, err
	}
	errors = len(y) + 1
	for i, p := range points {
		if err := checkFinite("coordinate", p[:]); err != nil {
			return w, 0, 0, err
		}
		for j, q := range points[:i] {
			across := [2]float64{q[1] - p[1], p[0] - q[0]}
			length := math.Hypot(across[0], across[1])
			if length == 0 {
				continue
			}
			for _, sign := range []float64{1, -1} {
				u := [2]float64{sign * across[0] / length, sign * across[1] / length}
				wrong := 0
				for k, r := range points {
					if k != i && k != j && y[k]*(u[0]*(r[0]-p[0])+u[1]*(r[1]-p[1])) <= 0 {
						wrong++
					}
				}
				if wrong >= errors {
					continue
				}
				errors = wrong
				from := [2]float64{p[0] - aside*y[i]*u[0], p[1] - aside*y[i]*u[1]}
				to := [2]float64{q[0] - aside*y[j]*u[0], q[1] - aside*y[j]*u[1]}
				w = [2]float64{sign * (to[1] - from[1]), sign * (from[0] - to[0])}
				b = -(w[0]*from[0] + w[1]*from[1])
			}
		}
	}
	if errors > len(y) {
		return w, 0, 0, param.Refuse("use two different points", "all points coincide, so no line is defined")
	}
	return w, b, errors, nil
}
