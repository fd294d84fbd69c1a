// Package all is the table of lessons.
package all

import (
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

// Lessons are the lessons in the order in which they are taught.
var Lessons = []lessons.Lesson{
	margins.Lesson,
	lagrange.Lesson,
	hardmargin.Lesson,
	perceptron.Lesson,
	softmargin.Lesson,
	kerneltrick.Lesson,
	mercer.Lesson,
	width.Lesson,
	procedures.Lesson,
	risk.Lesson,
	mcm.Lesson,
	conformal.Lesson,
	eightsteps.Lesson,
	generalisation.Lesson,
	kernelridge.Lesson,
	severalclasses.Lesson,
	stringkernels.Lesson,
	graphkernels.Lesson,
	fisher.Lesson,
}

// Find returns the lesson of a slug, or nil.
func Find(slug string) *lessons.Lesson {
	for i := range Lessons {
		if Lessons[i].Slug == slug {
			return &Lessons[i]
		}
	}
	return nil
}
