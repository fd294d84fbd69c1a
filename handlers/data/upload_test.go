package data_test

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/web"
)

func TestScripts(t *testing.T) { handlerstest.Scripts(t) }

// TestTooLarge sends more than is accepted by either form: the fault stands at its field.
func TestTooLarge(t *testing.T) {
	limits := dataset.DefaultLimits
	limits.Bytes = 1 << 20
	c := handlerstest.Fresh(t, false, limits).Browse(t, handlerstest.Alice)
	rows := strings.Repeat("1,2,a\n", int(limits.Bytes+web.FormBytes)/6+1)
	doc := c.Send(http.StatusRequestEntityTooLarge, "/datasets", url.Values{"text": {rows}}.Encode()).HTML()
	require.Equal(t, doc.Find("#f-typed-error").Text(), "The rows are larger than 1 MB. Nothing was saved.", "at the pasted rows")
	doc = sendFile(c, http.StatusRequestEntityTooLarge, "x.csv", rows)
	require.Equal(t, doc.Find("#f-file-error").Text(), "The file is larger than 1 MB. Nothing was saved.", "at the file")
}

// TestMissingValues sends a file with gaps through every door: the page asks once, with the
// counts, and says beside the data what was done; programs and the terminal say it with a word.
func TestMissingValues(t *testing.T) {
	t.Parallel()
	const file = "id,when,age,height,group\n1,1.2.2024,31,1.7,a\n2,2.2.2024,,1.8,b\n3,3.2.2024,45,,a\n4,4.2.2024,28,1.6,b\n5,5.2.2024,30,1.65,\n"
	s := handlerstest.Serve(t, false)
	c := s.Browse(t, handlerstest.Alice)
	for answer, want := range map[string]struct{ rows, note string }{
		"drop":   {"2 × 2", "3 of 5 rows left out because a value is missing"},
		"median": {"4 × 2", "1 of 5 rows left out because the label is missing (line 6); 2 missing values filled with the column's median (age, height), computed on the training rows only"},
	} {
		doc := sendFile(c, http.StatusOK, "people.csv", file)
		form, _ := doc.Find("form[action^='/datasets/mapping/']").Attr("action")
		text := doc.Text()
		require.SaysAll(t, text, []string{"Leave out these 3 rows", "Fill in the median", "the 2 missing values", "numbers, 1 missing", "dates"}, "is not asked")
		require.Slices(t, handlerstest.Attrs(doc.Find("input[name=feature][checked]"), "value"), []string{"age", "height"}, "features")
		page := c.Send(http.StatusOK, form, "label=group&feature=age&feature=height&missing="+answer).HTML()
		require.SaysAll(t, page.Text(), []string{want.rows, want.note}, "%s: not %v", answer, want)
		set := c.Upload("name=p&label=group&features=age,height&missing="+answer, file)
		require.Check(t, strings.HasPrefix(set.Origin, "uploaded p; ") && strings.Contains(set.Origin, want.note),
			"%s: origin %q", answer, set.Origin)
	}
	c.Want(http.StatusUnprocessableEntity, "POST", "/api/datasets?name=p&label=group&features=age,height", file)
	c.Want(http.StatusUnprocessableEntity, "POST", "/api/datasets?name=p&missing=guess", file)
}

// TestSheets asks for the sheet of a workbook that has several, and reads the one that is
// chosen; programs name it.
func TestSheets(t *testing.T) {
	t.Parallel()
	raw := require.Value(os.ReadFile("../../ml/dataset/testdata/spreadsheets/workbook-two-tables.xlsx"))(t)
	s := handlerstest.Serve(t, false)
	c := s.Browse(t, handlerstest.Alice)
	doc := sendFile(c, http.StatusOK, "pets.xlsx", string(raw))
	form, _ := doc.Find("form[method=post][action^='/datasets/mapping/']").Attr("action")
	sheets := handlerstest.Texts(doc.Find("select[name=sheet] option"))
	require.Slices(t, sheets, []string{"Read me", "Cats", "Dogs"}, "sheets")
	c.Want(http.StatusUnprocessableEntity, "GET", form+"?sheet=Birds", "")
	c.Send(http.StatusUnprocessableEntity, form, "sheet=Birds&label=kind&feature=weight&feature=age")
	asked := c.Want(http.StatusOK, "GET", form+"?sheet=Dogs", "").HTML()
	v := asked.Find("input[type=hidden][name=sheet]").AttrOr("value", "")
	require.Check(t, v == "Dogs" && strings.Contains(asked.Text(), "beagle"), "the sheet %q is shown", v)
	text := c.Send(http.StatusOK, form, "sheet=Dogs&label=kind&feature=weight&feature=age").HTML().Text()
	require.Check(t, strings.Contains(text, "4 × 2") && strings.Contains(text, `sheet "Dogs" of 3`), "not said:\n%.500s", text)
	require.Equal(t, c.Upload("name=p&sheet=cats", string(raw)).Rows, 3, "rows")
	c.Want(http.StatusUnprocessableEntity, "POST", "/api/datasets?name=p&sheet=cats", "x,label\n1,a\n2,b\n")
}
