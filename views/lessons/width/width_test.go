package width

import (
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// The first curve ends at 0 but is not monotone, as slack is not a number of errors.
func TestTrainingError(t *testing.T) {
	t.Parallel()
	_, train, fresh := errors(t.Context(), curvesC.Default, 1)
	rises := 0
	for i := 1; i < len(train); i++ {
		if train[i] > train[i-1]+1e-9 {
			rises++
		}
	}
	end := len(train) - 1
	require.Check(t, train[end] == 0 && train[0] >= 0.2 && rises != 0 && fresh[end] >= 0.2, "training %v, %d rises, new points %v", train, rises, fresh)
	// The caption says that the curves diverge only if they do.
	for c, want := range map[string]bool{"0.01": false, "10": true, "1000": true} {
		_, train, fresh := errors(t.Context(), c, 1)
		require.Check(t, parted(train, fresh) == want, "C = %s: the curves part: %t", c, !want)
	}
}

// The cells with the smallest error are highlighted; if there are several, the note names all.
func TestChoiceTellsTies(t *testing.T) {
	t.Parallel()
	ties := 0
	for _, seed := range []string{"1", "2", "3", "4"} {
		e := lessonstest.Show(t, Lesson(), "choice", choiceSeed.Name, seed)
		off := 0
		for i, row := range e.Tables[0].Rows {
			for j, cell := range row[1:] {
				if !strings.HasPrefix(cell, "*") {
					continue
				}
				off++
				pair := "C = " + lessons.Setting(gridCs[i]) + ", γ = " + lessons.Setting(gridGammas[j])
				require.Check(t, pair == lessonstest.Number(t, e, "best pair") || strings.Contains(e.After[1], pair),
					"draw %s: %s is as good and not named: %s", seed, pair, e.After[1])
			}
		}
		require.Check(t, off != 0 && off > 1 == strings.HasPrefix(e.After[1], "A tie"),
			"draw %s: %d cells are set off; %s", seed, off, e.After[1])
		if off > 1 {
			ties++
		}
	}
	e := lessonstest.Show(t, Lesson(), "choice", "column", "3", "row", "3")
	require.Check(t, strings.Contains(e.Notes[0], "C = 10, γ = 0.1"), "the third cell of the third row is %s", e.Notes[0])
	choice, _ := Lesson().Screen("choice")
	ask := choice.Question("flattered").Ask
	got := lessonstest.Number(t, lessonstest.Show(t, Lesson(), "choice"), "its cross-validated error")
	require.Check(t, got == "9.0 %" && strings.Contains(ask, "shown at first errs on 9 %"), "the best cell errs on %s; the question: %s", got, ask)
	require.Check(t, ties != 0, "no draw has a tie: nothing was tested")
}
