package studies_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/handlers/results"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/study"
	"marginlab/store"
)

func TestScripts(t *testing.T) { handlerstest.Scripts(t) }

const ownPoints = "a,b,kind\n0,1,x\n1,0,x\n1,1,x\n0,0,x\n2,1,x\n5,5,y\n6,5,y\n5,6,y\n6,6,y\n1,2,y\n4,4,y\n3,3,x\n"

// A study in the background comes to what one process gets on the terminal, but for times,
// and is sent in every form; its file says it again.
func TestStudy(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	c.Upload("name=own+points", ownPoints)
	id := handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/studies", handlerstest.OrderOf(handlerstest.SmallStudy))).ID
	got := c.Ended(id)
	require.Must(t, got.Status == store.Done && got.Done == got.Total && len(got.Searches) == 4 && got.Title == "SVM · MCM on moons · mine",
		"%+v", got)
	asked := require.Value(study.Parse(got.Study, "study"))(t)
	samples := require.Value(asked.Load(func(string) (*dataset.Table, error) {
		return dataset.ParseTable(strings.NewReader(ownPoints), "own points.csv", dataset.DefaultLimits)
	}))(t)
	want := require.Value(study.Run(t.Context(), asked, samples, study.Keeper{}, nil))(t)
	for i := range want.Sets {
		for j := range want.Sets[i].Outcomes {
			want.Sets[i].Outcomes[j].Seconds = 0
			if got := &got.Result.Sets[i].Outcomes[j].Seconds; *got <= 0 || *got > 60 {
				t.Errorf("a training took %g s", *got)
			} else {
				*got = 0
			}
		}
	}
	require.Equal(t, cmp.Diff(want, got.Result), "", "diff")
	for file, has := range map[string]string{
		"results.csv": "moons,MCM,", "tests.csv": "accuracy,Wilcoxon,,MCM,SVM,", "tables.md": "| moons | 60 of 200 |", "tables.tex": `\begin{tabular}`, "results.json": `"against_baseline"`, "study.toml": `file = "own points.csv"`,
	} {
		if a := c.Want(200, "GET", "/studies/"+id+"/"+file, ""); !strings.Contains(string(a.Body), has) || !strings.Contains(a.Header.Get("Content-Disposition"), file) {
			t.Errorf("%s: %v\n%s", file, a.Header, string(a.Body))
		}
	}
	page := c.Page(200, "/studies/"+id)
	c.Pictures(page, 2)
	require.Equal(t, page.Find(".study-grid figcaption").First().Text(), "SVG PNG", "below the picture, which has its title")
	require.Says(t, page.Find("h1").Text(), "No learner is significantly better than SVM", "the verdict")
	require.Says(t, page.Find("main").Text(), "Training time in ms", "the page does not tell how long trainings took")
	require.Slices(t, handlerstest.Texts(page.Find("a[download='own points.csv']")), []string{"own points.csv"}, "files that the study names")
	page = c.Page(200, "/studies/new?study="+id)
	require.Check(t, page.Find("textarea").Text() == got.Study, "the form has another file:\n%s", page.Find("textarea").Text())
	c.Want(404, "GET", "/studies/"+id+"/other.csv", "")
	c.Want(404, "GET", "/studies/"+id+"/figures/boundary.svg", "")

	// The same is known; searches of a study are listed with it alone, and go with it.
	again := c.Ended(handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/studies", handlerstest.OrderOf(got.Study))).ID)
	require.Check(t, again.Known == again.Total && cmp.Equal(again.Result, got.Result, cmpopts.IgnoreFields(study.Outcome{}, "Seconds")),
		"%d of %d cells known: %s", again.Known, again.Total, cmp.Diff(again.Result, got.Result))
	list := handlerstest.Decode[struct{ Searches []api.Search }](c.Want(200, "GET", "/api/searches", "")).Searches
	require.Check(t, len(list) == 0, "%d searches are listed", len(list))
	c.Want(http.StatusConflict, "DELETE", "/api/searches/"+got.Searches[0], "")
	c.Want(http.StatusConflict, "POST", "/api/studies/"+id+"/cancel", "")
	c.As(t, handlerstest.Bob).Want(404, "GET", "/api/studies/"+id, "")
	c.Want(http.StatusNoContent, "DELETE", "/api/studies/"+id, "")
	c.Want(404, "GET", "/api/searches/"+got.Searches[0], "")
	if list := handlerstest.Decode[struct{ Studies []api.Study }](c.Want(200, "GET", "/api/studies", "")).Studies; len(list) != 1 || list[0].ID != again.ID || list[0].Result != nil {
		t.Errorf("%+v", list)
	}
	c.Want(200, "GET", "/studies", "")
}

// A study of which one learner fails on one data set says which and why, and goes on without
// either, from what is known.
func TestStudyWithoutWhatFailed(t *testing.T) {
	c := handlerstest.Fresh(t, true).Browse(t, handlerstest.Ada)
	const text = "baseline = \"walk\"\n[scheme]\nfolds = 2\n[data.tiny]\ngenerator = \"cycles\"\nn = 12\n[data.rings]\ngenerator = \"rings\"\nn = 12\n[learner.wl]\nkernel = \"wl\"\n[learner.walk]\nkernel = \"random-walk\"\nwalk_weight = 0.3\n"
	got := c.Ended(handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/studies", handlerstest.OrderOf(text))).ID)
	page := c.Page(200, "/studies/"+got.ID)
	say := page.Find(".problem").Text()
	require.Must(t, got.Status == store.Failed && strings.Contains(say, "learner walk: ") && strings.Contains(say, "use a weight below"), "%s: %s", got.Status, say)
	least := map[string]string{"Run again without the learner walk": "wl"} // and who is the baseline then
	page.Find("form.study-less").Each(func(_ int, form *goquery.Selection) {
		file, _ := form.Find("input").Attr("value")
		label := form.Find("button").Text()
		s, err := study.Parse(file, "study")
		require.Must(t, err == nil && len(s.Learners)*len(s.Sets) == 2, "%s: %v\n%s", label, err, file)
		if want := least[label]; want != "" {
			delete(least, label)
			less := c.Ended(handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/studies", handlerstest.OrderOf(file))).ID)
			require.Check(t, less.Status == store.Done && less.Known == less.Total && less.Result.Baseline == want,
				"%s: %+v", label, less)
		}
	})
	require.Check(t, len(least) == 0, "not offered: %v", least)
}

// Every kind of question is clicked together, from data of the workspace that go with it and
// from those of the program, under names of one's own.
func TestStudyFormKinds(t *testing.T) {
	c := handlerstest.Fresh(t, true).Browse(t, handlerstest.Ada)
	plane := c.Upload("name=plane.csv", ownPoints)
	words := c.Upload("name=words.csv", "#strings\nword,kind\nabab,x\nabba,x\naabb,x\nbaba,x\nccdd,y\ncdcd,y\ndccd,y\nddcc,y\n")
	curve := c.Upload("name=curve.csv", "x,y\n0,0.1\n1,1.2\n2,1.9\n3,3.1\n4,4.2\n5,4.9\n6,6.3\n7,7.1\n8,7.7\n9,9.4\n10,10.2\n11,11.5\n")
	table := "#precomputed\nnumber,K1,K2,K3,K4,K5,K6,K7,K8,K9,K10,K11,K12,K13,K14,K15,K16,label\n"
	for i := range 16 {
		table += strconv.Itoa(i + 1)
		for j := range 16 {
			table += [2]string{",0", ",0.9"}[(i+j+1)%2]
			if i == j {
				table = strings.TrimSuffix(table, "0.9") + "1"
			}
		}
		table += [2]string{",x\n", ",y\n"}[i%2]
	}
	matrix := c.Upload("name=matrix.csv", table)
	for kind, want := range map[string]struct {
		own           api.Dataset
		ready         string
		one, other    string
		has, hasNever string
	}{
		"classes":  {plane, "pinwheel", "SVM, one-vs-rest", "Kernel ridge", `multiclass = "ovr"`, "target"},
		"values":   {curve, "hill", "Ridge, linear", "Ridge, RBF", `target = "value"`, "C ="},
		"strings":  {words, "DNA", "SVM, spectrum", "MCM, spectrum", `kernel = "spectrum"`, "target"},
		"graphs":   {api.Dataset{}, "cycles", "SVM, Weisfeiler-Lehman", "MCM, Weisfeiler-Lehman", `kernel = "wl"`, "target"},
		"matrices": {matrix, "", "SVM", "MCM", `kernel = "precomputed"`, "gamma"},
	} {
		form := c.Page(200, "/studies/new?of="+kind)
		for _, d := range []api.Dataset{plane, words, curve, matrix} {
			n := form.Find(`input[name="data"][value="` + d.ID + `"]`).Length()
			require.Check(t, (n == 1) == (d.ID == want.own.ID), "%s offers %s %d times", kind, d.Name, n)
		}
		q := url.Values{"of": {kind}, "learner": {want.other, want.one}, "learner-name." + want.one: {"first"}, "baseline": {want.other}, "folds": {"2"}, "max_rows": {"14"}}
		if want.own.ID != "" {
			q.Add("data", want.own.ID)
			q.Set("data-name."+want.own.ID, "my own")
		}
		if want.ready != "" {
			q.Add("data", want.ready)
		}
		toml, _ := c.Send(200, "/studies", q.Encode()).HTML().Find(`a[href$="/study.toml"]`).Attr("href")
		require.Must(t, toml != "", "%s: no study", kind)
		got := c.Ended(strings.Split(toml, "/")[2])
		require.Must(t, got.Status == store.Done && got.Result != nil, "%s: %+v", kind, got)
		require.Check(t, strings.Contains(got.Study, want.has) && !strings.Contains(got.Study, want.hasNever) && strings.Contains(got.Study, "[learner.first]") && got.Result.Baseline == results.Capital(want.other),
			"%s:\n%s", kind, got.Study)
		require.Check(t, want.own.ID == "" || got.Result.Sets[0].Name == "my own",
			"%s: the set is called %s", kind, got.Result.Sets[0].Name)
	}
}

// A study of values is computed in the background as well.
func TestStudyOfValues(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	const text = "[scheme]\nfolds = 3\ntarget = \"value\"\n[data.sine]\ngenerator = \"sine\"\nn = 40\n[data.hill]\ngenerator = \"hill\"\nn = 40\n[learner.flat]\nlearner = \"ridge\"\nkernel = \"linear\"\n[learner.bent]\nlearner = \"ridge\"\nlambda = [0.01, 1]\n"
	got := c.Ended(handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/studies", handlerstest.OrderOf(text))).ID)
	require.Must(t, got.Status == store.Done && got.Result != nil && got.Result.Target == "value" && got.Result.Sets[0].Outcomes[1].MSE > 0,
		"%+v", got)
	page := c.Page(200, "/studies/"+got.ID)
	c.Pictures(page, 1)
	require.Says(t, page.Find("h1").Text(), "No learner is significantly better than flat", "the verdict")
	if text := page.Find("main").Text(); !strings.Contains(text, "Variance left in %") || strings.Contains(text, "Accuracy") {
		t.Error(text)
	}
	wrong := handlerstest.OrderOf(strings.Replace(text, `generator = "sine"`+"\nn = 40", `builtin = "iris"`, 1))
	c.Says(http.StatusUnprocessableEntity, "data set sine: target", "POST", "/api/studies", wrong)
}
