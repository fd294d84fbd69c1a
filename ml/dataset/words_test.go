package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mltest/require"
)

// TestWordsAsFeatures reads columns of words as columns of 0 and 1, whose meaning the names
// say, so that another file, with its words in another order and new ones, is read alike.
func TestWordsAsFeatures(t *testing.T) {
	t.Parallel()
	const file = "colour,sex,age,class\nred,m,30,A\ngreen,f,25,B\nblue,f,41,A\nred,,28,B\n"
	for missing, want := range map[Missing][]float64{
		MissingDrop:   {0, 0, 1, 1, 30, 0, 1, 0, 0, 25, 1, 0, 0, 0, 41},
		MissingMedian: {0, 0, 1, 1, 30, 0, 1, 0, 0, 25, 1, 0, 0, 0, 41, 0, 0, 1, 0, 28},
	} {
		d := require.Value(Read(strings.NewReader(file), "f", Mapping{Features: []string{"colour", "SEX", "age"}, Missing: missing}, Limits{}))(t)
		require.Equal(t, cmp.Diff([]string{"colour=blue", "colour=green", "colour=red", "sex=m", "age"}, d.Features), "", "features (-want +got)")
		require.Equal(t, cmp.Diff(want, d.X.RawMatrix().Data), "", "%s: values (-want +got)", missing)
		notes := strings.Join(d.Notes, "; ")
		for _, says := range []string{`"colour" one-hot encoded in 3 columns`, `"sex" encoded as 0 and 1, "sex=m"`} {
			require.Check(t, strings.Contains(notes, says), "%q is not said: %s", says, notes)
		}
		fills := strings.Contains(notes, "1 missing value filled with the column's most common word (sex)")
		require.Check(t, fills == (missing == MissingMedian), "%s: notes %s", missing, notes)
	}

	other := require.Value(ParseTable(strings.NewReader("age,sex,colour\n1,f,pink\n2,m,red\n"), "g", Limits{}))(t)
	names := []string{"colour=red", "sex=m", "age"}
	require.Equal(t, len(other.AddIndicators(names)), 0, "notes")
	x := require.Value(other.Matrix(names))(t)
	want := mat.NewDense(2, 3, []float64{0, 0, 1, 1, 1, 2})
	require.Check(t, mat.Equal(x, want), "another file: %v, want %v", mat.Formatted(x), mat.Formatted(want))
}

// Words that the training set does not have are noted; of two words, one is no feature.
func TestWordsOfOtherFiles(t *testing.T) {
	t.Parallel()
	table := require.Value(ParseTable(strings.NewReader("colour,sex,old\nred,f,no\npink,m,yes\nblue,d,no\n"), "f", Limits{}))(t)
	notes := table.AddIndicators([]string{"colour=blue", "colour=green", "colour=red", "sex=m", "old=yes"})
	require.Equal(t, strings.Join(notes, "; "), `"colour": not in the training set, so read as none of its words: pink; "sex": two words in the training set; d, f read as one`, "notes")
	// A feature is a column of its name, even one with "=", before it is a word of a column.
	for feature, want := range map[string]string{"a=b": "a=b", "a=c": "a", "a=b=c": "a", "k=v=w": "k=v", "x": "", "x=1": "", "=": ""} {
		got := ColumnOf(feature, func(column string) bool { return slices.Contains([]string{"a", "a=b", "k=v"}, column) })
		require.Equal(t, got, want, "%s", feature)
	}
	// Words and names that differ only by case have features of their own.
	for file, want := range map[string]string{
		"w,x,class\nM,1,a\nm,2,b\nf,3,a\n": "[w=M w=f w=m x] [1 0 0 1 0 0 1 2 0 1 0 3]",
		"W,w,class\nr,u,a\ns,s,b\nr,s,a\n": "[W=s w=u] [0 1 1 0 0 0]",
	} {
		table := require.Value(ParseTable(strings.NewReader(file), "f", Limits{}))(t)
		d := require.Value(table.Data(Mapping{Label: "class", Features: table.names()[:len(table.Columns)-1]}))(t)
		require.Equal(t, fmt.Sprint(d.Features, d.X.RawMatrix().Data), want, "%s", file)
		table.AddIndicators(d.Features)
		require.Check(t, mat.Equal(require.Value(table.Matrix(d.Features))(t), d.X), "%s: rows to predict are read otherwise", file)
	}
}

// What cannot be features is named with its place, a missing word asked about like a number.
func TestWordsRefused(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	many.WriteString("x,name,class\n")
	for i := range 60 {
		fmt.Fprintf(&many, "%d,name%d,%c\n", i, i%21, 'A'+i%2)
	}
	for _, c := range []struct {
		name, file string
		features   []string
		lim        Limits
		want       string
	}{
		{"too many words", many.String(), []string{"x", "name"}, Limits{}, `f, line 2, column 2 (name): expected a number, found "name0": choose feature columns without this one`},
		{"one word", "x,w,class\n1,a,A\n2,a,B\n", []string{"x", "w"}, Limits{}, `f, line 2, column 2 (w): expected a number, found "a": choose feature columns without this one`},
		{"dates", "x,d,class\n1,2024-01-02,A\n2,2024-01-03,B\n", []string{"d"}, Limits{}, `f, line 2, column 2 (d): expected a number, found the date or time "2024-01-02": choose feature columns without this one`},
		{"missing", "x,w,class\n1,a,A\n2,,B\n3,b,B\n", []string{"x", "w"}, Limits{}, `f, line 3, column 2 (w): expected a number, found nothing: choose how to handle missing values (missing: drop or median), or remove the row`},
		{"the label", "x,class\n1,A\n2,B\n", []string{"x", "class"}, Limits{}, `f, column 2 (class): is the label and cannot be a feature as well`},
		{"twice", "w,x,class\na,1,A\nb,2,B\n", []string{"w", "x", "w"}, Limits{}, `f, column 1 (w): chosen as a feature twice`},
		{"more features than may be", "w,class\na,A\nb,B\nc,A\nd,B\n", []string{"w"}, Limits{Columns: 4}, `f: expected at most 3 features and 5242881 values after one-hot encoding, found 4 and 16: choose fewer columns of words`},
	} {
		_, err := Read(strings.NewReader(c.file), "f", Mapping{Label: "class", Features: c.features}, c.lim)
		var fault *Error
		require.Check(t, errors.As(err, &fault) && strings.HasPrefix(fault.Error(), c.want),
			"%s: %v, want %s", c.name, err, c.want)
	}
}

// Features that are open are all columns or those that are proposed, for the label that is chosen.
func TestProposed(t *testing.T) {
	t.Parallel()
	const file = "when,x,smoker,name,group,label\n2026-01-01,1,TRUE,Ann,0,a\n2026-01-02,2,FALSE,Bob,1,b\n2026-01-03,4,TRUE,Cid,1,a\n"
	for _, c := range []struct {
		m    Mapping
		want []string
	}{
		{Mapping{Proposed: true}, []string{"x", "smoker=TRUE", "group"}},
		{Mapping{Proposed: true, Label: "group"}, []string{"x", "smoker=TRUE"}},
		{Mapping{Proposed: true, Features: []string{"group"}}, []string{"group"}},
		{Mapping{Proposed: true, Kind: KindStrings, Features: []string{"name"}}, nil},
	} {
		d, err := Read(strings.NewReader(file), "f", c.m, Limits{})
		if err != nil {
			t.Errorf("%+v: %v", c.m, err)
		} else if !slices.Equal(d.Features, c.want) {
			t.Errorf("%+v: %v, want %v", c.m, d.Features, c.want)
		}
	}
	require.Fails(t, require.Err(Read(strings.NewReader(file), "f", Mapping{}, Limits{})), "", "dates are taken for features")
}
