package cmdline

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Flags holds the flags of a command, based on package flag, with help under
// headings and messages that say what was expected.
type Flags struct {
	set    *flag.FlagSet
	help   []func(p printer) // parts of the help, rendered on demand
	faults []string          // invalid values, reported together
	arg    *string           // the positional argument; nil: none allowed
	stands string            // equivalent flag of arg
	args   []string          // choices of arg, for completion; nil: files
	needs  string            // what a required arg is; empty: arg is optional
}

// NewFlags returns the flags of a command. synopsis is the command as typed, without
// the program's name; about describes it in a sentence or two.
func NewFlags(synopsis, about string) *Flags {
	f := &Flags{set: flag.NewFlagSet(synopsis, flag.ContinueOnError)}
	f.set.SetOutput(io.Discard)
	f.describe(func(p printer) {
		p.Synopsis(synopsis)
		p.Paragraph(about)
	})
	return f
}

func (f *Flags) describe(part func(p printer)) { f.help = append(f.help, part) }

// print writes the help.
func (f *Flags) print(p printer) {
	for _, part := range f.help {
		part(p)
	}
}

// Heading starts a section of flags.
func (f *Flags) Heading(title string) {
	f.describe(func(p printer) { p.Heading(2, title) })
}

// String adds a flag that takes any text. value names the text in help: FILE.
func (f *Flags) String(name, value, def, help string) *string {
	f.Text(&def, name, value, help)
	return &def
}

// Text is String for a variable, with its value as the default.
func (f *Flags) Text(v *string, name, value, help string) {
	f.describe(func(p printer) { p.Term("--"+name+" "+value, help) })
	f.set.StringVar(v, name, *v, help)
}

// Switch adds a flag that is off unless given.
func (f *Flags) Switch(name, help string) *bool {
	f.describe(func(p printer) { p.Term("--"+name, help) })
	return f.set.Bool(name, false, help)
}

// reading holds how a data file is read, besides the spec's columns.
type reading struct {
	missing  dataset.Missing // empty: as proposed, or an error
	proposed bool            // if the spec names no features, choose them as an upload page would propose
	sheet    *string         // sheet of a workbook; empty: the first with data

	notes      []string // notes about flags without effect
	multiclass bool     // given on the command line
}

// Reading adds the flags for reading a file.
func (f *Flags) Reading() *reading {
	how := &reading{proposed: true}
	p := param.Param{Name: "missing", Kind: param.Choice, Default: string(dataset.MissingError), Help: "How to handle rows with missing values. With proposed columns, the default is median if each has at least ten values.", Options: []param.Option{
		{Name: string(dataset.MissingError), Help: "Refuse the file."},
		{Name: string(dataset.MissingDrop), Help: "Leave out these rows."},
		{Name: string(dataset.MissingMedian), Help: "Fill with the column's median (or most common word), computed on the training rows only; rows without a label are left out."},
	}}
	f.Param(p, func(text string) error {
		how.missing = dataset.Missing(text)
		return nil
	})
	columns := param.Param{Name: "columns", Kind: param.Choice, Default: "proposed", Help: "Which columns are features if --features is not given.", Options: []param.Option{
		{Name: "all", Help: "All columns except the label; words and dates are refused."},
		{Name: "proposed", Help: "Numbers, and words with few distinct values; no identifiers, dates, names or constant columns. Sentinels such as -999, rows of totals and spellings of one class are corrected. The choice is printed."},
	}}
	f.Param(columns, func(text string) error {
		how.proposed = text == "proposed"
		return nil
	})
	how.sheet = f.Sheet()
	return how
}

// Sheet adds the flag for the sheet of a workbook.
func (f *Flags) Sheet() *string {
	return f.String("sheet", "NAME", "", "Sheet to read from an .xlsx workbook. (default the first that holds data)")
}

// Func adds a flag that may be repeated; set is called with each value. Its error message
// continues after the name of the flag.
func (f *Flags) Func(name, value, help string, set func(text string) error) {
	f.describe(func(p printer) { p.Term("--"+name+" "+value, help) })
	f.set.Func(name, help, func(text string) error {
		if err := set(text); err != nil {
			f.faults = append(f.faults, "--"+name+" "+err.Error())
		}
		return nil
	})
}

// Argument allows one positional argument, before or after the flags: a file, or one of values.
func (f *Flags) Argument(values ...string) *string {
	f.arg, f.args = new(string), values
	return f.arg
}

// Required is Argument for a required argument. Messages call it what: "the name of the file".
func (f *Flags) Required(what string) *string {
	f.needs = what
	return f.Argument()
}

// Data adds the flag --data, whose value may also be given as positional argument.
func (f *Flags) Data(help string) *string {
	f.arg, f.stands = f.String("data", "FILE", "", help), "data"
	return f.arg
}

// Param adds the flag of a parameter; set is called with a valid value.
func (f *Flags) Param(p param.Param, set func(text string) error) {
	f.param(p, placeholder(p), &paramFlag{f, p, set})
}

// Value is Param for a function that takes the value, at once the default.
func (f *Flags) Value(p param.Param, set func(v param.Value)) {
	set(p.Read(p.Default))
	f.Param(p, func(text string) error { set(p.Read(text)); return nil })
}

// List adds the flag of a parameter to search, with values separated by commas; add is called with
// each value or range, and its errors name the flag.
func (f *Flags) List(p param.Param, add func(text string) error) {
	value := placeholder(p) + ",..."
	if p.Kind == param.Switch {
		value = "[=true|false|true,false]"
	}
	f.param(p, value, &listFlag{paramFlag{f, p, add}})
}

func (f *Flags) param(p param.Param, value string, v flag.Value) {
	f.describe(func(to printer) {
		text := p.Help
		if s := span(p); s != "" {
			text += " (" + s + ")"
		}
		to.Term("--"+p.Flag()+value, text)
		for _, o := range p.Options {
			to.Value(o.Name + ": " + o.Help)
		}
	})
	f.set.Var(v, p.Flag(), p.Help)
}

func placeholder(p param.Param) string {
	switch p.Kind {
	case param.Integer:
		return " N"
	case param.Switch:
		return "[=true|false]"
	case param.Choice:
		if all := strings.Join(p.Names(), "|"); len(all) <= 80 {
			return " " + all
		}
		return " NAME" // the choices are listed below
	case param.Text:
		return " TEXT"
	}
	return strings.Join(append([]string{" NUMBER"}, p.Words...), "|")
}

// span describes the default and range of a parameter, "" for text that is empty by default.
func span(p param.Param) string {
	if p.Default == "" {
		return ""
	}
	s := "default " + p.Default
	switch {
	case p.Kind != param.Number && p.Kind != param.Integer || p.Min == 0 && p.Max == 0:
		return s
	case p.OpenMin:
		return s + "; above " + short(p.Min) + ", at most " + short(p.Max)
	}
	return s + "; from " + short(p.Min) + " to " + short(p.Max)
}

// short formats a bound: 1e9, 1000.
func short(v float64) string {
	if s := strconv.FormatFloat(v, 'f', -1, 64); len(s) <= 6 {
		return s
	}
	return strings.NewReplacer("e+0", "e", "e-0", "e-", "e+", "e").Replace(strconv.FormatFloat(v, 'g', 3, 64))
}

// paramFlag is the flag.Value of a parameter. It collects errors, so that package flag
// does not wrap them.
type paramFlag struct {
	flags *Flags
	p     param.Param
	set   func(text string) error
}

func (v *paramFlag) String() string   { return "" }
func (v *paramFlag) IsBoolFlag() bool { return v.p.Kind == param.Switch }

func (v *paramFlag) Set(text string) error {
	p := v.p
	p.Name = "--" + p.Flag() // messages name the flag
	err := p.Check(text)
	if err == nil {
		err = v.set(text)
	}
	if err != nil {
		v.flags.faults = append(v.flags.faults, err.Error())
	}
	return nil
}

// listFlag is the flag.Value of a parameter with several values.
type listFlag struct{ paramFlag }

func (v *listFlag) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		if err := v.set(strings.TrimSpace(part)); err != nil {
			v.flags.faults = append(v.flags.faults, err.Error())
		}
	}
	return nil
}

// Parse parses the command line; the required flags need values. Its error is a UsageError or
// helpWanted.
func (f *Flags) Parse(args []string, required ...string) error {
	err := f.set.Parse(args)
	alone := ""
	for err == nil && f.arg != nil && *f.arg == "" && f.set.NArg() > 0 && !isSwitch(f.set.Arg(0)) {
		alone = f.set.Arg(0)
		*f.arg = alone
		err = f.set.Parse(f.set.Args()[1:])
	}
	switch {
	case err == nil && alone != "" && f.stands != "" && f.Given(f.stands):
		return usage("unexpected argument %q beside --%s", alone, f.stands)
	case errors.Is(err, flag.ErrHelp):
		return helpWanted{f}
	case err != nil:
		return usage("%s", f.rephrase(err.Error()))
	case f.set.NArg() > 0:
		arg := f.set.Arg(0)
		if isSwitch(arg) {
			return usage("unexpected argument %q: a switch needs its value after =, as in --standardize=%s", arg, arg)
		}
		return usage("unexpected argument %q: every value follows its flag, as in --data FILE", arg)
	case len(f.faults) > 0:
		return usage("%s", strings.Join(slices.Compact(f.faults), "; "))
	case f.needs != "" && *f.arg == "":
		return usage("%s is missing", f.needs)
	}
	return f.require(required...)
}

func isSwitch(arg string) bool { return arg == "true" || arg == "false" }

// respelled returns args with alternative names of kernel parameters, as used in the literature,
// replaced by the flags' names.
func respelled(args []string) []string {
	value := func(flag string) (v string) {
		for i, a := range args {
			if name, text, ok := strings.Cut(strings.TrimLeft(a, "-"), "="); name == flag && strings.HasPrefix(a, "-") {
				if v = text; !ok && i+1 < len(args) {
					v = args[i+1]
				}
			}
		}
		return v
	}
	names := map[string]map[string]string{
		"wl":              {"iterations": "rounds"},
		"gap-subsequence": {"lambda": "decay"},
		"random-walk":     {"lambda": "walk-weight", "decay": "walk-weight"},
	}[value("kernel")]
	out := slices.Clone(args)
	for i, a := range out {
		name, text, ok := strings.Cut(strings.TrimLeft(a, "-"), "=")
		flag, known := names[name]
		if !known || !strings.HasPrefix(a, "-") || name == "lambda" && value("learner") == "ridge" {
			continue
		}
		if out[i] = "--" + flag; ok {
			out[i] += "=" + text
		}
	}
	return out
}

// rephrase rewrites messages of package flag with two dashes and plain words, and suggests the
// nearest flag for an unknown one.
func (f *Flags) rephrase(msg string) string {
	if name, ok := strings.CutPrefix(msg, "flag provided but not defined: -"); ok {
		name = strings.TrimLeft(name, "-")
		var names []string
		f.set.VisitAll(func(g *flag.Flag) { names = append(names, g.Name) })
		if (name == "model" || name == "output") && slices.Contains(names, "out") {
			return "unknown flag --" + name + " (did you mean --out?)"
		}
		return "unknown flag --" + name + param.DidYouMean(name, "--", names)
	}
	if name, ok := strings.CutPrefix(msg, "flag needs an argument: -"); ok {
		return "--" + strings.TrimLeft(name, "-") + " needs a value"
	}
	return msg
}

// Given reports whether a flag is on the command line.
func (f *Flags) Given(name string) (given bool) {
	f.set.Visit(func(g *flag.Flag) { given = given || g.Name == name })
	return given
}

// require returns an error for the first of the named flags without a value.
func (f *Flags) require(names ...string) error {
	for _, name := range names {
		if f.set.Lookup(name).Value.String() == "" {
			if name == f.stands {
				return usage("the data file is missing: give FILE or --data FILE")
			}
			return usage("--%s is missing", name)
		}
	}
	return nil
}

// Spec adds the flags of every parameter of a training, under the headings of the form,
// and returns the spec they set, starting from the defaults. own overrides the flags of
// single parameters; a function may also add none.
func (f *Flags) Spec(own map[string]func(p param.Param)) *ml.Spec {
	spec := ml.DefaultSpec()
	for _, g := range ml.Groups {
		f.Heading(g.Title)
		for _, p := range g.Params {
			if add, ok := own[p.Name]; ok {
				add(p)
			} else {
				f.Param(p, func(text string) error { return spec.Set(p.Name, text) })
			}
			if p.Name == "rounds" {
				f.otherNames()
			}
		}
	}
	return &spec
}

// otherNames adds to the help the names that respelled replaces.
func (f *Flags) otherNames() {
	f.Func("iterations", "N", "Same as --rounds. For random-walk, --decay and --lambda are the same as --walk-weight; for gap-subsequence, --lambda is the same as --decay.", func(string) error {
		return errors.New("is another name for --rounds: it needs --kernel=wl")
	})
}

// cache is a flag for memory, which does not affect the training.
var cache = param.Param{
	Name: "cache", Kind: param.Number, Default: "400", Min: 1, Max: 1e6,
	Help: "Memory in MB for cached rows of the SVM's kernel matrix; a larger cache avoids recomputing them.",
}

// Cache adds the flag for the kernel cache to set in spec.
func (f *Flags) Cache(spec *ml.Spec) {
	f.Heading("Memory")
	f.Param(cache, func(text string) error {
		megabytes, err := strconv.ParseFloat(text, 64)
		spec.CacheBytes = int64(megabytes * (1 << 20))
		return err
	})
}

// idle finds the parameters on the command line without effect in any of the specs.
// Those that define the problem are a UsageError, because the result would not be the one
// requested; those that only affect how it is solved are returned as notes.
func (f *Flags) idle(specs ...ml.Spec) (notes []string, err error) {
	var faults []string
	for _, p := range ml.Params {
		if !f.Given(p.Flag()) || slices.ContainsFunc(specs, func(s ml.Spec) bool {
			// For strings, features names the column of the file.
			return s.Applies(p.Name) || p.Name == "features" && s.Takes() == dataset.KindStrings
		}) {
			continue
		}
		msg := fmt.Sprintf("--%s has no effect%s", p.Flag(), because(specs[0], p.Name))
		if p.Effort {
			notes = append(notes, msg)
		} else {
			faults = append(faults, msg)
		}
	}
	if len(faults) > 0 {
		return nil, usage("%s", strings.Join(faults, "; "))
	}
	return notes, nil
}

// because names the single choice that, made differently, would make the parameter apply.
func because(spec ml.Spec, name string) string {
	for _, p := range ml.Params {
		for _, value := range append([]string{p.Default}, p.Names()...) {
			other := spec
			if other.Set(p.Name, value) == nil && other.Applies(name) {
				return fmt.Sprintf(" with --%s=%s", p.Flag(), spec.Text(p.Name))
			}
		}
	}
	return " with the other flags given"
}
