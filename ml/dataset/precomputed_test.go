package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mltest/require"
)

// Stored runs refer to these hashes: the canonical form of vectors is the same in every release.
func TestBuiltinHashes(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"iris-setosa-versicolor":    "aded63bdb15d17db7c829f5ed74e731d76aa02f980ec7c5705739fde8445b748",
		"iris-versicolor-virginica": "77c51f6c8af708f76def63d90c1437417e52b1630e0091ae321dfaa5bb24a6cc",
		"iris-sepal":                "21e787468dc55be520e84266feda71c14a638289549c84e4e8b125a15e07f55b",
		"iris":                      "0143e8415cea3e4a1c380e7ce5865cb8d53c40f50e198c4931a3a49b5466903b",
		"wine":                      "3ce67f610c87c7ad0ca5cd5c50b19fecfc80d0b21916b53a650c49610fd0ba89",
		"breast-cancer":             "518936fa92ca3d8a78c420aee22030c4e519ffcba3be15dd23e83f2fc22e20e5",
		"digits":                    "592cc047d0a1cc7fdef9fd724514209dcb45a80aa147dc3ab375e3e1a9a380f4",
		"heart":                     "dc061d096f5ddb34a9b9809f8b756dcc455756bf3494ae517013c10692db404f",
		"pima":                      "052edaa77c234f894e876ba7ccaa1c68e8c8e92d880148003d41d9a79548dc18",
		"sonar":                     "afc46f1b3a0a2cdbd445c139dfc1ab49698e10b5fdd1d361efb83c2c4b150874",
		"ripley":                    "cfcac913e0dfd57ff70fc3cfa8e23b2308075ebd9877b34c4456ccc932ff764b",
		"moons":                     "e40d1ee5146edeccad9d7a1e4a05c3997d81355ac7571238119b886ce008dd2e",
		"circles":                   "10f7087e6904353c26325800ed6b5961440aa227f30f47d83df0dd936ed49110",
		"xor":                       "7602ca282a13cbd376a55b72004068eb388e33464ef5ba99dc6ce0613eb2e1ba",
		"spiral":                    "1629e093ab63bfedba6ae05d7e7bf058810bb3c9917f8e07edbb2761e13bfc98",
		"checkerboard":              "9a2082bfc254a33a043b08f4bf8deea5f5edcd641465896ad5a2f03cdfd58cc3",
		"blobs":                     "9dc6ae7a008c17abd2f1567d5362dca24111681c72ee429960fbb882aace64ae",
		"sine":                      "a92911abb628ff153a540e4931ccae2e1660c77353749398a9120b639eb63bec",
		"hill":                      "ff39b3fc69255e8a921bc6c7da1f1b5e55bddd8a5a6578ce20429d4ca8ebc232",
		"cycles":                    "cc967ba3f086524d7012e397eeff67d192d21b9a3d889a406ee369aa85862e6e",
		"molecules":                 "49bcb2ca575ab90591a4e6831c9fee0db6c0766e2fab271972085f2b2f4599a7",
		"dna":                       "c736ec23a2d17eef081a4e05f4117ed9bec30473cb79388f1faa4b8e515ddf49",
	}
	for _, b := range Builtins {
		require.Equal(t, require.Value(b.Load())(t).Hash(), want[b.Slug], "%s: hash", b.Slug)
	}
}

// matrix is a symmetric matrix of n objects and its labels A and B in turn.
func matrix(n int) *Data {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	p := &Precomputed{K: mat.NewDense(n, n, nil)}
	labels := make([]string, n)
	for i := range n {
		labels[i] = string(rune('A' + i%2))
		p.Number = append(p.Number, i+1)
		for j := range i + 1 {
			v := rng.NormFloat64()
			p.K.Set(i, j, v)
			p.K.Set(j, i, v)
		}
	}
	d := &Data{Objects: p, Label: "label"}
	d.setLabels(labels)
	return d
}

func TestPrecomputedEncodeDecode(t *testing.T) {
	t.Parallel()
	for n := 2; n < 8; n++ {
		d := matrix(n)
		roundTrip(t, d)
		text := show(d)
		require.Check(t, strings.HasPrefix(text, "#precomputed\nnumber,K1,K2"), "begins %q", text[:30])
		// A file like any other.
		sameData(t, d, read(t, show(d)))
		// Numbers need not be in order, nor all of them there.
		if n > 3 {
			roundTrip(t, d.Subset([]int{n - 1, 0, 1, 2}))
			sameData(t, d.Subset([]int{n - 1, 0, 1, 2}), read(t, show(d.Subset([]int{n - 1, 0, 1, 2}))))
		}
	}
	a, b := matrix(4).Hash(), matrix(5).Hash()
	require.Check(t, a != b, "different data have equal hashes")
}

func TestPrecomputedDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"#quaternions\nx,label\n1,A\n", `line 1: expected objects of a known kind, found "quaternions": a newer version of Margin Lab may have written them`},
		{"#precomputed", "expected a header, found an empty file"},
		{"#precomputed\nK1,K2,label\n1,2,A\n", "line 2: expected the columns number, K1, K2 … and a label"},
		{"#precomputed\nnumber,label\n1,A\n", "line 2: expected the columns number, K1, K2 … and a label"},
		{"#precomputed\nnumber,K1,K2,label\n1,1,x,A\n", `line 3, column 3 (K2): expected a finite number, found "x"`},
		{"#precomputed\nnumber,K1,K2,label\none,1,1,A\n", `line 3, column 1 (number): expected the number of an object, found "one"`},
		{"#precomputed\nnumber,K1,K2,label\n3,1,1,A\n", "row 1: expected the number of an object, 1 to 2, found 3"},
		{"#precomputed\nnumber,K1,K2,label\n0,1,1,A\n", "row 1: expected the number of an object, 1 to 2, found 0"},
		{"#precomputed\nnumber,K1,K2,label\n1,1,2,A\n2,3,1,B\n", "rows 1 and 2: expected a symmetric matrix, found 2 and 3"},
		{"#precomputed\nnumber,K1,K2,label\n1,1,2\n", "line 3: wrong number of fields"},
		{"#precomputed\nnumber,K1,K2,K1\n1,1,2,A\n", `two columns are called "K1": expected distinct names`},
	} {
		_, err := Decode(strings.NewReader(tt.in))
		require.Check(t, err != nil && err.Error() == tt.want, "%q: got %v, want %s", tt.in, err, tt.want)
	}
	for want, spoil := range map[string]func(d *Data, p *Precomputed){
		"a kernel matrix without values: expected at least one row":               func(_ *Data, p *Precomputed) { p.K = nil },
		"1 numbers for 2 rows of a kernel matrix":                                 func(_ *Data, p *Precomputed) { p.Number = p.Number[:1] },
		"a kernel matrix to train on: expected no separate values k(x, x)":        func(_ *Data, p *Precomputed) { p.Self = []float64{1, 1} },
		"row 2, K1: expected a finite number, found NaN":                          func(_ *Data, p *Precomputed) { p.K.Set(1, 0, math.NaN()) },
		"objects of kind precomputed: expected no features or points beside them": func(d *Data, _ *Precomputed) { d.Features = []string{"x"} },
		"1 labels for 2 rows": func(d *Data, _ *Precomputed) { d.Y = d.Y[:1] },
	} {
		d := matrix(2)
		spoil(d, d.Objects.(*Precomputed))
		err := d.Validate()
		require.Check(t, err != nil && err.Error() == want, "got %v, want %s", err, want)
	}
	require.Fails(t, require.Err(matrix(2).Columns([]string{"x"})), "no features", "columns of a kernel matrix")
}

func TestReadPrecomputed(t *testing.T) {
	t.Parallel()
	want := lines("#precomputed", "number,K1,K2,K3,label", "1,2,0.5,0,A", "2,0.5,1,-1,B", "3,0,-1,3,A")
	asked := Mapping{Kind: KindPrecomputed}
	for name, tt := range map[string]struct {
		in string
		m  Mapping
	}{
		"its own form":         {want, Mapping{}},
		"its own form, CRLF":   {strings.ReplaceAll(want, "\n", "\r\n"), Mapping{}},
		"no header":            {"2,0.5,0,A\n0.5,1,-1,B\n0,-1,3,A\n", asked},
		"header":               {"u,v,w,label\n2,0.5,0,A\n0.5,1,-1,B\n0,-1,3,A\n", asked},
		"label first":          {"A 2 .5 0\nB .5 1 -1\nA 0 -1 3\n", asked},
		"row numbers":          {",0,1,2,label\n0,2,0.5,0,A\n1,0.5,1,-1,B\n2,0,-1,3,A\n", asked},
		"numbers":              {"Number,a,b,c,label\n1,2,0.5,0,A\n2,0.5,1,-1,B\n3,0,-1,3,A\n", asked},
		"named label":          {"label;a;b;c\nA;2;0,5;0\nB;0,5;1;-1\nA;0;-1;3\n", Mapping{Kind: KindPrecomputed, Label: "label"}},
		"rounded":              {"2,0.5,0,A\n0.500000476837158203125,1,-1,B\n0,-1,3,A\n", asked},
		"label like a column":  {"K3,x,y,K1\n2,0.5,0,A\n0.5,1,-1,B\n0,-1,3,A\n", asked},
		"LIBSVM, words":        {"A 0:1 1:2 2:0.5 3:0\nB 0:2 1:0.5 2:1 3:-1 # b\n\nA 0:3 1:0 2:-1 3:3\n", Mapping{}},
		"LIBSVM, asked":        {"A 0:1 1:2 2:0.5 3:0\nB 0:2 1:0.5 2:1 3:-1\nA 0:3 1:0 2:-1 3:3\n", asked},
		"matrix of an archive": {"@relation k\n@attribute a real\n@attribute b real\n@attribute c real\n@attribute label {A,B}\n@data\n2,.5,0,A\n.5,1,-1,B\n0,-1,3,A\n", asked},
	} {
		d := require.Value(Read(strings.NewReader(tt.in), "f", tt.m, Limits{}))(t, "%s", name)
		got := show(d)
		if name == "rounded" {
			got = strings.ReplaceAll(got, "0.5000002384185791", "0.5")
		}
		require.Equal(t, cmp.Diff(want, got), "", "%s", name)
	}
	// A part of a larger matrix, LIBSVM's own example.
	d := read(t, "25 0:3 1:1 2:18 3:0\n45 0:2 1:6 2:18 3:18\n")
	p := d.Objects.(*Precomputed)
	require.Equal(t, cmp.Diff([]any{[]int{3, 2}, []string{"25", "45"}, []int{0, 1}}, []any{p.Number, d.Classes, d.Y}), "", "diff")
	v, ok := p.Diag(1)
	require.Check(t, v == 18 && ok && p.Columns() == 3 && p.Len() == 2, "diagonal %g", v)
}

func TestReadPrecomputedRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   string
		m    Mapping
		want string
	}{
		"not square":      {"a,b,label\n1,0,A\n0,1,B\n0,0,A\n", Mapping{Kind: KindPrecomputed}, "f: expected a kernel matrix with as many columns as rows, not counting the label, found 3 rows and 2 columns: row i holds k(x_i, x_1) … k(x_i, x_M) for the M training objects"},
		"wide":            {"a,b,c,label\n1,0,0,A\n0,1,0,B\n", Mapping{Kind: KindPrecomputed}, "f: expected a kernel matrix with as many columns"},
		"not symmetric":   {"a,b,label\n1,0.25,A\n0.5,1,B\n", Mapping{Kind: KindPrecomputed}, "f, line 3, column 1 (a): expected a symmetric matrix, found k = 0.5 for the objects 2 and 1 but 0.25 on line 2: rows and columns must list the same objects in the same order"},
		"NaN":             {"a,b,label\n1,NaN,A\n0.5,1,B\n", Mapping{Kind: KindPrecomputed}, `f, line 2, column 2 (b): expected a number, found "NaN"`},
		"words":           {"a,b,label\n1,u,A\n0.5,v,B\n", Mapping{Kind: KindPrecomputed}, `f, line 2, column 2 (b): expected a number, found "u"`},
		"self":            {"a,b,self,label\n1,0,1,A\n0,1,1,B\n", Mapping{Kind: KindPrecomputed}, "f, column 3 (self): expected a kernel matrix without a column k(x, x)"},
		"features":        {"a,b,label\n1,0,A\n0,1,B\n", Mapping{Kind: KindPrecomputed, Features: []string{"a"}}, "f: expected no features to be named"},
		"one class":       {"a,b,label\n1,0,A\n0,1,A\n", Mapping{Kind: KindPrecomputed}, `f, column 3 (label): expected at least two classes, found only "A"`},
		"number twice":    {"1 0:1 1:1 2:0\n2 0:1 1:1 2:0\n", Mapping{}, "f, line 2, column 1 (number): expected each object once, found number 1 again, first on line 1"},
		"number 0":        {"1 0:0 1:1 2:0\n2 0:1 1:1 2:0\n", Mapping{}, `f, line 1, column 1 (number): expected an object number from 1 to 2, because a row has 2 kernel values, found "0"; indices of features begin at 1 (scikit-learn: zero_based=False)`},
		"number 1.5":      {"1 0:1.5 1:1 2:0\n2 0:1 1:1 2:0\n", Mapping{}, `found "1.5"`},
		"number too high": {"1 0:1 1:1 2:0\n2 0:3 1:1 2:0\n", Mapping{}, `f, line 2, column 1 (number): expected an object number from 1 to 2`},
		"no 0":            {"1 0:1 1:1 2:0\n2 1:1 2:0\n", Mapping{}, "f, line 2, column 2: expected 0: and an object number, as in the kernel matrix that begins on line 1; indices of features begin at 1 (scikit-learn: zero_based=False)"},
		"gap":             {"1 0:1 1:1 3:0\n", Mapping{}, "f, line 1, column 4: expected the index 2, found 3: a kernel matrix, marked by 0:, lists every value"},
		"short":           {"1 0:1 1:1 2:0\n2 0:2 1:0\n", Mapping{}, "f, line 2: expected kernel values up to index 2, as on line 1, found them up to 1"},
		"only numbers":    {"1 0:1\n2 0:2\n", Mapping{}, "f: expected index:value after the label, found labels only"},
		"infinite":        {"1 0:1 1:1 2:1e999\n", Mapping{}, `f, line 1, column 4 (K2): expected a finite number, found "1e999"`},
		"more rows":       {"1 0:1 1:1\n2 0:2 1:1\n", Mapping{}, "f: expected a kernel matrix with as many columns as rows, not counting the label, found 2 rows and 1 column: row i holds k(x_i, x_1) … k(x_i, x_M) for the M training objects; indices of features begin at 1 (scikit-learn: zero_based=False)"},
		"as vectors":      {"1 0:1 1:1 2:0\n2 0:2 1:0 2:1\n", Mapping{Kind: KindVectors}, "f: expected features, found a kernel matrix"},
		"unknown kind":    {"a,b,label\n1,0,A\n0,1,B\n", Mapping{Kind: "sounds"}, "f: objects of kind sounds cannot be read from a table"},
	} {
		_, err := Read(strings.NewReader(tt.in), "f", tt.m, Limits{})
		checkFault(t, err)
		require.Fails(t, err, tt.want, "%s", name)
	}
}

func TestGuessPrecomputed(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct {
		kind    Kind
		obvious bool
	}{
		"1 0:1 1:1 2:0\n2 0:2 1:0 2:1\n":    {KindPrecomputed, true},
		show(matrix(4)):                     {KindPrecomputed, true},
		"2,0.5,0,A\n0.5,1,-1,B\n0,-1,3,A\n": {KindPrecomputed, false}, // perhaps points all the same
		"2,0.5,0,A\n0.6,1,-1,B\n0,-1,3,A\n": {"", true},
		"1,0,A\n0,1,B\n":                    {"", false},
	} {
		table := require.Value(ParseTable(strings.NewReader(in), "f", Limits{}))(t)
		m, obvious := table.Guess()
		require.Check(t, m.Kind == want.kind && obvious == want.obvious, "%q: %q, %v", in, m.Kind, obvious)
	}
}

// TestWidePrecomputed reads more columns than a file of points may have.
func TestWidePrecomputed(t *testing.T) {
	t.Parallel()
	d := matrix(300)
	sameData(t, d, read(t, show(d)))
	var plain, libsvm strings.Builder
	p := d.Objects.(*Precomputed)
	for i := range p.Len() {
		fmt.Fprintf(&libsvm, "%s 0:%d", d.Classes[d.Y[i]], i+1)
		for j, v := range p.K.RawRowView(i) {
			fmt.Fprintf(&plain, "%v,", v)
			fmt.Fprintf(&libsvm, " %d:%v", j+1, v)
		}
		fmt.Fprintln(&plain, d.Classes[d.Y[i]])
		fmt.Fprintln(&libsvm)
	}
	sameData(t, d, read(t, libsvm.String()))
	got := require.Value(Read(strings.NewReader(plain.String()), "f", Mapping{Kind: KindPrecomputed}, Limits{}))(t)
	sameData(t, d, got)
	_, err := Read(strings.NewReader(strings.Replace(plain.String(), ",", ",7", 1)), "f", Mapping{Kind: KindPrecomputed}, Limits{})
	require.Check(t, errors.Is(err, ErrTooLarge) && strings.Contains(err.Error(), "f, line 1: expected at most 201 columns, found 301"),
		"wide and not symmetric: %v", err)
}

func TestKernelRows(t *testing.T) {
	t.Parallel()
	k := []float64{1, 0.5, -2, 0, 3, 4}
	for name, tt := range map[string]struct {
		in, label string
		self      []float64
	}{
		"bare":             {"1,0.5,-2\n0,3,4\n", "", nil},
		"label":            {"1,0.5,-2,A\n0,3,4,B\n", "x4", nil},
		"label in front":   {"A,1,0.5,-2\nB,0,3,4\n", "label", nil},
		"header":           {"a,b,kind,c\n1,0.5,A,-2\n0,3,B,4\n", "kind", nil},
		"header, no label": {"a,b,c\n1,0.5,-2\n0,3,4\n", "", nil},
		"self":             {"a,b,c,self\n1,0.5,-2,7\n0,3,4,8\n", "", []float64{7, 8}},
		"self, label":      {"kind,a,b,c,Self\nA,1,0.5,-2,7\nB,0,3,4,8\n", "kind", []float64{7, 8}},
		"row numbers":      {",a,b,c\n0,1,0.5,-2\n1,0,3,4\n", "", nil},
		"LIBSVM":           {"1 0:1 1:1 2:0.5 3:-2\n-1 0:0 1:0 2:3 3:4\n", "label", nil},
		"LIBSVM, self":     {"1 0:9 1:1 2:0.5 3:-2 4:7\n-1 0:9 1:0 2:3 3:4 4:8\n", "label", []float64{7, 8}},
		"its own form":     {"#precomputed\nnumber,K1,K2,K3,kind\n1,1,0.5,-2,A\n2,0,3,4,B\n", "kind", nil},
	} {
		table := require.Value(ParseTable(strings.NewReader(tt.in), "f", Limits{}))(t, "%s", name)
		p, label, err := table.KernelRows(3, "kind")
		require.Must(t, err == nil, "%s: %v", name, err)
		if got := p.K.RawMatrix().Data; !slices.Equal(got, k) || !slices.Equal(p.Number, []int{0, 0}) || !slices.Equal(p.Self, tt.self) || label != tt.label {
			t.Errorf("%s: %v, self %v, label %q", name, got, p.Self, label)
		}
		v, known := p.Diag(1)
		require.Check(t, known == (tt.self != nil) && (!known || v == 8), "%s: k(x, x) = %g, %v", name, v, known)
		s := p.Subset([]int{1}).(*Precomputed)
		require.Check(t, s.K.At(0, 2) == 4 && len(s.Number) == 1 && len(s.Self) == min(len(tt.self), 1), "%s: the second alone is %+v", name, s)
	}
	for in, want := range map[string]string{
		"1,2,3,4,5\n6,7,8,9,10\n": "f: expected 3 values of the kernel in each row, one per training object, found 5",
		"1,2\n3,4\n":              "found 2",
		"a,b,c\n1,2,x\n3,4,5\n":   `f, line 2, column 3 (c): expected a number, found "x"`,
	} {
		table := require.Value(ParseTable(strings.NewReader(in), "f", Limits{}))(t)
		require.Fails(t, require.Err3(table.KernelRows(3, "kind")), want, "%q", in)
	}
}

// FuzzKernelMatrix reads any text as a kernel matrix, and as rows to predict.
func FuzzKernelMatrix(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s))
	}
	for _, s := range []string{
		"2,0.5,0,A\n0.5,1,-1,B\n0,-1,3,A\n", "1 0:1 1:1 2:0\n2 0:2 1:0 2:1\n", "25 0:3 1:1 2:18 3:0\n45 0:2 1:6 2:18 3:18\n",
		"number,a,b,self,label\n2,1,2,1,A\n1,3,1,0,B\n", ",0,1,label\n0,1,0,A\n1,0,1e-7,B\n", show(matrix(3)),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		table, err := ParseTable(bytes.NewReader(raw), "f", fuzzLimits)
		if err != nil {
			checkFault(t, err)
			return
		}
		if d, err := table.Data(Mapping{Kind: KindPrecomputed}); isRead(t, d, err) {
			again := require.Value(Read(strings.NewReader(show(d)), "again.csv", Mapping{Label: d.Label}, Limits{}))(t, "the canonical form is not read")
			sameData(t, d, again)
		}
		for m := range 4 {
			p, label, err := table.KernelRows(m+1, "label")
			if err != nil {
				checkFault(t, err)
				continue
			}
			if n, cols := p.K.Dims(); n != len(table.Lines) || cols != m+1 || p.Self != nil && len(p.Self) != n {
				t.Errorf("%d x %d for %d rows, %d columns", n, cols, len(table.Lines), m+1)
			}
			require.Check(t, label == "" || slices.ContainsFunc(table.Columns, func(c Column) bool { return c.Name == label }),
				"no column %q", label)
		}
	})
}
