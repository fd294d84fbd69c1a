package data

import (
	"errors"
	"net/http"

	"marginlab/handlers/frame"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	dataview "marginlab/views/data"
)

// Generate stores generated data as a data set.
func (a *Handler) Generate(w http.ResponseWriter, r *http.Request) error {
	g, err := dataset.FindGenerator(r.PostFormValue("generator"))
	if err != nil {
		return err
	}
	values, problems := frame.GeneratorValues(g, func(p param.Param) (string, bool) { return p.Typed(r.PostFormValue(p.Name)), true })
	if len(problems) > 0 {
		return a.generateAgain(w, r, g, problems)
	}
	d, err := g.Generate(values)
	if errors.As(err, &problems) {
		return a.generateAgain(w, r, g, problems)
	}
	if err != nil {
		return err
	}
	return a.keep(w, r, g.Title(values), g.Origin(values), d)
}

func (a *Handler) generateAgain(w http.ResponseWriter, r *http.Request, g dataset.Generator, problems param.Problems) error {
	p, err := a.datasets(r)
	if err != nil {
		return err
	}
	for i := range p.Generators {
		f := &p.Generators[i]
		f.Open = f.Name == g.Name
		for k := range f.Fields {
			if f.Open {
				f.Fields[k].Value, f.Fields[k].Error = r.PostFormValue(f.Fields[k].Name), problems.For(f.Fields[k].Name)
			}
		}
	}
	w.WriteHeader(http.StatusUnprocessableEntity)
	return a.Render(w, r, dataview.DatasetsPage(p))
}
