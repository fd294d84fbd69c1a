package data_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/api"
	"marginlab/handlers/cmdline"
	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/views"
	"marginlab/web"
)

// An archive of texts is uploaded through the API, trained on, and texts are predicted; faults in it
// are named, and so are exceeded limits.
func TestAPIArchive(t *testing.T) {
	t.Parallel()
	limits := dataset.DefaultLimits
	limits.Bytes = 2000
	c := handlerstest.Serve(t, true, limits).As(t, handlerstest.Alice)
	set := c.Upload("name=reviews.zip", require.Zip(t, "pos/1", "good", "pos/2", "so good", "neg/1", "bad", "neg/2", "so bad"))
	require.Must(t, set.Kind == "strings" && set.Rows == 4 && fmt.Sprint(set.Classes) == "[neg pos]", "%+v", set)
	run := c.Done(`{"dataset":"` + set.ID + `","spec":{"kernel":"spectrum","k":2}}`)
	a := c.Want(200, "POST", "/api/runs/"+run+"/predictions", require.Zip(t, "x/1", "goods", "x/2", "bads"), "Content-Type", "application/octet-stream")
	lines := strings.Split(string(a.Body), "\n")
	require.Check(t, len(lines) == 4 && strings.HasPrefix(lines[1], "1,pos,") && strings.HasPrefix(lines[2], "2,neg,"), "%s", a.Body)
	for _, tt := range []struct {
		status int
		says   string
		files  []string
	}{
		{422, "r.zip, neg/1: expected a string, found nothing", []string{"pos/1", "good", "neg/1", ""}},
		{422, "r.zip: expected a folder for each class", []string{"pos/1", "good", "pos/2", "fine"}},
		{413, "r.zip, pos/1: expected at most 1.953\u00a0kB in all files, uncompressed", []string{"neg/1", strings.Repeat("a", 1500), "pos/1", strings.Repeat("b", 1500)}},
	} {
		c.Says(tt.status, tt.says, "POST", "/api/datasets?name=r.zip", require.Zip(t, tt.files...))
	}
}

// sendFile uploads a file by the page.
func sendFile(c *handlerstest.Client, status int, name, text string) *goquery.Document {
	c.T.Helper()
	a := c.Attach("/datasets", name, text)
	require.Must(c.T, a.Status == status, "%s: status %d, want %d: %s", name, a.Status, status, a.Body)
	return a.HTML()
}

// TestUglyStrings sends invalid strings through the page, the API
// and the terminal: each names the fault in the same words.
func TestUglyStrings(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Alice)
	for _, tt := range []struct{ name, text, says string }{
		{"empty.csv", "s,class\nab,x\n,y\n", "line 3, column 1 (s): expected a string, found nothing"},
		{"blanks.csv", "s,class\nab,x\n\"\t \",y\n", "line 3, column 1 (s): expected a string, found nothing"},
		{"unlabelled.csv", "#strings\ns,class\nab,x\ncd,\n", "line 4, column 2 (class): expected a label, found nothing"},
		{"bytes.csv", "s,class\nab,x\nc\x81\x9dd,y\n", "line 3: expected UTF-8 text, found byte 0x81"},
		{"wide.csv", "\xff\xfes\x00\x00\xdc", "line 1: expected text, found invalid UTF-16"},
		{"zero.csv", "s,class\na\x00b,x\ncd,y\n", "line 2: expected UTF-8 text, found a zero byte"},
		{"ragged.csv", "s,class\nab,x\ncd,y,z\n", "line 3: expected 2 fields separated by comma, found 3"},
		{"one.csv", "#strings\ns,class\nab,x\ncd,x\n", `column 2 (class): expected at least two classes, found only "x"`},
		{"none.fa", ">a x\nAC\n>b y\n>c x\nA\n", `line 3: expected a sequence below ">b", found nothing`},
		{"bare.fa", ">a\nAC\n>b\nA\n", "line 1: expected a label after the name, as in >a label"},
		{"cut.zip", "PK\x03\x04rest", "expected a zip archive, found a damaged one"},
	} {
		says := tt.name + ", " + tt.says
		if !strings.HasPrefix(tt.says, "line") && !strings.HasPrefix(tt.says, "column") {
			says = tt.name + ": " + tt.says
		}
		got := sendFile(c, http.StatusUnprocessableEntity, tt.name, tt.text).Find(".upload .error").Text()
		require.Check(t, strings.Contains(got, says), "page: %s, want %s", got, says)
		if got := handlerstest.Decode[web.Problem](c.Want(http.StatusUnprocessableEntity, "POST", "/api/datasets?name="+tt.name, tt.text)); !strings.Contains(got.Errors.For("file"), says) {
			t.Errorf("programs: %+v, want %s", got, says)
		}
		path := require.File(t, tt.name, tt.text)
		var out, notes bytes.Buffer
		code := cmdline.Run(t.Context(), cmdline.Commands, []string{"fit", "--kernel", "spectrum", "--data", path}, cmdline.Streams{Out: &out, Err: &notes})
		require.Check(t, code == 1 && out.Len() == 0 && strings.Count(notes.String(), "\n") == 1 && strings.Contains(notes.String(), says),
			"terminal: exit %d, %s, want %s", code, notes.String(), says)
	}
}

// TestOddStrings trains on strings that are odd and right by every learner: each has an
// answer, or an error that says what to do.
func TestOddStrings(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	for name, text := range map[string]string{
		"shorter than k":        "s,class\na,x\nb,y\nc,x\nd,y\n",
		"some shorter than k":   "s,class\na,x\nabcd,y\nabce,x\nd,y\n",
		"of any letters":        "s,class\nßÄ→漢字,x\n漢字ÄÄß,y\n👩‍🔬👩‍🔬,x\nÄ-:!?,y\n",
		"a class of one member": "s,class\nabcd,x\nabce,y\nbcde,y\nxbcd,y\nabcd,y\n",
		"all the same":          "s,class\nabcd,x\nabcd,y\nabcd,x\nabcd,y\n",
	} {
		set := c.Upload("name=odd&kind=strings&label=class", text)
		for _, l := range ml.Learners {
			for _, spec := range []string{`"kernel":"spectrum","k":3`, `"kernel":"gap-subsequence","k":2,"normalize":true,"test_fraction":0.4`} {
				id := c.Done(fmt.Sprintf(`{"dataset":%q,"spec":{"learner":%q,%s}}`, set.ID, l.Name, spec))
				run := handlerstest.Decode[api.Run](c.Want(200, "GET", "/api/runs/"+id, ""))
				switch {
				case run.Status == "failed" && strings.Contains(run.Error, ";"): // the fault; the remedy
				case run.Status != "done" || run.Report == nil:
					t.Errorf("%s, %s, %s: %s %s", name, l.Name, spec, run.Status, run.Error)
				default:
					c.Want(200, "GET", "/api/runs/"+id+"/predictions.csv", "")
				}
			}
		}
	}
}

// TestUploadOfStrings uploads files by the page: one that is beyond doubt, and one whose
// columns are asked for.
func TestUploadOfStrings(t *testing.T) {
	c := handlerstest.Fresh(t, true).Browse(t, handlerstest.Alice)
	send := func(name, text string) *goquery.Document { return sendFile(c, 200, name, text) }
	require.Says(t, send("dna.csv", sequences(20)).Find("main").Text(), "20 strings", "the page of the upload")
	if doc := send("reviews.zip", require.Zip(t, "pos/1.txt", "good\nenough", "neg/2.txt", "bad")); !strings.Contains(doc.Find("main").Text(), "2 strings") || !strings.Contains(doc.Find("td").Text(), "good enough") || !strings.Contains(doc.Find("th").Text(), "text") {
		t.Error(doc.Find("main").Text())
	}
	doc := send("words.csv", "word,number,kind\ncat,1,a\ncart,2,b\nbar,3,a\nbart,4,b\n")
	form := doc.Find(`form[action*="/datasets/mapping/"]`)
	action, _ := form.Attr("action")
	require.Must(t, form.Find(`input[name="kind"][value="strings"]`).Length() == 1, "%v", form.Text())
	v, _ := form.Find(`input[name="objects"][checked]`).Attr("value")
	require.Check(t, v == "word", "the strings are said to stand in %q", v)
	doc = c.Send(http.StatusOK, action, "name=Words&kind=strings&label=kind&objects=word&feature=number").HTML()
	require.Check(t, strings.Contains(doc.Text(), "4 strings") && strings.Contains(doc.Find("td").Text(), "cart"),
		"%v", doc.Find("main").Text())
}

// TestTryString types a string in the lab, by the form and live, and compares with the
// predictions of the run of the same settings.
func TestTryString(t *testing.T) {
	c := handlerstest.Fresh(t, true).Browse(t, handlerstest.Alice)
	for _, tt := range []struct{ data, query, spec string }{
		{"dna", "kernel=gap-subsequence&k=3&normalize=true&C=10&test_fraction=0", `{"kernel":"gap-subsequence","k":3,"normalize":true,"C":10}`},
		{"dna", "kernel=spectrum&k=4&test_fraction=0.4&conformal=amari", `{"kernel":"spectrum","k":4,"test_fraction":0.4,"conformal":"amari"}`},
		{c.Upload("name=three", "sequence,class\ncat,a\ncats,a\ndog,b\ndogs,b\nbird,c\nbirds,c\n").ID, "kernel=spectrum&k=2&multiclass=ovo&test_fraction=0", `{"kernel":"spectrum","k":2,"multiclass":"ovo"}`},
	} {
		word := "GATTACATTGdogs"
		run := c.Done(`{"dataset":"` + tt.data + `","spec":` + tt.spec + `}`)
		told := strings.Split(strings.Split(string(c.Want(200, "POST", "/api/runs/"+run+"/predictions", "sequence\n"+word+"\n", "Content-Type", "text/csv").Body), "\n")[1], ",")
		q := "data=" + tt.data + "&" + tt.query + "&try=" + word
		doc := c.Page(200, "/lab?"+q)
		shown := doc.Find("#tried")
		var scores []string
		for _, v := range told[2:] {
			f := require.Value(strconv.ParseFloat(v, 64))(t)
			scores = append(scores, views.Short(f))
		}
		require.Check(t, fmt.Sprint(shown.Find(".value").Map(func(_ int, v *goquery.Selection) string { return v.Text() })) == fmt.Sprint(scores) && shown.Find("strong").Text() == told[1] && shown.Find("li").Length() == 3 && doc.Find("#f-try").Text() == word,
			"%s: %s, want class %s and %v", tt.query, shown.Text(), told[1], scores)
		live := require.JSON[struct{ Tried, Query string }](t, c.Fetch("POST", "/lab/live", q).Body)
		require.Says(t, live.Tried, "<strong>"+told[1], "live")
		require.Says(t, live.Query, "try="+word, "live")
	}
	// A support vector is nearest to itself.
	near := c.Page(200, "/lab?data="+c.Upload("", "w,c\ncat,a\ndog,b\n").ID+"&k=1&try=cat").Find("#tried li").First().Text()
	require.Check(t, near == "catrow 1, a, at the distance 0", "%v", near)
	for query, says := range map[string]string{
		"data=dna&try=":                               "",
		"data=dna&kernel=spectrum&k=0&try=A":          "",
		"data=dna&k=5&try=ACG":                        "f = ",
		"data=dna&try=" + url.QueryEscape(" \u00df "): "f = ",
		"data=dna&try=" + strings.Repeat("A", 10_001): "10001 symbols exceed the 10000 that are tried",
	} {
		shown := c.Page(200, "/lab?"+query).Find("#tried").Text()
		require.Check(t, strings.Contains(shown, says) && (says != "" || strings.TrimSpace(shown) == ""), "%.40s: %s", query, shown)
	}
	require.Check(t, c.Page(200, "/lab?data=moons&try=cat").Find("#f-try").Length() == 0, "points are typed as strings")
}

// TestLongString sends a string of more symbols than one may have: too long for a script.
func TestLongString(t *testing.T) {
	c := handlerstest.Fresh(t, false).As(t, handlerstest.Alice)
	set := c.Upload("", "w,c\ncat,a\ndog,b\n")
	got := c.Send(http.StatusUnprocessableEntity, "/datasets/"+set.ID+"/objects", "act=put&row=0&hash="+set.Hash+"&label=a&object="+strings.Repeat("a", 200_001)).HTML().Find("#f-object-error").Text()
	require.Says(t, got, "200000 symbols", "the fault")
}

// Of objects put in at the same moment, for one version of the data, one is in it. The forms of the others
// come back with what was typed.
func TestObjectsPutAtOnce(t *testing.T) {
	c := handlerstest.Fresh(t, false).As(t, handlerstest.Alice)
	set := c.Upload("", "w,c\ncat,a\ndog,b\n")
	var group sync.WaitGroup
	var saved atomic.Int64
	for i := range 8 {
		group.Go(func() {
			form := url.Values{"act": {"put"}, "row": {"0"}, "hash": {set.Hash}, "label": {"a"}, "object": {strings.Repeat("x", i+1)}}
			a := c.Do("POST", "/datasets/"+set.ID+"/objects", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
			if a.Status < http.StatusBadRequest {
				saved.Add(1)
			} else if a.Status != http.StatusConflict || a.HTML().Find("#f-object").Text() != form.Get("object") {
				t.Errorf("%d: %s", a.Status, a.Body)
			}
		})
	}
	group.Wait()
	require.Equal(t, saved.Load(), 1, "saved")
}
