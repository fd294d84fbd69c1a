package data_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// TestProposal: the page says in a sentence what it takes a file for, and a correction is one
// click away: here that of a sentinel, and of a row of totals.
func TestProposal(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	file.WriteString("id,diagnosis,age,weight\n")
	for i := range 24 {
		age := fmt.Sprint(20 + i*7%40)
		if i == 5 {
			age = "-999"
		}
		fmt.Fprintf(&file, "%d,%c,%s,%d.5\n", 900+i*i, "BM"[i%2], age, 50+i)
	}
	file.WriteString("Total,,900,1500\n")
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	c := s.As(t, handlerstest.Alice)
	c.Cookie = &http.Cookie{Name: "marginlab_workspace", Value: handlerstest.Alice}
	doc := sendFile(c, http.StatusOK, "patients.csv", file.String())
	says := func(doc *goquery.Document, label, rest string) {
		t.Helper()
		if got := doc.Find("#f-label option[selected]").Text(); got != label || !strings.Contains(doc.Find(".sentence").Text(), rest) {
			t.Errorf("predicts %s: %s", got, doc.Find(".sentence").Text())
		}
	}
	says(doc, "diagnosis", "(B 12, M 12) from 2 columns; id left out.")
	form, _ := doc.Find("form[action^='/datasets/mapping/']").Attr("action")
	values := url.Values{"label": {"diagnosis"}, "feature": {"age", "weight"}, "missing": {"median"}}
	for _, box := range doc.Find("input[name=fix][checked]").EachIter() {
		values.Add("fix", box.AttrOr("value", ""))
	}
	got := strings.Join(values["fix"], " ")
	require.Must(t, got == "totals missing:-999:age", "corrections %q", got)
	other := c.Send(http.StatusOK, form, "label=weight&propose=diagnosis&fix=totals").HTML()
	says(other, "weight", "numbers from 50.5 to 73.5: a regression) from 2 columns; id left out.")
	require.Equal(t, other.Find("input[name=fix][checked]").Length(), 2, "corrections that come with another label")
	says(c.Send(http.StatusOK, form, "label=diagnosis&propose=diagnosis").HTML(), "diagnosis", "(B 12, M 12) from 2 columns")
	c.Send(http.StatusUnprocessableEntity, form, "label=diagnosis&feature=age&fix=nonsense")
	text := c.Send(http.StatusOK, form, values.Encode()).HTML().Text()
	require.Check(t, strings.Contains(text, "24 × 2") && strings.Contains(text, "−999 in age treated as missing (1 row)"), "not corrected:\n%.800s", text)
}
