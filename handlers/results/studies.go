package results

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/repeat"
	"marginlab/ml/study"
	"marginlab/store"
	"marginlab/views"
)

// Unfinished returns the error for a report item without a result.
func Unfinished(what string) error {
	return param.Problems{{Field: "text", Message: what + " has no result yet; place it in a report once it is done"}}
}

// SearchTask returns the task that repeats a search.
func SearchTask(s store.Search) (t repeat.Task, err error) {
	t = repeat.Task{Title: SearchTitle(s), Points: s.Hash, Search: &repeat.Search{Grid: s.Grid, Drawn: s.Drawn, Scheme: s.Scheme}}
	if s.Result != nil {
		t.Numbers = repeat.OfSearch(s.Result)
	}
	t.Spec, err = json.Marshal(s.Spec)
	return t, err
}

// minus matches the sign of a number, which pages write as a true minus.
var minus = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-(\d)`) })

// StudyTable returns a table of a study for a page.
func StudyTable(t study.Table) views.StudyTable {
	table := views.StudyTable{Title: t.Title, Head: t.Head, Notes: t.Notes}
	for i, row := range t.Rows {
		table.Rows = append(table.Rows, lists.Make(len(row), func(j int) views.StudyText {
			return views.StudyText{Text: minus().ReplaceAllString(row[j], "−$1"), Best: slices.Contains(t.Best, [2]int{i, j})}
		}))
	}
	return table
}

// FileOf returns the file name of a data set.
func FileOf(d store.Dataset) string { return FileName(strings.TrimSuffix(d.Name, ".csv")) + ".csv" }

// StudyTitle describes a comparison.
func StudyTitle(s *study.Study) string {
	return few(lists.Map(s.Learners, func(l study.Learner) string { return l.Name })) + " on " + few(lists.Map(s.Sets, func(s study.Set) string { return s.Name }))
}

// few joins up to three names, and of more the first two and the number of others.
func few(names []string) string {
	if len(names) > 3 {
		names = append(names[:2:2], fmt.Sprintf("%d more", len(names)-2))
	}
	return strings.Join(names, " · ")
}
