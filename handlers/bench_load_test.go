//go:build load

package handlers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
)

// What the lab costs, in time of the processors:
//
//	go test -tags load -run '^$' -bench Lab -benchtime 2s -cpuprofile cpu.prof ./handlers
func BenchmarkLab(b *testing.B) {
	for _, bench := range []struct {
		name, method, target, form string
	}{
		{"page", "GET", "/lab?data=moons&C=10&gamma=2", ""},
		{"page of 300 points", "GET", "/lab?data=DATA&C=10&gamma=2", ""},
		{"new page of 300 points", "GET", "/lab?data=DATA&gamma=2&C=NEW", ""},
		{"answer for 300 points", "POST", "/lab/live", "data=DATA&stage=720&gamma=2&C=NEW"},
		{"coarse answer for 300 points", "POST", "/lab/live", "data=DATA&stage=720&coarse=1&gamma=2&C=NEW"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			s := handlerstest.Serve(b, false)
			h := s.App.Handler()
			data := s.Moons(b, 300)
			before := processors()
			for i := 0; b.Loop(); i++ {
				fill := strings.NewReplacer("DATA", data, "NEW", fmt.Sprint(1+float64(i)/1e4)).Replace
				r := httptest.NewRequest(bench.method, fill(bench.target), strings.NewReader(fill(bench.form)))
				r.Header.Set("Authorization", "Bearer "+handlerstest.Alice)
				r.Header.Set("Accept-Encoding", "gzip")
				if bench.form != "" {
					r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				}
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				require.Must(b, w.Code == http.StatusOK, "%v %v", w.Code, w.Body)
				b.SetBytes(int64(w.Body.Len()))
			}
			b.ReportMetric(float64(processors()-before)/float64(b.N)/float64(time.Millisecond), "ms-CPU/op")
		})
	}
}
