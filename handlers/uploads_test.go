package handlers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/semaphore"

	"marginlab/ml/dataset"
	"marginlab/store"
	"marginlab/web"
)

// digitsFile is a file of values of one digit, the shortest there are: no other is as much
// larger in memory.
func digitsFile(rows, columns int) string {
	var b strings.Builder
	for j := range columns {
		fmt.Fprintf(&b, "x%d,", j+1)
	}
	b.WriteString("label\n")
	seed := uint32(1)
	for i := range rows {
		for range columns {
			seed = seed*1664525 + 1013904223
			b.WriteByte('0' + byte(seed>>16%10))
			b.WriteByte(',')
		}
		b.WriteString([]string{"A\n", "B\n"}[i%2])
	}
	return b.String()
}

// uploadAtOnce lets n people send a file in a form, all at the same time, and look at its page
// and its picture. Each has a workspace of their own, and one point more than the one before.
func uploadAtOnce(t *testing.T, s *server, n int, file string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	last := file[strings.LastIndex(file[:len(file)-1], "\n")+1:]
	var people sync.WaitGroup
	for i := range n {
		people.Go(func() {
			ask := func(want int, method, path, kind string, body io.Reader) (location string) {
				r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, body)
				if err != nil {
					t.Error(err)
					return ""
				}
				r.Header.Set("Authorization", fmt.Sprintf("Bearer %032x", i+1))
				r.Header.Set("Content-Type", kind)
				a, err := client.Do(r)
				if err != nil {
					t.Error(err)
					return ""
				}
				defer a.Body.Close()
				if a.StatusCode != want {
					said, _ := io.ReadAll(a.Body)
					t.Errorf("%s %s: %s, want %d\n%s", method, path, a.Status, want, said)
				}
				_, _ = io.Copy(io.Discard, a.Body)
				return a.Header.Get("Location")
			}
			var head, end bytes.Buffer
			form := multipart.NewWriter(&head)
			if _, err := form.CreateFormFile("file", "digits.csv"); err != nil {
				t.Error(err)
			}
			fmt.Fprintf(&end, "%s\r\n--%s--\r\n", strings.Repeat(last, i), form.Boundary())
			if page := ask(http.StatusSeeOther, "POST", "/datasets", form.FormDataContentType(), io.MultiReader(&head, strings.NewReader(file), &end)); page != "" {
				ask(http.StatusOK, "GET", page, "", nil)
				ask(http.StatusOK, "GET", page+"/figures/points.png", "", nil)
			}
		})
	}
	people.Wait()
}

// TestUploadsAtOnce is the small form of TestTwentyUploads, see load_test.go: there is room for
// two files at a time, each has its turn, and no temporary file is left.
func TestUploadsAtOnce(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s := serve(t, false, dataset.DefaultLimits)
	s.app.Memory = semaphore.NewWeighted(8 << 20)
	uploadAtOnce(t, s, 4, digitsFile(3000, 100))
	s.Close()
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v are left (%v)", left, err)
	}
}

// endUnderUploads stops a server while n people upload the file, of whom every other one never
// comes to an end, and tells how long it took. Each data set is there as a whole or not at all,
// those who were told so have theirs, and no temporary file is left.
func endUnderUploads(t *testing.T, n int, file string) time.Duration {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	app := serve(t, false, dataset.DefaultLimits).app
	server, err := web.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var underWay, requests sync.WaitGroup // until all have come; until the last has left, also those that were cut off
	underWay.Add(n)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		defer requests.Done()
		underWay.Done()
		app.Handler().ServeHTTP(w, r)
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, h) }()

	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	defer client.CloseIdleConnections()
	kept := make([]bool, n)
	ended, end := context.WithCancel(t.Context())
	defer end()
	var people sync.WaitGroup
	for i := range n {
		people.Go(func() {
			body, sender := io.Pipe()
			go func() { // a client looks at what became of its request when it has sent it
				<-ended.Done()
				sender.CloseWithError(io.ErrUnexpectedEOF)
			}()
			go func() {
				_, err := io.WriteString(sender, file[:len(file)/2])
				if i%2 == 0 && err == nil {
					_, err = io.WriteString(sender, file[len(file)/2:])
					sender.CloseWithError(err)
				}
			}()
			r, err := http.NewRequestWithContext(t.Context(), "POST", fmt.Sprintf("http://%s/api/datasets?name=digits", server.Addr()), body)
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Authorization", fmt.Sprintf("Bearer %032x", i+1))
			r.Header.Set("Content-Type", "text/csv")
			a, err := client.Do(r)
			if err != nil {
				return // it was cut off
			}
			defer a.Body.Close()
			kept[i] = a.StatusCode == http.StatusCreated
			if !kept[i] && a.StatusCode < 400 {
				t.Errorf("%d: %s", i, a.Status)
			}
		})
	}
	underWay.Wait()
	began := time.Now()
	stop()
	err = <-served
	took := time.Since(began)
	end()
	if err == nil {
		t.Error("requests that never end were not cut off")
	}
	people.Wait()
	requests.Wait()
	rows := strings.Count(file, "\n") - 1
	for i := range n {
		sets, err := app.Store.Datasets(t.Context(), store.WorkspaceOf(fmt.Sprintf("%032x", i+1)))
		if err != nil {
			t.Fatal(err)
		}
		if len(sets) > 1 || len(sets) == 1 && sets[0].Rows != rows || kept[i] && len(sets) == 0 {
			t.Errorf("upload %d, said to be kept: %v; %d data sets", i, kept[i], len(sets))
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v are left (%v)", left, err)
	}
	return took
}

// TestEndUnderUploads is the small form of TestGracefulEnd, see load_test.go: a server ends
// although files are still on their way, and keeps none of them by half.
func TestEndUnderUploads(t *testing.T) { endUnderUploads(t, 4, digitsFile(3000, 100)) }

// TestMissingValues sends a file with gaps through every door: the page asks once, with the
// counts, and says beside the data what was done; programs and the terminal say it with a word.
func TestMissingValues(t *testing.T) {
	t.Parallel()
	const file = "id,when,age,height,group\n1,1.2.2024,31,1.7,a\n2,2.2.2024,,1.8,b\n3,3.2.2024,45,,a\n4,4.2.2024,28,1.6,b\n5,5.2.2024,30,1.65,\n"
	s := serve(t, false, dataset.DefaultLimits)
	c := s.client(t, alice)
	c.cookie = &http.Cookie{Name: "marginlab_workspace", Value: alice}
	for answer, want := range map[string]struct{ rows, note string }{
		"drop":   {"2 × 2", "3 of 5 rows left out, in which a value is missing"},
		"median": {"4 × 2", "1 of 5 rows left out, in which the label is missing; 2 missing values filled with the median of the column (age, height), in training with that of the training rows"},
	} {
		doc := c.sendFile(http.StatusOK, "people.csv", file)
		form, _ := doc.Find("form[action^='/datasets/mapping/']").Attr("action")
		text := doc.Text()
		for _, says := range []string{"Leave out these 3 rows", "Fill in the median", "the 3 missing values", "numbers, 1 missing", "dates"} {
			if !strings.Contains(text, says) {
				t.Errorf("%q is not asked", says)
			}
		}
		var chosen []string
		doc.Find("input[name=feature][checked]").Each(func(_ int, i *goquery.Selection) { chosen = append(chosen, i.AttrOr("value", "")) })
		if diff := cmp.Diff([]string{"age", "height"}, chosen); diff != "" {
			t.Errorf("features (-want +got):\n%s", diff)
		}
		page := c.send(http.StatusOK, form, "label=group&feature=age&feature=height&missing="+answer).html()
		if text := page.Text(); !strings.Contains(text, want.rows) || !strings.Contains(text, want.note) {
			t.Errorf("%s: not %v:\n%.500s", answer, want, text)
		}
		set := c.upload("name=p&label=group&features=age,height&missing="+answer, file)
		if !strings.HasPrefix(set.Origin, "uploaded p; ") || !strings.Contains(set.Origin, want.note) {
			t.Errorf("%s: origin %q", answer, set.Origin)
		}
	}
	c.want(http.StatusUnprocessableEntity, "POST", "/api/datasets?name=p&label=group&features=age,height", file)
	c.want(http.StatusUnprocessableEntity, "POST", "/api/datasets?name=p&missing=guess", file)
}

// TestWordsAsFeatures offers a column of few words on the page of columns, makes columns of 0
// and 1 of it, and says so beside the data; programs name the column.
func TestWordsAsFeatures(t *testing.T) {
	t.Parallel()
	const file = "sex,note,age,group\nm,u,31,a\nf,v,22,b\nm,w,45,a\nf,x,28,b\n"
	s := serve(t, false, dataset.DefaultLimits)
	c := s.client(t, alice)
	c.cookie = &http.Cookie{Name: "marginlab_workspace", Value: alice}
	doc := c.sendFile(http.StatusOK, "people.csv", file)
	form, _ := doc.Find("form[action^='/datasets/mapping/']").Attr("action")
	if box := doc.Find("input[name=feature][value=sex]"); box.Length() != 1 || box.Is("[disabled]") || box.Is("[checked]") {
		t.Error("the column of words is not offered, or is chosen already")
	}
	if !strings.Contains(doc.Text(), "2 words") {
		t.Error("the page does not tell how many words")
	}
	const note = `"sex" read as a column of 0 and 1, "sex=m"`
	if text := c.send(http.StatusOK, form, "label=group&feature=age&feature=sex").html().Text(); !strings.Contains(text, "4 × 2") || !strings.Contains(text, note) {
		t.Errorf("not said:\n%.500s", text)
	}
	if set := c.upload("name=p&label=group&features=age,sex", file); !slices.Equal(set.Features, []string{"age", "sex=m"}) || !strings.Contains(set.Origin, note) {
		t.Errorf("%v, origin %q", set.Features, set.Origin)
	}
}

// TestSheets asks for the sheet of a workbook that has several, and reads the one that is
// chosen; programs name it.
func TestSheets(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../ml/dataset/testdata/spreadsheets/workbook-two-tables.xlsx")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, false, dataset.DefaultLimits)
	c := s.client(t, alice)
	c.cookie = &http.Cookie{Name: "marginlab_workspace", Value: alice}
	doc := c.sendFile(http.StatusOK, "pets.xlsx", string(raw))
	form, _ := doc.Find("form[method=post][action^='/datasets/mapping/']").Attr("action")
	var sheets []string
	doc.Find("select[name=sheet] option").Each(func(_ int, o *goquery.Selection) { sheets = append(sheets, o.Text()) })
	if diff := cmp.Diff([]string{"Read me", "Cats", "Dogs"}, sheets); diff != "" {
		t.Fatalf("sheets (-want +got):\n%s", diff)
	}
	c.want(http.StatusUnprocessableEntity, "GET", form+"?sheet=Birds", "")
	c.send(http.StatusUnprocessableEntity, form, "sheet=Birds&label=kind&feature=weight&feature=age")
	asked := c.want(http.StatusOK, "GET", form+"?sheet=Dogs", "").html()
	if v := asked.Find("input[type=hidden][name=sheet]").AttrOr("value", ""); v != "Dogs" || !strings.Contains(asked.Text(), "beagle") {
		t.Errorf("the sheet %q is shown", v)
	}
	if text := c.send(http.StatusOK, form, "sheet=Dogs&label=kind&feature=weight&feature=age").html().Text(); !strings.Contains(text, "4 × 2") || !strings.Contains(text, `the sheet "Dogs", of 3`) {
		t.Errorf("not said:\n%.500s", text)
	}
	if set := c.upload("name=p&sheet=cats", string(raw)); set.Rows != 3 {
		t.Errorf("%d rows", set.Rows)
	}
	c.want(http.StatusUnprocessableEntity, "POST", "/api/datasets?name=p&sheet=cats", "x,label\n1,a\n2,b\n")
}
