package figure

import (
	"cmp"
	"fmt"
	"strings"

	"marginlab/ml"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Caption describes a scene in a few sentences as a text alternative: axes, classes, boundary,
// support vectors, errors. It does not evaluate the model, so it costs little more than reading the
// points.
func Caption(s Scene) string {
	if s.Values {
		return s.valueCaption("f(x)")
	}
	var b strings.Builder
	subject := "Points"
	if m := s.Model; m != nil {
		subject = "Regions of " + strings.Join(lists.Map(m.Classes, param.ClassText), ", ")
		if s.sides() {
			positive, negative := m.Sides(0)
			subject = fmt.Sprintf("Decision boundary between %s and %s", param.ClassText(positive), param.ClassText(negative))
		} else if r, ok := lists.Find(ml.Rules, func(r ml.RuleEntry) bool { return r.Name == m.Rule }); ok {
			subject += ", " + r.Label
		}
		subject += ", " + kernelLabel(m) + " kernel"
		switch maps := lists.Count(m.Machines, func(machine ml.Machine) bool { return machine.Map != nil }); {
		case maps == 1 && len(m.Machines) == 1:
			subject += " with a conformal map"
		case maps > 0:
			subject += fmt.Sprintf(" with %s", plural(maps, "conformal map"))
		}
	}
	b.WriteString(subject)
	if l := s.View.Labels; l[0] != "" && l[1] != "" {
		fmt.Fprintf(&b, ", over %s and %s", l[0], l[1])
	}
	b.WriteString(".")

	type tally struct{ n, wrong int }
	var train, held tally
	classes, order := map[string]int{}, s.Classes
	roles := map[ml.Role]int{}
	for _, p := range s.Points {
		if classes[p.Label]++; classes[p.Label] == 1 && s.Classes == nil {
			order = append(order, p.Label)
		}
		roles[p.Role]++
		t := lists.Either(p.HeldOut, &held, &train)
		t.n++
		t.wrong += btoi(p.Wrong)
	}
	if n := len(s.Points); n > 0 {
		parts := lists.Map(order, func(c string) string { return fmt.Sprintf("%d of class %s", classes[c], param.ClassText(c)) })
		fmt.Fprintf(&b, " %s: %s.", plural(n, "point"), strings.Join(parts, ", "))
	}
	if s.Model != nil && len(s.Points) > 0 {
		if roles[ml.Weighted] > 0 {
			b.WriteString(" Every training point has a weight")
		} else {
			sv := roles[ml.Free] + roles[ml.Inside] + roles[ml.Misclassified] + roles[ml.Support]
			fmt.Fprintf(&b, " %s", plural(sv, "support vector"))
			if sv > roles[ml.Support] {
				fmt.Fprintf(&b, ": %d on the margin, %d inside it, %d misclassified", roles[ml.Free], roles[ml.Inside], roles[ml.Misclassified])
			}
		}
		where := lists.Either(s.sides(), "on the wrong side", "misclassified")
		fmt.Fprintf(&b, ". %d of %s %s", train.wrong, plural(train.n, "training point"), where)
		if held.n > 0 {
			fmt.Fprintf(&b, ", %d of %s", held.wrong, plural(held.n, "held-out point"))
		}
		b.WriteString(".")
	}
	if t := s.thin(); t.inView < len(s.Points) {
		fmt.Fprintf(&b, " In view: %d of them.", t.inView)
	}
	if note := s.note(); note != "" {
		b.WriteString(" " + note)
	}
	return b.String()
}

// titled returns words, followed by a colon and the name if there is one.
func titled(words, name string) string {
	if name == "" {
		return words
	}
	return words + ": " + name
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// kernelLabel returns the label of a model's kernel, its name if it is unknown.
func kernelLabel(m *ml.Model) string {
	row, _ := kernel.Lookup(m.Kernel.Name)
	return cmp.Or(row.Label, m.Kernel.Name)
}
