package runs_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/store"
	"marginlab/store/storetest"
)

// TestWhichDifferenceIsReal reads what a comparison says of runs that held the same points
// out, of those that did not, and of both on common folds.
func TestWhichDifferenceIsReal(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	c, b := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	ids := map[string]string{}
	for name, body := range map[string]string{
		"wide":   `"dataset":"moons","spec":{"gamma":2,"test_fraction":0.5}`,
		"alike":  `"dataset":"moons","spec":{"gamma":2.01,"test_fraction":0.5}`,
		"narrow": `"dataset":"moons","spec":{"gamma":1e6,"test_fraction":0.5}`,
		"seed":   `"dataset":"moons","spec":{"gamma":2,"test_fraction":0.5,"seed":7}`,
		"all":    `"dataset":"moons","spec":{"gamma":2}`,
		"xor":    `"dataset":"xor","spec":{"gamma":2,"test_fraction":0.5}`,
		"iris":   `"dataset":"iris","spec":{"test_fraction":0.5}`,
		"setosa": `"dataset":"iris","spec":{"test_fraction":0.5,"positive":"setosa"}`,
	} {
		ids[name] = c.Train(`{"name":"` + name + `",` + body + `}`)
	}
	for _, id := range ids {
		c.Follow(id)
	}
	compare := func(names ...string) string { return evidence(b, "/compare?"+chosen(ids, names...).Encode()) }
	for _, tc := range []struct {
		names string
		says  string
		not   string
	}{
		{"wide narrow", "The difference is real, “wide” is better: “wide” got ", "Cross-validation"},
		{"narrow wide", "The difference is real, “wide” is better: “narrow” got ", ""},
		{"wide alike", "there is no difference to test", "disagree"},
		{"wide seed", "held out different points, so they cannot be compared point by point; train again with the same seed and held-out fraction", "McNemar"},
		{"wide all", "not every run held out points", "McNemar"},
		{"wide xor", "trained on different points; train all on the same data set", "Cross-validate"},
		{"iris setosa", "because their classes differ", "Cross-validate"},
		{"wide alike narrow", "accounts for testing 3 pairs", "different points"},
	} {
		text := compare(strings.Fields(tc.names)...)
		require.Check(t, (strings.Contains(text, tc.says) || strings.Contains(text, (strings.ToUpper(tc.says[:1])+tc.says[1:]))) && (tc.not == "" || !strings.Contains(text, tc.not)),
			"%s: %q, want %q and not %q", tc.names, text, tc.says, tc.not)
	}
	for names, want := range map[string]string{
		"wide narrow": "setting|wide|narrow|Gamma|2|1000000", "narrow wide seed": "Gamma|1000000 1 2 2 3|Seed|1 1 2 7 3",
	} {
		page := b.Page(200, "/compare?"+chosen(ids, strings.Fields(names)...).Encode())
		cells := handlerstest.Texts(page.Find(".differing th, .differing td"))
		require.Equal(t, strings.Join(cells, "|"), want, "what differs between %s", names)
	}
	for _, tc := range []struct{ names, says string }{
		{"wide seed", "“wide” and “seed” do equally well"},
		{"wide all narrow", "p after Holm"},
		{"wide narrow", "The difference is real, “wide” is better: “wide” leads by "},
	} {
		text := evidence(b, onFolds(b, chosen(ids, strings.Fields(tc.names)...)))
		require.Check(t, strings.Contains(text, tc.says) && strings.Contains(text, "Cross-validation with 10 folds, 3 repeats on the same folds"),
			"%s on folds: %q, want %q", tc.names, text, tc.says)
	}
	fewer := chosen(ids, "wide", "narrow")
	fewer.Set("k", "4")
	fewer.Set("repeats", "2")
	require.SaysAll(t, evidence(b, onFolds(b, fewer)), []string{"Cross-validation with 4 folds, 2 repeats", "Other folds"}, "on four folds")
	b.Send(http.StatusUnprocessableEntity, "/compare/folds", chosen(ids, "wide", "xor").Encode())
	for field, text := range map[string]string{"k": "1", "repeats": "1000"} {
		wrong := chosen(ids, "wide", "narrow")
		wrong.Set(field, text)
		b.Send(http.StatusUnprocessableEntity, "/compare/folds", wrong.Encode())
	}
	_, query, _ := strings.Cut(onFolds(b, chosen(ids, "wide", "alike")), "?")
	q := require.Value(url.ParseQuery(query))(t)
	for words, of := range map[string]url.Values{
		"belong to other runs": {"run": chosen(ids, "wide", "narrow")["run"], "folds": q["folds"]},
		"cross-validate again": {"run": q["run"], "folds": q["folds"][:1]},
		"were deleted":         {"run": q["run"], "folds": {q["folds"][0], "gone"}},
	} {
		require.Says(t, evidence(b, "/compare?"+of.Encode()), words, "%v", of)
	}

	// Programs are told the same.
	pair := chosen(ids, "wide", "narrow")["run"]
	begun := c.Want(http.StatusAccepted, "POST", "/api/comparison/folds", fmt.Sprintf(`{"runs":[%q,%q],"folds":4,"repeats":2}`, pair[0], pair[1]))
	c.App.Jobs.Wait(t.Context(), time.Hour, handlerstest.Decode[struct{ Searches []string }](begun).Searches...)
	f := handlerstest.Decode[api.FoldComparison](c.Want(200, "GET", begun.Header.Get("Location"), ""))
	require.Must(t, f.Folds == 4 && f.Repeats == 2 && f.Done == f.Total && len(f.Pairs) == 1, "%+v", f)
	if p := f.Pairs[0]; p.First != pair[0] || p.Second != pair[1] || p.Mean <= 0 || p.P == nil || *p.P > 0.05 || p.Posterior.Better < 0.9 || p.Freedom != 7 {
		t.Errorf("%+v", p)
	}
	for body, status := range map[string]int{
		fmt.Sprintf(`{"runs":[%q,%q],"folds":1}`, pair[0], pair[1]): 422,
		fmt.Sprintf(`{"runs":[%q]}`, pair[0]):                       422,
		fmt.Sprintf(`{"runs":[%q,%q]}`, pair[0], ids["xor"]):        422,
		fmt.Sprintf(`{"runs":[%q,"gone"]}`, pair[0]):                404,
	} {
		c.Want(status, "POST", "/api/comparison/folds", body)
	}
	c.Want(422, "GET", "/api/comparison/folds?runs="+strings.Join(pair, ",")+"&searches=gone", "")
	c.Want(422, "GET", "/api/comparison/folds?runs="+strings.Join(pair, ",")+"&searches=gone,gone", "")
	three := handlerstest.Decode[api.Comparison](c.Want(200, "GET", "/api/comparison?runs="+strings.Join(chosen(ids, "wide", "alike", "narrow")["run"], ","), ""))
	if p := three.Pairs; three.Points != 100 || len(p) != 3 || p[0].P != 1 || p[1].Holm > 1e-6 || p[1].First != ids["wide"] || p[1].Second != ids["narrow"] || p[1].OnlyFirst-p[1].OnlySecond != p[2].OnlyFirst-p[2].OnlySecond || len(three.Disagree) == 0 {
		t.Errorf("%+v", three)
	}
	for _, names := range []string{"wide", "wide all", "wide seed", "wide xor", "iris setosa", "all all all all all all all"} {
		c.Want(http.StatusUnprocessableEntity, "GET", "/api/comparison?runs="+strings.Join(chosen(ids, strings.Fields(names)...)["run"], ","), "")
	}
	c.Says(http.StatusNotFound, `no run \"gone\" in this workspace`, "GET", "/api/comparison?runs="+ids["wide"]+",gone", "")

	// The points listed are those that the predictions tell apart.
	wrong := map[string]map[int]bool{}
	for _, name := range []string{"wide", "narrow"} {
		wrong[name] = map[int]bool{}
		lines := strings.Split(strings.TrimSpace(string(c.Do("GET", "/runs/"+ids[name]+"/predictions.csv", "").Body)), "\n")
		for _, line := range lines[1:] {
			cells := strings.Split(line, ",")
			if row, err := strconv.Atoi(cells[0]); err == nil && cells[4] == "true" && cells[1] != cells[2] {
				wrong[name][row] = true
			}
		}
	}
	rows := b.Page(200, "/compare?run="+ids["wide"]+"&run="+ids["narrow"]).Find(".evidence .points tbody tr")
	for _, tr := range rows.EachIter() {
		row := require.Value(strconv.Atoi(tr.Find("th").Text()))(t)
		for k, name := range []string{"wide", "narrow"} {
			said := strings.Contains(tr.Find("td").Eq(2+k).Text(), "(wrong)")
			require.Check(t, said == wrong[name][row], "row %d, %s: said to be wrong %v", row, name, said)
		}
		require.Check(t, wrong["wide"][row] != wrong["narrow"][row], "row %d is listed: %v", row, tr.Text())
	}
	require.Check(t, rows.Length() != 0, "no points on which they disagree")
}

// TestCompareMany compares twenty runs: few pairs and boundaries are shown at once, a filter
// leaves runs pale, and the tables are had as a file.
func TestCompareMany(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	c, b := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	q := url.Values{}
	for i := range 21 {
		id := c.Done(fmt.Sprintf(`{"name":"r%d","dataset":"moons","spec":{"kernel":%q,"C":%d,"test_fraction":0.3}}`, i+1, []string{"rbf", "linear"}[i%2], i+1))
		q.Add("run", id)
	}
	b.Want(422, "GET", "/compare?"+q.Encode(), "")
	q["run"] = q["run"][:20]
	at := func(more ...string) string {
		v := url.Values{"run": q["run"]}
		for i := 0; i+1 < len(more); i += 2 {
			v.Add(more[i], more[i+1])
		}
		return "/compare?" + v.Encode()
	}
	doc := b.Page(200, at())
	b.Pictures(doc, 23)
	require.Equal(t, doc.Find(".evidence > .scroll .findings tbody tr").Length(), 19, "pairs are shown first")
	require.Equal(t, doc.Find(".evidence details .findings tbody tr").Length(), 190, "pairs in all")
	require.Equal(t, doc.Find(".draw input[checked]").Length(), 6, "boundaries are drawn")
	doc = b.Page(200, at("where", "kernel = rbf and C > 10", "axes", "C,kernel", "log", "", "x", "C", "y", "support_vectors", "draw", q["run"][3], "draw", q["run"][4]))
	require.Says(t, doc.Find(".quantities [role=status]").Text(), "5 of 20 runs", "the filter")
	require.Equal(t, doc.Find("#axes li").Length(), 2, "axes")
	alt, _ := doc.Find(".parallel img").Attr("alt")
	require.Equal(t, alt, "20 lines across the axes C, Kernel. Pale: 15.", "the picture shows")
	b.Pictures(doc, 23)
	got := b.Page(200, at("axis", "gamma", "axes", "C,kernel")).Find("#axes li").Length()
	require.Check(t, got == 3, "%d axes after one was added", got)
	for key, value := range map[string]string{"where": "C >", "axes": "colour", "x": "kernel", "y": "colour"} {
		require.Check(t, b.Page(422, at(key, value)).Find("#f-where-error").Text() != "", "%s=%s: nothing is said", key, value)
		b.Want(422, "GET", strings.Replace(at(key, value), "/compare", "/compare/figures/parallel.svg", 1), "")
	}
	n := b.Page(200, "/compare?runs="+strings.Join(q["run"][:3], ",")+"&diff=1").Find(".draw input[checked]").Length()
	require.Check(t, n == 3, "of three runs listed as programs do %d boundaries are drawn", n)
	pair := q["run"][:2]
	one, other := c.Want(200, "GET", "/api/comparison.csv?runs="+strings.Join(pair, ","), "").Body, c.Want(200, "GET", "/api/comparison.csv?"+url.Values{"run": pair}.Encode(), "").Body
	require.Check(t, string(one) == string(other), "%s\n%s", one, other)
	for _, to := range []string{"/compare.csv", "/api/comparison.csv"} {
		file, err := csv.NewReader(strings.NewReader(string(c.Want(200, "GET", strings.Replace(at("diff", "1"), "/compare", to, 1), "").Body))).ReadAll()
		require.Check(t, err == nil && len(file[0]) == 21 && file[1][0] == "name" && file[1][20] == "r20" && !slices.ContainsFunc(file, func(row []string) bool { return row[0] == "learner" }),
			"%s: %q, %v", to, file, err)
	}
}

// chosen are runs by their names, as a form has them.
func chosen(ids map[string]string, names ...string) url.Values {
	q := url.Values{}
	for _, name := range names {
		q.Add("run", ids[name])
	}
	return q
}

// evidence returns the text of a comparison on the differences.
func evidence(c *handlerstest.Client, path string) string {
	c.T.Helper()
	return strings.Join(strings.Fields(c.Page(200, path).Find(".page-head, .evidence").Text()), " ")
}

// onFolds has runs cross-validated on the same folds and returns the address of their
// comparison.
func onFolds(c *handlerstest.Client, runs url.Values) string {
	c.T.Helper()
	page := c.Send(200, "/compare/folds", runs.Encode()).HTML()
	for _, to := range handlerstest.Attrs(page.Find(".evidence a[href^='/searches/']"), "href") {
		runs.Add("folds", strings.TrimPrefix(to, "/searches/"))
	}
	c.App.Jobs.Wait(c.T.Context(), time.Hour, runs["folds"]...)
	for _, id := range runs["folds"] {
		c.Page(200, "/searches/"+id)
	}
	return "/compare?" + runs.Encode()
}

// TestDifferenceOfValues is the same of values.
func TestDifferenceOfValues(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	c, b := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	set := c.Upload("name=one", handlerstest.Measurements(61, 1))
	q := url.Values{}
	for _, lambda := range []string{"0.01", "1000"} {
		id := c.Done(`{"dataset":"` + set.ID + `","name":"lambda ` + lambda + `","spec":{"target":"value","learner":"ridge","lambda":` + lambda + `,"test_fraction":0.25}}`)
		q.Add("run", id)
		run := handlerstest.Decode[api.Run](c.Want(200, "GET", "/api/runs/"+id, ""))
		require.Check(t, run.Report.TestInterval == nil && run.Report.TestMCC == nil, "scores of classes: %+v", run.Report)
	}
	text := evidence(b, onFolds(b, q))
	for _, says := range []string{"The difference is real, “lambda 0.01” is better: “lambda 0.01” came closer to ", "Wilcoxon", "mean squared error"} {
		require.Check(t, strings.Contains(text, says), "%q, want %q", text, says)
	}
	require.Check(t, !strings.Contains(text, "McNemar") && !strings.Contains(text, "accuracy"), "%v", text)
}

// The tests of a comparison and the points on which runs disagree leave as CSV, with the
// numbers that programs are told, from the page, for programs and from a shared comparison.
func TestProofsAsCSV(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	c, b := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	ids := map[string]string{}
	for name, body := range map[string]string{
		"=wide":  `"dataset":"moons","spec":{"gamma":2,"test_fraction":0.5}`,
		"narrow": `"dataset":"moons","spec":{"gamma":1e6,"test_fraction":0.5}`,
		"all":    `"dataset":"moons","spec":{"gamma":2}`,
	} {
		ids[name] = c.Train(`{"name":"` + name + `",` + body + `}`)
	}
	for _, id := range ids {
		c.Follow(id)
	}
	read := func(path string) [][]string {
		t.Helper()
		rows := require.Value(csv.NewReader(strings.NewReader(string(c.Want(http.StatusOK, "GET", path, "").Body))).ReadAll())(t)
		return rows
	}
	q := chosen(ids, "=wide", "narrow").Encode()
	told := handlerstest.Decode[api.Comparison](c.Want(http.StatusOK, "GET", "/api/comparison?runs="+ids["=wide"]+","+ids["narrow"], ""))
	tests := read("/api/comparison/tests.csv?" + q)
	require.Check(t, len(tests) == 2 && tests[1][0] == "McNemar" && tests[1][1] == "'=wide" && tests[1][5] == strconv.Itoa(told.Points) && tests[1][6] == strconv.Itoa(told.Pairs[0].OnlyFirst),
		"%q, want %+v", tests, told)
	p, err := strconv.ParseFloat(tests[1][13], 64)
	require.Check(t, err == nil && p == told.Pairs[0].P, "p %v, want %v", tests[1][13], told.Pairs[0].P)
	points := read("/compare/disagreement.csv?" + q)
	require.Must(t, len(points) == 1+len(told.Disagree) && len(points[0]) == 1+2+1+2*2,
		"%d points, want %d: %q", len(points)-1, len(told.Disagree), points[0])
	for i, row := range told.Disagree {
		require.Check(t, points[i+1][0] == strconv.Itoa(row) && points[i+1][4] != points[i+1][6],
			"%q, want row %d and two answers", points[i+1], row)
	}
	unlike := "/compare/tests.csv?" + chosen(ids, "=wide", "all").Encode()
	c.Want(http.StatusUnprocessableEntity, "GET", unlike, "") // no points that both held out, and no folds yet
	to := onFolds(b, chosen(ids, "=wide", "all"))
	link, _ := b.Page(http.StatusOK, to).Find(`a[href*="/compare/tests.csv"]`).Attr("href")
	rows := read(link)
	require.Check(t, len(rows) == 2 && rows[1][0] == "corrected t" && rows[1][12] == "29" && rows[1][15] != "" && strings.Contains(link, "folds="),
		"%s: %q", link, rows)
	if kept := read(unlike); !slices.EqualFunc(kept, rows, slices.Equal) { // the runs keep what the folds said, as their comparison shows
		t.Errorf("of the folds that the runs were judged on: %q, want %q", kept, rows)
	}
	c.Want(http.StatusUnprocessableEntity, "GET", "/compare/tests.csv?"+chosen(ids, "narrow", "all").Encode(), "") // judged on none in common
	c.Want(http.StatusUnprocessableEntity, "GET", "/compare/disagreement.csv?"+chosen(ids, "=wide", "all").Encode(), "")
	s.As(t, handlerstest.Bob).Want(http.StatusNotFound, "GET", "/compare/disagreement.csv?"+q, "")
}

// Pictures that the browser has and folds of a comparison are answered without reading the models.
func TestPicturesUnchanged(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	c, b := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	runs := make(url.Values)
	for _, gamma := range []string{"1", "2"} {
		runs.Add("run", c.Done(`{"dataset":"moons","spec":{"gamma":`+gamma+`}}`))
	}
	tokens := make(url.Values)
	for _, id := range runs["run"] {
		tokens.Add("run", require.Value(s.App.Store.ShareRun(t.Context(), store.WorkspaceOf(handlerstest.Alice), id))(t))
	}
	tags := map[string]string{}
	for _, at := range []string{
		"/runs/" + runs.Get("run") + "/figures/boundary.svg?", "/shared/" + tokens.Get("run") + "/figures/boundary.svg?",
		"/compare/figures/overlay.svg?" + runs.Encode(), "/shared/compare/figures/overlay.svg?" + tokens.Encode(),
	} {
		tags[at] = b.Want(http.StatusOK, "GET", at, "").Header.Get("ETag")
	}
	storetest.Exec(t, s.App.Store.Path(), `UPDATE models SET model = x'00'`)
	for at, tag := range tags {
		b.Want(http.StatusNotModified, "GET", at, "", "If-None-Match", tag)
		b.Want(http.StatusInternalServerError, "GET", at+"&dark=1", "")
	}
	s.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	b.Want(http.StatusSeeOther, "POST", "/compare/folds", runs.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	c.Want(http.StatusAccepted, "POST", "/api/comparison/folds", fmt.Sprintf(`{"runs":[%q,%q],"folds":2,"repeats":1}`, runs["run"][0], runs["run"][1]))
}
