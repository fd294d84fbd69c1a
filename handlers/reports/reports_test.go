package reports_test

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/handlers/reports"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/repeat"
)

func TestScripts(t *testing.T) { handlerstest.Scripts(t) }

// evidence is a workspace with two runs, a search and a study that are done.
type evidence struct {
	*handlerstest.Client
	runs          [2]string
	search, study string
}

func gather(t *testing.T, s *handlerstest.Server) evidence {
	t.Helper()
	e := evidence{Client: s.As(t, handlerstest.Alice)}
	set := e.Upload("name=own%20points.csv", "x,y,label\n"+strings.Repeat("0,0,a\n1,0,a\n0,1,b\n1,1,b\n2,2,b\n3,1,a\n", 10)).ID
	for i, spec := range []string{`"gamma":2,"test_fraction":0.3`, `"kernel":"linear","test_fraction":0.3`} {
		e.runs[i] = e.Done(`{"dataset":"moons","name":"run_` + fmt.Sprint(i) + `","spec":{` + spec + `}}`)
	}
	e.search = handlerstest.Decode[api.RunStatus](e.Want(http.StatusAccepted, "POST", "/api/searches", `{"dataset":"`+set+`","spec":{},"grid":{"C":[1,10,100]},"folds":3,"nested":true}`)).ID
	e.App.Jobs.Wait(t.Context(), time.Hour, e.search)
	e.study = handlerstest.Decode[api.RunStatus](e.Want(http.StatusAccepted, "POST", "/api/studies", handlerstest.OrderOf("[scheme]\nfolds = 2\n[data.own]\nfile = \"own points.csv\"\n[data.moons]\ngenerator = \"moons\"\nn = 20\n[learner.SVM]\n[learner.MCM]\nlearner = \"mcm\"\n"))).ID
	e.Ended(e.study)
	return e
}

// text places everything that can be placed.
func (e evidence) text() string {
	return fmt.Sprintf("## Question\n\nIs $x^2$ **sparse**? <script>alert(1)</script> 5 %% & more_\n\n![A first run](/runs/%s)\n\n![](/runs/%s/figures/roc)\n\n![](/searches/%s)\n\n![](/studies/%s)\n\n![Both](/compare?run=%s&run=%s)\n",
		e.runs[0], e.runs[0], e.search, e.study, e.runs[0], e.runs[1])
}

func (e evidence) create(t *testing.T, text string) reports.Report {
	t.Helper()
	body := require.Value(json.Marshal(map[string]string{"title": "Findings & <b>more</b>", "text": text}))(t)
	return handlerstest.Decode[reports.Report](e.Want(http.StatusCreated, "POST", "/api/reports", string(body)))
}

// A report shows what the pages show, numbers figures and tables, has no HTML of its writer, and
// shows the same once all that it was made of is deleted.
func TestReportIsFrozen(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	e := gather(t, s)
	made := e.create(t, e.text())
	require.Must(t, len(made.Items) == 5, "%+v", made.Items)
	for i, want := range []string{"Test set, ", "Test set, ", "Best of 3 settings: C = ", "No learner is significantly better than SVM", "“run_"} {
		require.Says(t, made.Items[i].Verdict, want, "item %d says", i)
	}
	b := s.Browse(t, handlerstest.Alice)
	page := b.Page(http.StatusOK, "/reports/"+made.ID)
	require.Check(t, page.Find("article script, article b").Length() == 0 && strings.Contains(page.Find("article").Text(), "<script>alert(1)</script>") && page.Find("article math").Length() != 0,
		"the HTML of its writer is not shown as text, or the formula is not")
	text := page.Find("article").Text()
	for _, want := range []string{"Figure 1. A first run.", "Figure 2. run_0.", "Table 1.", "(n = ", "McNemar's exact test", "Mean rank", "marginlab repeat report.json", "marginlab fit --data moons"} {
		require.Check(t, strings.Contains(strings.Join(strings.Fields(text), " "), want), "the page does not say %q", want)
	}
	numbers := page.Find(".report-table td.value")
	require.Check(t, numbers.Length() != 0 && numbers.Filter(":contains(run)").Length() == 0, "words are aligned as numbers, or nothing is")
	b.Pictures(page, 5)

	e.Want(http.StatusNoContent, "DELETE", "/api/runs/"+e.runs[0], "")
	e.Want(http.StatusNoContent, "DELETE", "/api/searches/"+e.search, "")
	e.Want(http.StatusNoContent, "DELETE", "/api/studies/"+e.study, "")
	again := handlerstest.Decode[reports.Report](e.Want(http.StatusOK, "GET", "/api/reports/"+made.ID, ""))
	require.Equal(t, cmp.Diff(made, again), "", "diff")
	page = b.Page(http.StatusOK, "/reports/"+made.ID)
	require.Equal(t, page.Find(".report-source:contains('deleted since')").Length(), 5, "items of 5 that say they were deleted")
	b.Pictures(page, 5)

	// Saved again, even with its numbers brought up to date, it keeps what is gone.
	body, _ := json.Marshal(map[string]any{"title": made.Title, "text": e.text() + "\nmore", "refresh": true})
	changed := handlerstest.Decode[reports.Report](e.Want(http.StatusOK, "PUT", "/api/reports/"+made.ID, string(body)))
	require.Equal(t, cmp.Diff(made.Items, changed.Items), "", "diff")
	e.Want(http.StatusUnprocessableEntity, "POST", "/api/reports", `{"title":"new","text":"![](/runs/`+e.runs[0]+`)"}`)
}

// The files of a report have all that it shows, and the numbers of what is trained again agree; of
// data that were changed they do not.
func TestReportFiles(t *testing.T) {
	e := gather(t, handlerstest.Fresh(t, true))
	made := e.create(t, e.text())
	get := func(file string) string {
		return string(e.Want(http.StatusOK, "GET", "/api/reports/"+made.ID+"/"+file, "").Body)
	}
	for _, want := range []string{"# Findings &amp; &lt;b>more&lt;/b>\n", "Is $x^2$ **sparse**?", "![Figure 1. A first run](figures/1-1.svg)", "**Accuracy in %**", `| run\_0 |`, "marginlab cv --data 'own points.csv'", "marginlab study study-4.toml", "marginlab repeat report.json"} {
		require.Says(t, get("report.md"), want, "Markdown without")
	}
	for _, want := range []string{`\title{Findings \& $<$b$>$more$<$/b$>$}`, `\section*{Question}`, `Is $x^2$ \textbf{sparse}?`, `$<$script$>$alert(1)$<$/script$>$ 5 \% \& more\_`, `\includegraphics[width=0.7\linewidth]{figures/1-1.pdf}`, `\caption{A first run. `, `\begin{tabular}`, "marginlab cv --data 'own points.csv'", `\end{document}`} {
		require.Says(t, get("report.tex"), want, "LaTeX without")
	}
	packed := get("report.zip")
	z := require.Value(zip.NewReader(strings.NewReader(packed), int64(len(packed))))(t)
	names := lists.Map(z.File, func(f *zip.File) string { return f.Name })
	for _, want := range []string{"report.md", "report.tex", "report.json", "figures/1-1.svg", "figures/1-1.pdf", "figures/5-1.pdf", "study-4.toml"} {
		require.Check(t, strings.Contains(strings.Join(names, " "), want), "%v without %s", names, want)
	}

	f := require.Value(repeat.Read(strings.NewReader(get("report.json"))))(t)
	for _, task := range f.Tasks {
		compared := task.Compare(require.Value(task.Run(t.Context(), f.Data))(t))
		require.Check(t, len(compared) != 0, "%s has no numbers", task.Title)
		for _, c := range compared {
			require.Check(t, c.Agrees(), "%s, %s: was %g, is %g", c.Task, c.Name, c.Was, c.Is)
		}
	}
	for hash, text := range f.Points {
		f.Points[hash] = strings.Replace(text, "0", "1", 1)
	}
	require.Fails(t, require.Err(f.Tasks[0].Run(t.Context(), f.Data)), "were changed", "changed data are trained on")
}

// The figures of a page are sent from one reading of its report, also after it is shared.
func TestReportIsReadOnce(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	run := c.Done(`{"dataset":"moons"}`)
	var text strings.Builder
	for _, figure := range []string{"", "/figures/boundary"} {
		fmt.Fprintf(&text, `![](/runs/%s%s)\n\n`, run, figure)
	}
	id := handlerstest.Decode[reports.Report](c.Want(http.StatusCreated, "POST", "/api/reports", `{"title":"t","text":"`+text.String()+`"}`)).ID
	c.Want(http.StatusOK, "GET", "/reports/"+id, "")
	require.Must(t, c.App.Budget.TryAcquire(256<<20), "memory is in use")
	defer c.App.Budget.Release(256 << 20)
	for _, query := range []string{"", "?dark=1", "?narrow=1"} {
		c.Want(http.StatusOK, "GET", "/reports/"+id+"/figures/1-1.svg"+query, "")
	}
	for act, links := range map[string]bool{"share": true, "unshare": false} {
		page := string(c.Want(http.StatusOK, "POST", "/reports/"+id+"/"+act, "", "Content-Type", "application/x-www-form-urlencoded").Body)
		require.Equal(t, strings.Contains(page, "/shared/reports/"), links, "link after %s", act)
	}
}

// Of items added to a report at the same moment, each is in it or refused.
func TestItemsAddedAtOnce(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	id := handlerstest.Decode[reports.Report](c.Want(http.StatusCreated, "POST", "/api/reports", `{"title":"t","text":"x"}`)).ID
	var forms []url.Values
	for range 5 {
		forms = append(forms, url.Values{"report": {id}, "address": {"/runs/" + c.Done(`{"dataset":"moons"}`)}})
	}
	var group sync.WaitGroup
	var added atomic.Int64
	for _, form := range forms {
		group.Go(func() {
			a := c.Do("POST", "/reports/add", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
			if a.Status < http.StatusBadRequest {
				added.Add(1)
			} else if a.Status != http.StatusConflict {
				t.Errorf("%d: %s", a.Status, a.Body)
			}
		})
	}
	group.Wait()
	report := handlerstest.Decode[reports.Report](c.Want(http.StatusOK, "GET", "/api/reports/"+id, ""))
	require.Check(t, added.Load() > 0 && len(report.Items) == int(added.Load()), "%d items, %d were added", len(report.Items), added.Load())
}
