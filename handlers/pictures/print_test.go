package pictures

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

// A picture is drawn once for all who ask for it, at the same time and later, and not at
// all for those who have it.
func TestPrintsOnce(t *testing.T) {
	t.Parallel()
	build := "one"
	base := New(nil, nil, 0, func() string { return build })
	var drawn atomic.Int32
	sheet := Sheet{Key: "k", Public: true, Format: "svg", Draw: func(context.Context) (*figure.Picture, error) {
		drawn.Add(1)
		return figure.Chart{Format: figure.Format{Width: 300, Height: 200}, Curves: []figure.Curve{{X: []float64{0, 1}, Y: []float64{1, 0}}}}.Picture()
	}}
	ask := func(s Sheet, address, has string) *http.Response {
		t.Helper()
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", address, nil)
		r.Header.Set("If-None-Match", has)
		w.Header().Set("Set-Cookie", "workspace")
		require.Equal(t, base.SendPrint(w, r, s), nil, "base.SendPrint(w, r, s)")
		return w.Result()
	}
	address := "/p.svg?" + base.Lasting("a=1")
	var students sync.WaitGroup
	for range 200 {
		students.Go(func() {
			if a := ask(sheet, address, ""); a.StatusCode != 200 || a.Header.Get("Content-Type") != "image/svg+xml" {
				t.Error(a.Status, a.Header)
			}
		})
	}
	students.Wait()
	tag := ask(sheet, address, "").Header.Get("ETag")
	a := ask(sheet, address, tag)
	require.Check(t, a.StatusCode == 304, "%v", a.Status)
	require.Equal(t, drawn.Load(), 1, "drawn … times")

	for _, test := range []struct {
		sheet   Sheet
		address string
		want    string
	}{
		{sheet, address, "public, max-age=31536000, immutable"},
		{sheet, "/p.svg?a=1&v=older", "public, no-cache"},
		{sheet, "/p.svg?a=1", "public, no-cache"},
		{Sheet{Key: "mine", Format: "svg", Draw: sheet.Draw}, address, "private, no-cache"},
	} {
		a := ask(test.sheet, test.address, "")
		got := a.Header.Get("Cache-Control")
		require.Check(t, got == test.want && (a.Header.Get("Set-Cookie") == "") == test.sheet.Public, "%s: %q, %v", test.address, got, a.Header)
	}
	png := sheet
	png.Format = "png"
	a = ask(png, address, tag)
	require.Check(t, a.StatusCode == 200 && a.Header.Get("Content-Type") == "image/png", "%v %v", a.Status, a.Header)
	build = "two" // draws otherwise, maybe
	if a := ask(sheet, address, tag); a.StatusCode != 200 || strings.Contains(a.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("another build: %s, %v", a.Status, a.Header)
	}

	before := drawn.Load()
	for range 2 { // without a key
		a := ask(Sheet{Format: "svg", Draw: sheet.Draw}, address, tag)
		require.Check(t, a.StatusCode == 200 && a.Header.Get("ETag") == "", "%v %v", a.Status, a.Header)
	}
	require.Equal(t, drawn.Load()-before, 2, "drawn … times")
	broken := Sheet{Key: "broken", Format: "svg", Draw: func(context.Context) (*figure.Picture, error) { return nil, errors.New("no ink") }}
	err := base.SendPrint(httptest.NewRecorder(), httptest.NewRequest("GET", address, nil), broken)
	require.Check(t, err != nil, "no error")
}
