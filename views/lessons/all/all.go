// Package all lists the lessons.
package all

import (
	"slices"
	"sync"

	"marginlab/views/lessons"
	"marginlab/views/lessons/conformal"
	"marginlab/views/lessons/eightsteps"
	"marginlab/views/lessons/fisher"
	"marginlab/views/lessons/generalisation"
	"marginlab/views/lessons/graphkernels"
	"marginlab/views/lessons/hardmargin"
	"marginlab/views/lessons/kernelridge"
	"marginlab/views/lessons/kerneltrick"
	"marginlab/views/lessons/lagrange"
	"marginlab/views/lessons/margins"
	"marginlab/views/lessons/mcm"
	"marginlab/views/lessons/mercer"
	"marginlab/views/lessons/perceptron"
	"marginlab/views/lessons/procedures"
	"marginlab/views/lessons/risk"
	"marginlab/views/lessons/severalclasses"
	"marginlab/views/lessons/softmargin"
	"marginlab/views/lessons/stringkernels"
	"marginlab/views/lessons/width"
)

// Lessons returns the lessons in teaching order, grouped by part of the course. They are built on
// the first call.
var Lessons = sync.OnceValue(func() []lessons.Lesson {
	return slices.Concat(
		part("Lines", margins.Lesson, lagrange.Lesson, hardmargin.Lesson, perceptron.Lesson, softmargin.Lesson),
		part("Kernels", kerneltrick.Lesson, mercer.Lesson, width.Lesson, procedures.Lesson),
		part("Capacity", risk.Lesson, mcm.Lesson, conformal.Lesson, eightsteps.Lesson),
		part("Other tasks", kernelridge.Lesson, severalclasses.Lesson),
		part("Beyond vectors", stringkernels.Lesson, graphkernels.Lesson, fisher.Lesson),
		part("Taking stock", generalisation.Lesson),
	)
})

// part assigns lessons to a part of the course.
func part(name string, ls ...func() *lessons.Lesson) (all []lessons.Lesson) {
	for _, lesson := range ls {
		l := lesson()
		l.Part = name
		all = append(all, *l)
	}
	return all
}

// Find returns the lesson with the given slug, or nil.
func Find(slug string) *lessons.Lesson {
	ls := Lessons()
	if i := slices.IndexFunc(ls, func(l lessons.Lesson) bool { return l.Slug == slug }); i >= 0 {
		return &ls[i]
	}
	return nil
}
