//go:build load

package handlers_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"marginlab/handlers/handlerstest"
	"marginlab/handlers/limiter"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/store"
)

// Visitors who drag a slider all the time get about the same number of pictures with a limiter as without
// one, and each gets them often. For comparison it also gives up questions that are older
// than 150 ms, as the page's script once did. Run it on an idle machine:
//
//	go test -tags load -run TestDraggers -v ./handlers
func TestDraggers(t *testing.T) {
	const enough, often = 0.8, time.Second
	for _, n := range []int{5, 10, 20, 50} {
		var given, all, line dragged
		for range 4 { // in turn, because the machine may do other things, too
			given.add(drag(t, n, limiter.New(n), 150*time.Millisecond))
			all.add(drag(t, n, limiter.New(n), time.Hour))
			line.add(drag(t, n, limiter.New(limiter.Places()), time.Hour))
		}
		t.Logf("%2d draggers: given up after 150 ms %v; without a line %v; with it %v", n, given, all, line)
		require.Check(t, line.perSecond() >= enough*all.perSecond(),
			"%d draggers: %.1f answers a second are less than %.0f %% of %.1f", n, line.perSecond(), 100*enough, all.perSecond())
		require.Check(t, n > 20 || line.longest <= often, "%d draggers: one waited %v for a picture", n, line.longest)
	}
}

// TestTwentyUploads sends twenty files of 10 MB and 5 million values at the same time: all
// are answered within a minute, and a gigabyte is enough. Run it on an idle machine:
//
//	go test -tags load -run TestTwentyUploads -v ./handlers
func TestTwentyUploads(t *testing.T) {
	const n, within, most = 20, time.Minute, 1000 << 20
	file := digitsFile(24_900, 200)
	s := handlerstest.Serve(t, false)
	begin, before := time.Now(), processors()
	uploadAtOnce(t, s, n, file)
	took, cpu, peak := time.Since(begin), processors()-before, peakMemory(t)
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("%d files of %.1f MB: %v, %v of CPU, %d MB at most; load %s", n, float64(len(file))/(1<<20), took.Round(time.Millisecond), cpu.Round(time.Millisecond), peak>>20, load)
	require.Check(t, took <= within, "all were answered after %v only", took)
	require.Check(t, peak <= most, "%d MB were in use", peak>>20)
}

// TestGracefulEnd stops a server under twenty uploads of 10 MB and 5 million values.
//
//	go test -tags load -run TestGracefulEnd -v ./handlers
func TestGracefulEnd(t *testing.T) {
	const n, within = 20, 5 * time.Second
	took := endUnderUploads(t, n, digitsFile(24_900, 200))
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("ended after %v; load %s", took.Round(time.Millisecond), load)
	require.Check(t, took <= within, "it took %v to end", took)
}

// peakMemory is the most that this program ever had in memory.
func peakMemory(t *testing.T) (bytes int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("this system does not tell how much memory was in use")
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	require.Value(fmt.Sscanf(rest, "%d kB", &bytes))(t)
	return bytes << 10
}

// dragged holds the pictures that draggers got.
type dragged struct {
	answers      int           // pictures of all of them together
	lasting, cpu time.Duration // of the clock and of the processors
	longest      time.Duration // that one of them was without a new picture
}

func (d *dragged) add(e dragged) {
	d.answers += e.answers
	d.lasting += e.lasting
	d.cpu += e.cpu
	d.longest = max(d.longest, e.longest)
}

func (d dragged) perSecond() float64 { return float64(d.answers) / d.lasting.Seconds() }

func (d dragged) String() string {
	return fmt.Sprintf("%.1f/s (%.1f per second of CPU), longest wait %v", d.perSecond(), float64(d.answers)/d.cpu.Seconds(), d.longest.Round(time.Millisecond))
}

// processors is how long processors have worked for this program.
func processors() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // which cannot fail
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// drag lets n visitors move C for some seconds, each with one question under way, which is
// given up once it is older than patience.
func drag(t *testing.T, n int, line *limiter.Limiter, patience time.Duration) dragged {
	const warm, lasting = 300 * time.Millisecond, 1500 * time.Millisecond
	s := handlerstest.Serve(t, false)
	s.App.Answers = line
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	defer client.CloseIdleConnections()
	begin := time.Now().Add(warm)
	end := begin.Add(lasting)
	ctx, stop := context.WithDeadline(t.Context(), end)
	defer stop()

	var answers atomic.Int64
	longest := make([]time.Duration, n)
	var visitors sync.WaitGroup
	for i := range n {
		visitors.Go(func() {
			last := begin
			waited := func(now time.Time) { longest[i] = max(longest[i], now.Sub(last)); last = now }
			for k := 0; ctx.Err() == nil; k++ {
				form := url.Values{"data": {"moons"}, "coarse": {"1"}, "stage": {"720"}, "C": {strconv.FormatFloat(1+float64(i)+float64(k)/1000, 'g', -1, 64)}}
				asked, cancel := context.WithTimeout(ctx, patience)
				ok, err := picture(asked, client, s.URL+"/lab/live", fmt.Sprintf("%032x", i+1), form)
				cancel()
				if err != nil && asked.Err() == nil {
					t.Error(err)
					return
				}
				if now := time.Now(); ok && now.After(begin) && now.Before(end) {
					answers.Add(1)
					waited(now)
				}
			}
			waited(end)
		})
	}
	time.Sleep(time.Until(begin))
	before := processors()
	visitors.Wait()
	d := dragged{answers: int(answers.Load()), lasting: lasting, cpu: processors() - before}
	for _, l := range longest {
		d.longest = max(d.longest, l)
	}
	return d
}

// Those who ask for little wait at most twice as long when others ask for much, and when
// runs are trained in the background, or the cells of a search are computed.
//
//	go test -tags load -run TestNeighbours -v ./handlers
func TestNeighbours(t *testing.T) {
	const heavy, most = 20, 2.0
	const lasting = 3 * time.Second
	s := handlerstest.Serve(t, false)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: heavy + 1}}
	defer client.CloseIdleConnections()
	spread := func(workspace, rows int) string {
		r := rand.New(rand.NewPCG(7, 7))
		points, labels := make([][2]float64, rows), make([]string, rows)
		for i := range points {
			x, y := r.NormFloat64(), r.NormFloat64()
			points[i], labels[i] = [2]float64{x, y}, map[bool]string{true: "in", false: "out"}[x*x+y*y+r.NormFloat64() < 1.5]
		}
		d := require.Value(dataset.FromPoints(points, labels))(t)
		set := require.Value(s.App.Store.CreateDataset(t.Context(), store.WorkspaceOf(fmt.Sprintf("%032x", workspace)), "spread", "", d))(t)
		return set.ID
	}
	var asked atomic.Int64
	ask := func(ctx context.Context, workspace int, form url.Values) time.Duration {
		form.Set("C", strconv.FormatFloat(1+float64(asked.Add(1))/1000, 'g', -1, 64)) // nothing is remembered
		form.Set("stage", "720")
		form.Set("coarse", "2") // as coarse as can be, so that nothing becomes coarser in company
		begin := time.Now()
		_, err := picture(ctx, client, s.URL+"/lab/live", fmt.Sprintf("%032x", workspace), form)
		require.Check(t, err == nil || ctx.Err() != nil, "%v", err)
		return time.Since(begin)
	}
	median := func() time.Duration {
		var took []time.Duration
		for end := time.Now().Add(lasting); time.Now().Before(end); {
			took = append(took, ask(t.Context(), 1, url.Values{"data": {"moons"}, "learner": {"mcm"}, "conformal": {"eigen"}}))
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	sets := lists.Make(heavy, func(i int) string { return spread(i+2, 1000) })
	ask(t.Context(), 1, url.Values{"data": {"moons"}, "learner": {"mcm"}, "conformal": {"eigen"}})
	alone := median()

	ctx, stop := context.WithCancel(t.Context())
	var neighbours sync.WaitGroup
	var answers atomic.Int64
	for i, set := range sets {
		neighbours.Go(func() {
			for ctx.Err() == nil {
				ask(ctx, i+2, url.Values{"data": {set}, "learner": {"mcm"}, "conformal": {"eigen"}})
				answers.Add(1)
			}
		})
	}
	time.Sleep(lasting)
	answers.Store(0)
	live := median()
	served := answers.Load()
	stop()
	neighbours.Wait()
	again := median()

	queue := s.App.Jobs
	ctx, stop = context.WithCancel(t.Context())
	var trained sync.WaitGroup
	trained.Go(func() { queue.Run(ctx) })
	spec := ml.DefaultSpec()
	spec.Learner = "mcm"
	for i := range heavy {
		ws := store.WorkspaceOf(fmt.Sprintf("%032x", i+2))
		d := require.Value(s.App.Store.Dataset(t.Context(), ws, spread(i+2, 4000)))(t)
		require.Value(s.App.Store.CreateRun(t.Context(), ws, store.NewRun{Dataset: d.ID, Spec: spec}))(t)
	}
	queue.Notify()
	time.Sleep(lasting)
	background := median()
	stop()
	trained.Wait()

	set := require.Value(s.App.Store.Dataset(t.Context(), store.WorkspaceOf(fmt.Sprintf("%032x", 2)), sets[0]))(t)
	d := require.Value(s.App.Store.Data(t.Context(), set.Hash))(t)
	gammas := lists.Make(40, func(i int) float64 { return 0.1 * float64(i+1) })
	search, err := s.App.Store.CreateSearch(t.Context(), store.WorkspaceOf(fmt.Sprintf("%032x", heavy+2)), store.NewSearch{
		Data: d, Spec: ml.DefaultSpec(), Grid: eval.Grid{"gamma": eval.Numbers(gammas...)}, Scheme: eval.Scheme{Folds: 10, Repeats: 5},
	})
	require.NoError(t, err)
	ctx, stop = context.WithCancel(t.Context())
	trained.Go(func() { queue.Run(ctx) })
	time.Sleep(lasting)
	searching := median()
	stop()
	trained.Wait()
	search = require.Value(s.App.Store.Search(t.Context(), store.WorkspaceOf(fmt.Sprintf("%032x", heavy+2)), search.ID))(t)
	t.Logf("median %v alone, %v beside %d who ask for much, who got %.1f answers a second; %v alone again, %v beside runs, %v beside a search, of which %d of %d cells were done meanwhile",
		alone, live, heavy, float64(served)/lasting.Seconds(), again, background, searching, search.Done, search.Total)
	alone = (alone + again) / 2
	ratio := float64(live) / float64(alone)
	require.Check(t, ratio <= most, "live neighbours make it %.1f times as long", ratio)
	ratio = float64(background) / float64(alone)
	require.Check(t, ratio <= most, "runs make it %.1f times as long", ratio)
	ratio = float64(searching) / float64(alone)
	require.Check(t, ratio <= most, "a search makes it %.1f times as long", ratio)
}

// A whole course hands in within three seconds, and half of it once more because the
// answer was slow to come: nothing is refused, lost or doubled.
//
//	go test -tags load -run TestHandinRush -v ./handlers
func TestHandinRush(t *testing.T) {
	const students, within = 200, 3 * time.Second
	s := handlerstest.Serve(t, true)
	code := s.Browse(t, handlerstest.Teacher).Course("/lab?data=moons&C=10", "")
	var mu sync.Mutex
	var took []time.Duration
	before := processors()
	begin := time.Now()
	handInAtOnce(t, s, code, students, func(i int) { time.Sleep(within * time.Duration(i) / students) }, func(one time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		took = append(took, one)
	})
	accepted, cpu := time.Since(begin), processors()-before
	everythingOnce(t, s, code, students)
	slices.Sort(took)
	t.Logf("%d answers after %v, median %v, longest %v; %v of CPU; all trained after %v, %v of CPU", len(took), accepted.Round(time.Millisecond), took[len(took)/2].Round(time.Millisecond),
		took[len(took)-1].Round(time.Millisecond), cpu.Round(time.Millisecond), time.Since(begin).Round(time.Millisecond), (processors() - before).Round(time.Millisecond))
}

// TestFollowers has 200 students follow a teacher through a lesson: every slide, part and state
// reaches every student within half a second, for at most 5 ms of CPU each.
//
//	go test -tags load -run TestFollowers -v ./handlers
func TestFollowers(t *testing.T) {
	const students, steps, late, each = 200, 20, 500 * time.Millisecond, 5 * time.Millisecond
	s := handlerstest.Serve(t, false)
	tc := s.Browse(t, handlerstest.Teacher)
	code := tc.Course("/lessons/margins", "")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	arrived := make(chan time.Time, students)
	for range students {
		c := s.Browse(t, handlerstest.Ada)
		body := bufio.NewReader(c.Open(ctx, "GET", "/course/"+code+"/follow/events", nil).Body)
		go func() {
			for {
				line, err := body.ReadString('\n')
				if err != nil {
					return
				}
				if strings.HasPrefix(line, "data: ") {
					if body := c.Open(ctx, "GET", "/course/"+code+"/follow?part=1", nil).Body; body != nil {
						_, _ = io.Copy(io.Discard, body)
						body.Close()
					}
					arrived <- time.Now()
				}
			}
		}()
	}
	for range students { // that nothing is shown yet
		<-arrived
	}
	var longest, used time.Duration
	var medians []time.Duration
	parts := []string{"picture", "words", "ask-distance", "numbers"}
	for i := range steps {
		cpu, sent := processors(), time.Now()
		form := url.Values{"path": {"/lessons/margins/line"}, "query": {fmt.Sprintf("b=%g", -1+0.1*float64(i/len(parts)))}, "part": {parts[i%len(parts)]}, "open": {"1"}}
		tc.Send(204, "/courses/"+code+"/present", form.Encode())
		var took []time.Duration
		for range students {
			took = append(took, (<-arrived).Sub(sent))
		}
		slices.Sort(took)
		used += processors() - cpu
		longest = max(longest, took[len(took)-1])
		medians = append(medians, took[len(took)/2])
	}
	slices.Sort(medians)
	load, _ := os.ReadFile("/proc/loadavg")
	perStep := used / (students * steps)
	t.Logf("%d students, %d steps: the last student after at most %v, median %v; %v of CPU a student and step, with the students' own; load %s",
		students, steps, longest.Round(time.Millisecond), medians[len(medians)/2].Round(time.Millisecond), perStep.Round(time.Microsecond), load)
	require.Check(t, longest <= late, "a step reached a student after %v", longest)
	require.Check(t, perStep <= each, "%v of CPU a student and step", perStep)
}

// TestPollRush has 200 students answer a question within ten seconds, each thrice, while
// all of them and the teacher watch: no answer is lost or doubled, and the teacher's
// histogram has it within a second.
//
//	go test -tags load -run TestPollRush -v ./handlers
func TestPollRush(t *testing.T) {
	const students, within, late = 200, 10 * time.Second, time.Second
	s := handlerstest.Serve(t, false)
	tc := s.Browse(t, handlerstest.Teacher)
	code := tc.Course("/lessons/margins", "")
	path := tc.Ask(code, handlerstest.Optioned)
	poll := require.Value(s.App.Store.CurrentPoll(t.Context(), code))(t)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	follow := func(c *handlerstest.Client, path string, told func(data string)) {
		body := bufio.NewReader(c.Open(ctx, "GET", path, nil).Body)
		go func() {
			for {
				line, err := body.ReadString('\n')
				if err != nil {
					return
				}
				if data, ok := strings.CutPrefix(line, "data: "); ok {
					told(data)
				}
			}
		}()
	}
	var phases, bytes atomic.Int64
	for range students {
		follow(s.Browse(t, handlerstest.Ada), "/course/"+code+"/poll/events", func(string) { phases.Add(1) })
	}
	type sight struct {
		at    time.Time
		total int
	}
	var mu sync.Mutex
	var sights []sight
	follow(tc, path+"/events", func(data string) {
		bytes.Add(int64(len(data)))
		_, rest, _ := strings.Cut(data, "u003cb\\u003e")
		n, _ := strconv.Atoi(rest[:max(0, strings.IndexByte(rest, '\\'))])
		mu.Lock()
		defer mu.Unlock()
		sights = append(sights, sight{time.Now(), n})
	})

	var sent []time.Time // when each student's first answer was taken
	begin, cpu := time.Now(), processors()
	refused := rush(t, s, code, students, func(i int) {
		time.Sleep(within * time.Duration(i) / students)
	}, func(took time.Time) { mu.Lock(); sent = append(sent, took); mu.Unlock() })
	took, used := time.Since(begin), processors()-cpu
	tally, err := s.App.Store.Tally(t.Context(), code, poll.ID)
	require.Check(t, err == nil && tally.Total(1) == students && tally.Rounds[0]["0"] == students/2 && refused <= 0,
		"%d refused; %+v, %v", refused, tally, err)
	for until := time.Now().Add(10 * late); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		mu.Lock()
		done := len(sights) > 0 && sights[len(sights)-1].total == students
		mu.Unlock()
		if done {
			break
		}
	}
	mu.Lock()
	defer mu.Unlock()
	slices.SortFunc(sent, time.Time.Compare)
	var longest time.Duration
	for i, at := range sent { // the i-th answer is seen once the histogram counts i+1
		k := slices.IndexFunc(sights, func(s sight) bool { return s.total >= i+1 })
		require.Must(t, k >= 0, "answer %d is never seen", i+1)
		longest = max(longest, sights[k].at.Sub(at))
	}
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("%d students in %v: the longest wait of an answer for the histogram %v; %d histograms (%d bytes), %d phases told; %v of CPU with the students'; load %s",
		students, took.Round(time.Millisecond), longest.Round(time.Millisecond), len(sights), bytes.Load(), phases.Load(), used.Round(time.Millisecond), load)
	require.Check(t, longest <= late, "an answer was seen after %v", longest)
	require.Equal(t, phases.Load(), students, "students were told … times")
}
