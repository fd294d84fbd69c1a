package frame

import (
	"context"
	"net/url"
	"strings"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

const (
	// OfGenerator is the prefix of the ids of generated data: a generator with its chosen
	// parameters, such as "new-moons" or "new-moons,n=300,noise=0.2". Equal ids have equal
	// data.
	OfGenerator = "new-"
	// OfValue is the prefix of the controls of a generator's parameters.
	OfValue = "gen."
)

// Generated parses an id with the prefix OfGenerator. Values of the generator's controls in a form
// take precedence. Invalid values are returned as param.Problems for their controls and ignored.
func Generated(id string, form url.Values) (g dataset.Generator, values param.Values, err error) {
	name, chosen, _ := strings.Cut(strings.TrimPrefix(id, OfGenerator), ",")
	if g, err = dataset.FindGenerator(name); err != nil {
		return g, nil, err
	}
	texts := map[string]string{}
	for word := range strings.SplitSeq(chosen, ",") {
		if name, text, ok := strings.Cut(word, "="); ok {
			texts[name] = text
		}
	}
	values, problems := GeneratorValues(g, func(p param.Param) (string, bool) {
		if text := p.Typed(form.Get(OfValue + p.Name)); text != "" {
			return text, true
		}
		text, ok := texts[p.Name]
		return text, ok
	})
	for i := range problems {
		problems[i].Field = OfValue + problems[i].Field
	}
	for _, p := range g.Params {
		if v, ok := values[p.Name]; ok && v.Text() == p.Default {
			delete(values, p.Name)
		}
	}
	return g, values, problems.Err()
}

// GeneratorValues reads the values of a generator's parameters; text returns the text entered for a
// parameter, if any. Invalid values are reported and ignored.
func GeneratorValues(g dataset.Generator, text func(param.Param) (string, bool)) (values param.Values, problems param.Problems) {
	values = param.Values{}
	for _, p := range g.Params {
		typed, ok := text(p)
		if !ok {
			continue
		}
		if v, err := p.Labelled().Parse(typed); err != nil {
			problems.Note(p.Name, err)
		} else {
			values = values.With(p.Name, v)
		}
	}
	return values, problems
}

// GeneratedID returns the id of generated data, readable by Generated.
func GeneratedID(g dataset.Generator, values param.Values) string {
	id := OfGenerator + g.Name
	for _, p := range g.Params {
		if v, ok := values[p.Name]; ok {
			id += "," + p.Name + "=" + v.Text()
		}
	}
	return id
}

func (a *Base) generated(ctx context.Context, id string) (p Points, err error) {
	g, values, err := Generated(id, nil)
	if err != nil {
		return p, err
	}
	id = GeneratedID(g, values)
	p.Name = g.Title(values)
	for _, q := range g.Params[1:] {
		if v, ok := values[q.Name]; ok {
			p.Name += ", " + q.Name + "=" + v.Text()
		}
	}
	if p.Data, err = a.stored.Get(ctx, id, func(context.Context) (*dataset.Data, error) { return g.Generate(values) }); err != nil {
		return p, err
	}
	p.Hash, err = a.hashes.Get(ctx, id, func(context.Context) (string, error) { return p.Data.Hash(), nil })
	return p, err
}
