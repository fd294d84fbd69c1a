package ml_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

func TestParams(t *testing.T) {
	t.Parallel()
	for _, p := range ml.Params {
		require.Equal(t, p.Check(p.Default), nil, "default of %s", p.Name)
		require.Check(t, p.Help != "" && p.Label != "", "%s has no label or no help", p.Name)
		require.Check(t, p.Low >= p.Min && (p.High <= p.Max || p.Max == 0) && (!p.Log || p.Low > 0),
			"slider of %s runs from %g to %g, its bounds are %g and %g", p.Name, p.Low, p.High, p.Min, p.Max)
	}
	require.Equal(t, ml.DefaultSpec().Validate(), nil, "ml.DefaultSpec().Validate()")
	names, flags := map[string]bool{}, map[string]bool{}
	for _, p := range ml.Params {
		require.Check(t, !names[p.Name] && !flags[p.Flag()], "two parameters are called %s", p.Name)
		names[p.Name], flags[p.Flag()] = true, true
		got, ok := ml.Param(p.Name)
		require.Check(t, ok && got.Label == p.Label, "Param(%q) = %q, %v", p.Name, got.Label, ok)
	}
	_, ok := ml.Param("colour")
	require.Check(t, !ok, `Param("colour") is known`)
	s := ml.DefaultSpec()
	for name, want := range map[string]string{
		"learner": "svm", "kernel": "rbf", "gamma": "auto", "C": "1", "tol": "0.001", "standardize": "true",
		"conformal": "none", "rho": "0", "rank_tol": "0.001", "core_ridge": "0.001", "hard_margin": "false",
		"test_fraction": "0", "features": "", "label": "", "positive": "",
	} {
		require.Equal(t, s.Text(name), want, "default of %s", name)
	}
}

// A name means the same in all rows that have it, and belongs to rows of one table; a
// condition speaks of a parameter of the same row.
func TestRowsAgree(t *testing.T) {
	t.Parallel()
	owner := map[string]string{}
	for _, choice := range ml.Params {
		for _, o := range choice.Options {
			formula := o.Formula != "" || o.Name == "none" || !strings.Contains("learner kernel conformal", choice.Name)
			require.Check(t, o.Label != "" && o.Help != "" && formula, "%s lacks its label, help or formula", o.Name)
			for _, p := range o.Params {
				was, ok := owner[p.Name]
				require.Check(t, !ok || was == choice.Name, "%s belongs to %s and to %s", p.Name, was, choice.Name)
				owner[p.Name] = choice.Name
				q, _ := ml.Param(p.Name)
				p.Syntax, q.Syntax = nil, nil // functions are not compared
				require.Check(t, reflect.DeepEqual(p, q), "%s of %s is not what it is elsewhere", p.Name, o.Name)
				i := slices.IndexFunc(o.Params, func(q param.Param) bool { return q.Name == p.When })
				require.Check(t, p.When == "" || i >= 0 && o.Params[i].Check(p.Is) == nil, "%s of %s depends on %s being %q", p.Name, o.Name, p.When, p.Is)
			}
		}
	}
	require.Check(t, owner["C"] == "learner" && owner["gamma"] == "kernel" && owner["core_step"] == "conformal",
		"the rows own %v", owner)
}

// values are texts to try for a parameter, all of them valid and in the notation that Text writes.
func values(p param.Param) []string {
	var vs []string
	switch p.Kind {
	case param.Number, param.Integer:
		numbers := []string{"0", "1", "0.1", "2", "7", "1e-05", "0.30000000000000004", "123456"}
		vs = slices.Concat(p.Words, lists.Filter(numbers, func(v string) bool { return p.Check(v) == nil }))
	case param.Switch:
		vs = []string{"true", "false"}
	case param.Choice:
		vs = lists.Map(p.Options, func(o param.Option) string { return o.Name })
	case param.Text:
		vs = []string{"", "x1", "petal length"}
		if p.Syntax != nil {
			vs = []string{p.Default, "rbf", "spectrum(k=2) + 0.5"}
		}
		if p.Name == "features" {
			vs = append(vs, "x1,x2", `"a,b",c`, `"say ""a"""`)
		}
	}
	return vs
}

func TestTextsOfValues(t *testing.T) {
	t.Parallel()
	s := ml.DefaultSpec()
	require.NoError(t, s.Set("features", `"mass, kg", height`))
	want := []string{"mass, kg", "height"}
	require.Equal(t, cmp.Diff(want, s.Features), "", "diff")
	require.Equal(t, cmp.Diff(want, require.JSON[ml.Spec](t, `{"features":["mass, kg","height"]}`).Features), "", "diff")
	err := s.Set("features", `"open`)
	require.Check(t, problemFor(err, "features") != "", "an open quote gives %v", err)
	err = s.Set("features", "a\nb")
	require.Check(t, problemFor(err, "features") != "", "two lines give %v", err)
	s = spec(t, "max_iter", "1e4", "seed", "4e2", "degree", "2.0", "C", "1e2")
	v := s.Values
	require.Check(t, v.Int("max_iter") == 10_000 && s.Seed == 400 && v.Int("degree") == 2 && v.Number("C") == 100,
		"max_iter %d, seed %d, degree %d, C %g", v.Int("max_iter"), s.Seed, v.Int("degree"), v.Number("C"))
}

// problemFor is the message for a field in an error of kind param.Problems.
func problemFor(err error, field string) string {
	var ps param.Problems
	if !errors.As(err, &ps) {
		return ""
	}
	return ps.For(field)
}

func TestSetRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, says string }{
		{"colour", "red", "not a parameter"},
		{"gama", "1", "gama is not a parameter (did you mean gamma?)"},
		{"C", "0", "above 0"},
		{"C", "-1", "above 0"},
		{"C", "NaN", "must be a number"},
		{"C", "Inf", "must be a number"},
		{"C", "", "must be a number"},
		{"C", "1,5", "must be a number"},
		{"gamma", "wide", "auto or scale"},
		{"gamma", "0", "above 0"},
		{"degree", "2.5", "whole number"},
		{"degree", "0", "from 1"},
		{"rho", "-1", "from 0"},
		{"learner", "forest", "svm, mcm"},
		{"kernel", "RBF", "rbf"},
		{"conformal", "best", "eigen"},
		{"hard_margin", "yes", "true or false"},
		{"test_fraction", "1", "0.9"},
		{"seed", "-1", "from 0"},
		{"seed", "1.5", "whole number"},
		{"max_iter", "1e300", "from"},
		{"max_iter", "-1", "from"},
		{"rank_tol", "-1", "from"},
	} {
		s := ml.DefaultSpec()
		require.Says(t, problemFor(s.Set(c.name, c.text), c.name), c.says, "Set(%s, %q)", c.name, c.text)
		require.Equal(t, cmp.Diff(ml.DefaultSpec(), s), "", "Set(%s, %q) failed and changed the spec", c.name, c.text)
	}
}

func TestApplies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set  []string
		yes  string
		none string
	}{
		{nil, "learner kernel gamma C hard_margin tol max_iter conformal label features positive standardize test_fraction seed", "coef0 degree rho rank_tol core_gamma core_ridge core_step"},
		{[]string{"kernel", "linear"}, "C", "gamma coef0 degree"},
		{[]string{"kernel", "poly"}, "gamma coef0 degree", ""},
		{[]string{"kernel", "sigmoid"}, "gamma coef0", "degree"},
		{[]string{"hard_margin", "true"}, "hard_margin", "C"},
		{[]string{"learner", "mcm"}, "C hard_margin rho rank_tol max_iter", "tol"},
		{[]string{"learner", "mcm", "rho", "0.1"}, "rho", "rank_tol"},
		{[]string{"conformal", "eigen"}, "core_gamma core_ridge core_step", ""},
		{[]string{"conformal", "amari"}, "core_gamma core_step", ""},
	} {
		s := spec(t, c.set...)
		for _, name := range strings.Fields(c.yes) {
			require.Check(t, s.Applies(name), "with %v, %s does not apply", c.set, name)
		}
		for _, name := range strings.Fields(c.none) {
			require.Check(t, !s.Applies(name), "with %v, %s applies", c.set, name)
		}
	}
}

func TestValidateNamesEveryField(t *testing.T) {
	t.Parallel()
	s := ml.DefaultSpec()
	s.TestFraction, s.Kernel = 2, "cubic"
	s = s.With("C", param.Of(math.NaN()))
	s = s.With("degree", param.Of(-1)) // of another kernel: does not matter
	err := s.Validate()
	for _, field := range []string{"C", "test_fraction", "kernel"} {
		require.Check(t, problemFor(err, field) != "", "no message for %s in %v", field, err)
	}
	require.Equal(t, problemFor(err, "degree"), "", "degree")
	s = ml.DefaultSpec()
	s.Learner, s.Conformal = "forest", "best"
	err = s.Validate()
	require.Check(t, problemFor(err, "learner") != "" && problemFor(err, "conformal") != "",
		"unknown learner and conformal method give %v", err)
	require.Check(t, (ml.Spec{}).Validate() != nil, "the zero spec is valid")
}

func TestSpecJSONRoundTrip(t *testing.T) {
	t.Parallel()
	for _, p := range ml.Params {
		vs := values(p)
		require.Check(t, len(vs) >= 2, "%s takes fewer than two of the values tried: %q", p.Name, vs)
		for _, v := range vs {
			s := ml.DefaultSpec()
			require.NoError(t, s.Set(p.Name, v))
			require.Equal(t, s.Text(p.Name), v, "text of %s", p.Name)
			data := require.Value(json.Marshal(s))(t)
			back := require.JSON[ml.Spec](t, data, "%s", data)
			for _, q := range ml.Params {
				require.Check(t, !s.Applies(q.Name) || s.Text(q.Name) == back.Text(q.Name),
					"%s = %q came back as %q", q.Name, s.Text(q.Name), back.Text(q.Name))
			}
			require.Equal(t, asJSON(t, back), string(data), "written again")
		}
	}
}

func TestSpecJSONLeavesOutWhatDoesNotApply(t *testing.T) {
	t.Parallel()
	data := require.Value(json.Marshal(ml.DefaultSpec()))(t)
	m := require.JSON[map[string]any](t, data)
	for _, name := range []string{"rho", "degree", "core_gamma", "label"} {
		_, ok := m[name]
		require.Check(t, !ok, "%s is in %s", name, data)
	}
	require.Check(t, m["C"] == 1.0 && m["gamma"] == "auto" && m["standardize"] == true, "unexpected values in %s", data)
}

func TestSpecJSONRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		json   string
		fields []string
	}{
		{`{"colour":"red"}`, []string{"colour"}},
		{`{"C":-1,"kernel":"cubic","degree":1.5}`, []string{"C", "degree", "kernel"}},
		{`{"C":null}`, []string{"C"}},
		{`{"C":[1]}`, []string{"C"}},
		{`{"standardize":1}`, []string{"standardize"}},
		{`[]`, []string{"spec"}},
		{`"svm"`, []string{"spec"}},
	} {
		err := json.Unmarshal([]byte(c.json), new(ml.Spec))
		var ps param.Problems
		require.Must(t, errors.As(err, &ps), "%s gives %v, want param.Problems", c.json, err)
		fields := lists.Map(ps, func(p param.Problem) string { return p.Field })
		require.Equal(t, cmp.Diff(c.fields, fields), "", "%s", c.json)
	}
	s := require.JSON[ml.Spec](t, `{"C":"10","gamma":0.5,"max_iter":"100"}`)
	require.Equal(t, s.Values.Number("C"), 10, "C as text")
	require.Equal(t, s.Values.Int("max_iter"), 100, "max_iter as text")
}

func FuzzSpecJSON(f *testing.F) {
	f.Add(`{"C":2,"features":["a","b"]}`)
	f.Add(`{"gamma":"scale","seed":1e3}`)
	f.Add(`{"C":null,"":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var s ml.Spec
		if json.Unmarshal([]byte(text), &s) != nil {
			return
		}
		require.NoError(t, s.Validate(), "read without an error, but")
		data := require.Value(json.Marshal(s))(t)
		back := require.JSON[ml.Spec](t, data, "%s", data)
		again, _ := json.Marshal(back)
		require.Must(t, string(again) == string(data), "%s was written again as %s", data, again)
	})
}

// A name tells first what differs from the last spec, also where it went back to the default.
func TestSpecName(t *testing.T) {
	t.Parallel()
	spec := func(set ...string) *ml.Spec { return new(spec(t, set...)) }
	for _, c := range []struct {
		last, spec *ml.Spec
		want       string
	}{
		{nil, spec(), "SVM, C 1"},
		{nil, spec("kernel", "poly", "C", "0.33333333"), "SVM, poly, C 0.3333"},
		{nil, spec("kernel", "linear", "hard_margin", "true"), "SVM, linear, hard margin"},
		{nil, spec("learner", "mcm", "C", "1e6", "conformal", "eigen", "rho", "0.1"), "MCM, C 10⁶, ρ 0.1, eigenvalue map"},
		{nil, spec("gamma", "12345.67", "C", "123456"), "SVM, γ 12346, C 123456"},
		{nil, spec("gamma", "0.25", "degree", "5"), "SVM, γ 0.25, C 1"},
		{nil, spec("gamma", "scale"), "SVM, γ scale, C 1"},
		{nil, spec("kernel", "poly", "coef0", "1", "degree", "2", "test_fraction", "0.3", "positive", "b"), "SVM, poly, r 1, p 2, C 1"},
		{nil, spec("multiclass", "cs", "tol", "1e-6"), "SVM, C 1, tolerance 10⁻⁶, Crammer and Singer"},
		{nil, spec("features", "x1,x2", "seed", "3"), "SVM, features x1,x2, C 1"},
		{nil, spec("project", "pca"), "SVM, two principal components, C 1"},
		{nil, spec("learner", "ridge", "lambda", "0.01", "C", "7"), "Kernel ridge, λ 0.01"},
		{nil, spec("kernel", "sigmoid", "C", "7", "hard_margin", "true", "conformal", "amari"), "SVM, sigmoid, hard margin, Amari–Wu map"},
		{nil, spec("gamma", "2", "C", "10"), "SVM, γ 2, C 10"},
		{spec("gamma", "2"), spec("gamma", "2", "C", "10"), "SVM, C 10, γ 2"},
		{spec("gamma", "2", "C", "10"), spec("C", "10"), "SVM, γ auto, C 10"},
		{spec("gamma", "2", "C", "10"), spec("gamma", "2", "C", "1"), "SVM, C 1, γ 2"},
		{spec("kernel", "poly"), spec("C", "10"), "SVM, rbf, C 10"},
		{spec("conformal", "eigen"), spec(), "SVM, no conformal map, C 1"},
		{spec("test_fraction", "0.3"), spec(), "SVM, nothing held out, C 1"},
		{spec(), spec("standardize", "false"), "SVM, not standardised, C 1"},
		{spec(), spec("seed", "2"), "SVM, seed 2, C 1"},
		{spec("gamma", "3"), spec("learner", "mcm", "rho", "0.01", "gamma", "3"), "MCM, ρ 0.01, γ 3, C 1"},
	} {
		require.Equal(t, c.spec.Name(c.last), c.want, "c.spec.Name(c.last)")
	}
}
