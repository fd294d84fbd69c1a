package figure

import (
	"strings"
	"testing"

	"marginlab/ml/dataset"
)

func TestObjectsAreOfEveryClass(t *testing.T) {
	t.Parallel()
	for _, b := range dataset.Builtins {
		d, err := b.Load()
		if err != nil {
			t.Fatal(err)
		}
		pic, err := Objects(d, Format{Width: 228, Height: 171})
		if err != nil {
			t.Fatal(err)
		}
		if drawn := b.Kind == dataset.KindStrings || b.Kind == dataset.KindGraphs; drawn != (pic != nil) {
			t.Errorf("%s: a picture of objects: %v", b.Name, pic != nil)
		}
		if b.Kind != dataset.KindStrings {
			continue
		}
		var svg strings.Builder
		if err := pic.SVG(&svg); err != nil {
			t.Fatal(err)
		}
		for k, class := range d.Classes {
			row := inTurn(d, sampledStrings)[k]
			if d.Classes[d.Y[row]] != class || !strings.Contains(svg.String(), d.Objects.Text(row)[:3]) {
				t.Errorf("%s: no string of class %s is drawn", b.Name, class)
			}
		}
	}
}
