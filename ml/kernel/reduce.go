package kernel

// Reduce folds the expression of k into a value of type T: part converts a kernel of the table,
// number converts a constant, and sum and product combine two values. A kernel that is not combined
// is a single part.
func Reduce[T any](k Kernel, part func(Kernel) T, number func(float64) T, sum, product func(a, b T) T) (T, error) {
	e, err := k.expression()
	if err != nil {
		var none T
		return none, err
	}
	var value func(n node) T
	value = func(n node) T {
		join := sum
		switch n.kind {
		case isPart:
			return part(e.parts[n.part].Kernel)
		case isNumber:
			return number(n.number)
		case isProduct:
			join = product
		}
		all := value(n.of[0])
		for _, m := range n.of[1:] {
			all = join(all, value(m))
		}
		return all
	}
	return value(e.root), nil
}

// Image returns the Fisher score of x, scaled so that the kernel is the inner product of images.
func (f *Fitted) Image(x []float64) []float64 {
	s := fisher.bind(Kernel{Fitted: []Fitted{*f}}).(scores)
	image := make([]float64, s.size(0))
	s.image(image, x)
	return image
}

// Scale returns the factor of each Fisher score: one over its root mean square over the training
// rows, or 0 for a score that is 0 in all of them. It returns nil if scores are not scaled.
func (f *Fitted) Scale() []float64 {
	return fisher.bind(Kernel{Fitted: []Fitted{*f}}).(scores).scale
}
