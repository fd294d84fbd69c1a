package dataset

import (
	"fmt"
	"slices"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Put returns data with row i, counted from 0, replaced by the object in text, in the notation of
// Objects.Text, and its label; if i is the number of rows, the object is appended. It supports
// kinds whose canonical form has one column, such as strings. Mistakes are param.Problems for the
// fields object and label.
func (d *Data) Put(i int, text, label string) (*Data, error) {
	if i < 0 || i > d.Len() {
		return nil, fmt.Errorf("row %d does not exist: the data have %d rows", i+1, d.Len())
	}
	o := d.objects()
	if len(o.header()) != 1 || o.Kind() == KindVectors {
		return nil, fmt.Errorf("objects of kind %s have no text form", o.Kind())
	}
	dec, err := o.Kind().entry().decode(o.header())
	if err != nil {
		return nil, err
	}
	labels := d.labels()
	if i == len(labels) {
		labels = append(labels, "")
	}
	labels[i] = tidy(label)
	var problems param.Problems
	problems.Note("label", checkText("label", labels[i]))
	for row := range labels {
		cell := tidy(text)
		if row != i {
			cell = o.Text(row)
		}
		_, err := dec.add([]string{cell})
		problems.Note("object", err)
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return relabelled(d.Label, dec.objects(), labels), nil
}

// Drop returns data without row i, which must not be the only one. A class without rows is
// removed.
func (d *Data) Drop(i int) (*Data, error) {
	switch {
	case i < 0 || i >= d.Len():
		return nil, fmt.Errorf("row %d does not exist: the data have %d rows", i+1, d.Len())
	case d.Len() == 1:
		return nil, param.Refuse("delete the data set", "this is the last row")
	}
	rows := slices.Delete(Indices(d.Len()), i, i+1)
	return relabelled(d.Label, d.objects().Subset(rows), slices.Delete(d.labels(), i, i+1)), nil
}

func (d *Data) labels() []string { return lists.At(d.Classes, d.Y) }

// relabelled returns data of objects with labels; name is the label column's.
func relabelled(name string, o Objects, labels []string) *Data {
	d := &Data{Label: name}
	d.setObjects(o)
	d.setLabels(tidyLabels(labels))
	return d
}
