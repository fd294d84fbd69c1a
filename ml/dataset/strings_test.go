package dataset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"marginlab/ml/mltest/require"
)

func TestReadStrings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   string
		m    Mapping
		want []string
		col  string
	}{
		"two columns of words": {"sequence,class\nACGT,a\nAC,b\n", Mapping{}, []string{"ACGT", "AC"}, "sequence"},
		"label first":          {"class,sequence\na,ACGT\nb,AC\n", Mapping{}, []string{"ACGT", "AC"}, "sequence"},
		"sentences":            {"class;text\na;\"science; is, organized\"\nb;wisdom is  organized\n", Mapping{}, []string{"science; is, organized", "wisdom is  organized"}, "text"},
		"among numbers":        {"n,word,class\n1,cat,a\n2,cart,b\n", Mapping{Kind: KindStrings}, []string{"cat", "cart"}, "word"},
		"the most varied":      {"who,word,class\nx,cat,a\nx,cart,b\n", Mapping{}, []string{"cat", "cart"}, "word"},
		"chosen":               {"who,word,class\nx,cat,a\nx,cart,b\n", Mapping{Features: []string{"who"}, Kind: KindStrings}, []string{"x", "x"}, "who"},
		"digits":               {"bits,class\n0101,a\n1100,b\n", Mapping{Kind: KindStrings}, []string{"0101", "1100"}, "bits"},
		"missing by name only": {"s,class\nNA,a\n?,b\n", Mapping{Kind: KindStrings}, []string{"NA", "?"}, "s"},
		"canonical":            {"#strings\ns,class\n1 2,3\n\"a,b\",4\n", Mapping{}, []string{"1 2", "a,b"}, "s"},
		"characters":           {"s,class\né∑,a\nÅ,b\n", Mapping{}, []string{"é∑", "Å"}, "s"},
		"tab in quotes":        {"s,class\n\"a\tb\",a\nb,b\n", Mapping{}, []string{"a b", "b"}, "s"},
	} {
		d := require.Value(Read(strings.NewReader(c.in), "f", c.m, Limits{}))(t, "%s", name)
		diff := cmp.Diff(&Strings{c.col, c.want}, d.Objects)
		require.Check(t, diff == "" && d.Label == "class" && d.Len() == 2, "%s: label %q\n%s", name, d.Label, diff)
		roundTrip(t, d)
	}
	for says, in := range map[string]string{
		"f, line 3, column 1 (s): expected a string, found nothing": "s,class\nab,a\n,b\n",
		"f, line 3: expected UTF-8 text, found byte 0x81":           "s,class\nab,a\n\x81\x9d,b\n",
		"expected at least two classes":                             "s,class\nab,a\nb,a\n",
		"expected a column of strings beside the label, found none": "1,2,class\n3,4,a\n5,6,b\n",
		"expected at least one row of data":                         "#strings\ns,class\n",
		"expected a label, found nothing":                           "s,class\nab,a\nb,\n",
	} {
		d, err := Read(strings.NewReader(in), "f", Mapping{Kind: KindStrings}, Limits{})
		require.Check(t, err != nil && strings.Contains(err.Error(), says), "%q: %v, %v; want %q", in, d, err, says)
	}
	require.Fails(t, require.Err(Read(strings.NewReader("#strings\ns,class\nab,a\nb,b\n"), "f", Mapping{Kind: KindVectors}, Limits{})), "found strings", "strings as features")
}

func TestGuessOfStrings(t *testing.T) {
	t.Parallel()
	for in, obvious := range map[string]bool{
		"sequence,class\nACGT,a\nAC,b\n":     true,
		"#strings\ns,kind\nACGT,a\nAC,b\n":   true,
		"sequence,kind\nACGT,a\nAC,b\n":      false, // either may be the label
		"a,sequence,class\nx,AC,a\ny,GT,b\n": false, // either may be the strings
	} {
		table := require.Value(ParseTable(strings.NewReader(in), "f", Limits{}))(t)
		m, sure := table.Guess()
		require.Check(t, m.Kind == KindStrings && sure == obvious && len(m.Features) == 1 && table.StringsColumn(m) == m.Features[0], "%q: %+v, obvious %v", in, m, sure)
	}
}

func TestStringsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := &Strings{Name: "s"}
		for _, v := range rapid.SliceOfN(rapid.StringN(1, 12, -1), 2, 8).Draw(r, "strings") {
			if v = tidy(v); v == "" {
				v = "-"
			}
			s.Values = append(s.Values, v)
		}
		d := &Data{Objects: s, Label: "label", Classes: []string{"a", "b"}, Y: make([]int, s.Len())}
		d.Y[0] = 1
		roundTrip(r, d)
		sameData(r, d, read(r, require.Written(r, d.Export)))
	})
}

func TestStringRows(t *testing.T) {
	t.Parallel()
	kept := (&Strings{"seq", []string{"ab"}}).Keep([]int{0})
	for in, want := range map[string]string{
		"seq,class\nab,x\nb,y\n":  "class",
		"class,SEQ\nx,ab\ny,b\n":  "class",
		"n,seq\n1,ab\n2,b\n":      "",
		"ab\nb\n":                 "",
		"text\nab\nb\n":           "",
		"text,class\nab,x\nb,y\n": "class",
	} {
		table := require.Value(ParseTable(strings.NewReader(in), "f", Limits{}))(t)
		o, label, err := table.Alike(kept, "class")
		require.Must(t, err == nil && label == want, "%q: label %q, %v", in, label, err)
		n := o.Len()
		require.Check(t, o.Text(n-2) == "ab" && o.Text(n-1) == "b", "%q: %v", in, o)
	}
	for in, n := range map[string]int{
		"ab\nb\n":                          2,
		"SEQ\nab\nb\n":                     2,
		strings.Repeat("a", 200) + "\nb\n": 2,
		"ab,x\nb,y\nb,x\nab,y\n":           4,
	} {
		table := require.Value(ParseTable(strings.NewReader(in), "f", Limits{}))(t)
		o, _, err := table.Alike(kept, "class")
		require.Check(t, err == nil && o.Len() == n && len(table.Lines) == n, "%q: %v, %v, want %d strings", in, o, err, n)
	}
	for in, says := range map[string]string{
		"a,b,c\nx,y,z\n":     `no column "seq" with the strings of the model: the file has a, b, c`,
		"seq\nab\n\"\"\nb\n": "line 3, column 1 (seq): expected a string, found nothing",
	} {
		table := require.Value(ParseTable(strings.NewReader(in), "f", Limits{}))(t)
		require.Fails(t, require.Err3(table.Alike(kept, "class")), says, "%q", in)
	}
}

func TestReadFASTA(t *testing.T) {
	t.Parallel()
	in := ">s1 planted\nGATT\nACA\n\n; a note\n>s2 plain one\nCCC\n>s3 planted\nTT\n"
	table := require.Value(ParseTable(strings.NewReader(in), "f.fa", Limits{}))(t)
	m, obvious := table.Guess()
	d, err := table.Data(m)
	require.Must(t, err == nil && obvious, "%v", err)
	diff := cmp.Diff(&Strings{"sequence", []string{"GATTACA", "CCC", "TT"}}, d.Objects)
	require.Check(t, diff == "" && cmp.Equal(d.Classes, []string{"plain one", "planted"}), "%v %s", d.Classes, diff)
	roundTrip(t, d)
	for _, odd := range []string{
		"; a note above\n;\n\n>s1 planted\nGATTACA\n>s2 plain one\nCCC\n>s3 planted\nTT",
		">s1\tplanted\r\nGAT TAC A\r\n>s2 \t plain one\rC C\tC\r>s3  planted\n\nTT\n\n",
		"\ufeff> s1 planted\n GATTACA\n>s1   plain one\nCCC\n>s1 planted\nTT\n",
	} {
		again, err := Read(strings.NewReader(odd), "f", Mapping{}, Limits{})
		require.Check(t, err == nil && show(again) == show(d), "%q: %v", odd, err)
	}
	bare := require.Value(ParseTable(strings.NewReader(">s1\nGATT\n>s2\nCC\n"), "f.fa", Limits{}))(t)
	o, label, err := bare.Alike((&Strings{"text", []string{"ab"}}).Keep([]int{0}), "class")
	require.Check(t, err == nil && label == "" && o.Len() == 2 && o.Text(0) == "GATT",
		"%v, label %q, %v", o, label, err)
	for in, says := range map[string]string{
		">a x\n>b y\nAC\n":        `f.fa, line 1: expected a sequence below ">a", found nothing`,
		">a x\nAC\n>b y\n":        `f.fa, line 3: expected a sequence below ">b", found nothing`,
		">a x\nAC\n>b\nGT\n":      "f.fa, line 3, column 3 (label): expected a label, found nothing",
		">a x\nAC\n>b x\nGT\n":    "expected at least two classes",
		">a x\nA\x81\x9dC\n":      "f.fa, line 2: expected UTF-8 text",
		">\nAC\n>b y\nGT\n":       "f.fa, line 1, column 3 (label): expected a label, found nothing",
		"> x\n>":                  `f.fa, line 1: expected a sequence below ">x", found nothing`,
		"AC\n>b y\nGT\n":          "f.fa, line 2: expected 1 field separated by spaces, found 2",
		">a\nAC\n>b\nGT\n>c\nG\n": "f.fa, line 1: expected a label after the name, as in >a label, found none",
	} {
		d, err := Read(strings.NewReader(in), "f.fa", Mapping{}, Limits{})
		require.Check(t, err != nil && strings.Contains(err.Error(), says), "%q: %v, %v; want %q", in, d, err, says)
	}
}

// A file that says what it holds is read as that, not line by line.
func TestReadLines(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"lines":                 "GATTACA\nCCC\r\n GATTACA",
		"canonical form":        "#strings\nsequence,class\nGATTACA,a\nCCC,b\nGATTACA,b\n",
		"FASTA":                 "; note\n>1 a\nGATT\nACA\n>2 b\nCCC\n>3 b\nGATTACA\n",
		"FASTA without labels":  ">1\nGATTACA\n>2\nCCC\n>3\nGATTACA\n",
		"archive":               require.Zip(t, "a/1", "GATTACA", "a/2", "CCC", "b/1", "GATTACA\n"),
		"archive of one folder": require.Zip(t, "1", "GATTACA", "2", "CCC", "3", "GATTACA\n"),
	} {
		s := require.Value(ReadLines(strings.NewReader(in), "f", Limits{}))(t, "%s", name)
		require.Equal(t, cmp.Diff([]string{"GATTACA", "CCC", "GATTACA"}, s.Values), "", "%s (-want +got)", name)
	}
	for in, says := range map[string]string{
		"":                                      "f: expected at least one string, found an empty file",
		"a\n\t\nb\n":                            "f, line 2: expected a string, found nothing",
		"a\nb\x81\x9d\n":                        "f, line 2: expected UTF-8 text",
		"#strings\nsequence,class\n,a\nCCC,b\n": "f, line 3, column 1 (sequence): expected a string, found nothing",
		">1\nAC\n>2\n":                          "f, line 3: expected a sequence below",
		require.Zip(t, "p.csv", "x,y\n1,2\n2,1\n"): "f, p.csv: expected strings, found other rows",
		"a\nb\nc\nd\ne\nf\n":                       "f, line 6: expected at most 5 strings",
	} {
		require.Fails(t, require.Err(ReadLines(strings.NewReader(in), "f", Limits{Rows: 5})), says, "%q", in)
	}
}
