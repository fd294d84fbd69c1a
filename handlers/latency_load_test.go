//go:build load

package handlers_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"marginlab/handlers/handlerstest"
)

// How long the picture takes that follows a slider, of 300, 2 000 and 20 000 points, for one
// visitor and for eight at a time: the median, and what 95 of 100 moves stay below.
//
//	go test -tags load -run TestSliderLatency -v ./handlers
func TestSliderLatency(t *testing.T) {
	const lasting, least = 3 * time.Second, 8
	s := handlerstest.Serve(t, false)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer client.CloseIdleConnections()
	move := 0
	for _, points := range []int{300, 2000, 20000} {
		var sets []string
		for v := range 8 {
			sets = append(sets, s.MoonsOf(t, fmt.Sprintf("%032x", v+1), points))
		}
		for _, visitors := range []int{1, 8} {
			var mu sync.Mutex
			var took []time.Duration
			var all sync.WaitGroup
			before, begin := processors(), time.Now()
			for v := range visitors {
				all.Go(func() {
					for k := 0; k < least || time.Since(begin) < lasting; k++ {
						mu.Lock()
						move++
						form := url.Values{"data": {sets[v]}, "test_fraction": {"0.3"}, "coarse": {"1"}, "stage": {"720"}, "C": {strconv.FormatFloat(1+float64(move)/1000, 'g', -1, 64)}}
						mu.Unlock()
						asked := time.Now()
						if _, err := picture(t.Context(), client, s.URL+"/lab/live", fmt.Sprintf("%032x", v+1), form); err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						took = append(took, time.Since(asked))
						mu.Unlock()
					}
				})
			}
			all.Wait()
			slices.Sort(took)
			cpu := (processors() - before) / time.Duration(len(took))
			t.Logf("%5d points, %d at a time: median %v, 95 %% below %v, %v of CPU each, %d moves", points, visitors,
				took[len(took)/2].Round(time.Millisecond), took[len(took)*95/100].Round(time.Millisecond), cpu.Round(time.Millisecond), len(took))
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("load %s", load)
}
