package web

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// TestTrustedProxy sends the headers of proxies from trusted and untrusted addresses.
func TestTrustedProxy(t *testing.T) {
	t.Parallel()
	s := NewSite(slog.New(slog.DiscardHandler), page)
	for _, text := range []string{"10.0.0.0/8, 2001:db8::/32", "127.0.0.1"} {
		require.NoError(t, s.Proxies.Add(text))
	}
	h := mux(s, map[string]Handler{"GET /x": func(w http.ResponseWriter, r *http.Request) error {
		_, err := fmt.Fprint(w, r.RemoteAddr, " ", Links{}.Origin(r))
		return err
	}})
	for _, test := range []struct {
		from, headers, want string
	}{
		{"10.1.2.3:99", "", "10.1.2.3:0 http://example.com"},
		{"10.1.2.3:99", "For: 203.0.113.7\nProto: https\nHost: lab.example.org", "203.0.113.7:0 https://lab.example.org"},
		{"127.0.0.1:99", "For: 203.0.113.7", "203.0.113.7:0 http://example.com"},
		{"[::ffff:10.0.0.1]:99", "For: 203.0.113.7", "203.0.113.7:0 http://example.com"},
		{"[2001:db8::1]:99", "For: 2001:db9::5", "[2001:db9::5]:0 http://example.com"},
		{"10.1.2.3:99", "For: [2001:db9::5]:4711", "[2001:db9::5]:0 http://example.com"},
		// The client writes the left end; proxies append at the right.
		{"10.1.2.3:99", "For: 198.51.100.1, 203.0.113.7,10.9.9.9\nProto: https, http\nHost: evil.example, lab.example.org", "203.0.113.7:0 http://lab.example.org"},
		{"10.1.2.3:99", "For: 198.51.100.1\nFor: 203.0.113.7\nProto: http\nProto: HTTPS", "203.0.113.7:0 https://example.com"},
		{"10.1.2.3:99", "For: 10.4.4.4", "10.4.4.4:0 http://example.com"}, // a client within
		{"10.1.2.3:99", "For: 203.0.113.7, unknown, 10.9.9.9", "10.9.9.9:0 http://example.com"},
		{"10.1.2.3:99", "For: ,,\nProto: \nHost: ", "10.1.2.3:0 http://example.com"},
		{"192.0.2.1:99", "For: 203.0.113.7\nProto: https\nHost: evil.example", "192.0.2.1:99 http://example.com"},
		{"127.0.0.2:99", "For: 127.0.0.1\nProto: https\nHost: evil.example", "127.0.0.2:99 http://example.com"},
		{"@", "Proto: https", "@ http://example.com"},
	} {
		r := httptest.NewRequest("GET", "/x", nil)
		r.RemoteAddr = test.from
		for line := range strings.Lines(test.headers) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			r.Header.Add("X-Forwarded-"+name, strings.TrimSpace(value))
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Check(t, w.Body.String() == test.want,
			"%s with %q: %s, want %s", test.from, test.headers, w.Body, test.want)
		got, want := w.Result().Cookies()[0].Secure, strings.Contains(test.want, "https:")
		require.Check(t, got == want, "%s with %q: cookie secure %t", test.from, test.headers, got)
	}
}

// Two clients of one proxy are limited separately; a header from an untrusted address gives no new
// limit.
func TestLimitBehindProxy(t *testing.T) {
	t.Parallel()
	for _, trusted := range []string{"192.0.2.0/24", "10.0.0.0/8"} { // httptest's clients are at 192.0.2.1
		s := NewSite(slog.New(slog.DiscardHandler), page)
		s.PerWorkspace = 2
		require.NoError(t, s.Proxies.Add(trusted))
		h := mux(s, map[string]Handler{"GET /x": ok})
		last := http.StatusOK
		for i := range 6 {
			last = ask(h, "GET", "/x", "", fmt.Sprintf("X-Forwarded-For: 203.0.113.%d", i)).Code
		}
		require.Equal(t, last, map[string]int{"192.0.2.0/24": 200, "10.0.0.0/8": 429}[trusted], "trusted %s", trusted)
	}
}

// The cross-site check compares with the host that the browser sees.
func TestCrossSiteBehindProxy(t *testing.T) {
	t.Parallel()
	s := NewSite(slog.New(slog.DiscardHandler), page)
	require.NoError(t, s.Proxies.Add("192.0.2.1"))
	h := mux(s, map[string]Handler{"POST /x": ok})
	for origin, want := range map[string]int{"https://lab.example.org": 200, "https://evil.example": 403} {
		w := ask(h, "POST", "/x", "", "X-Forwarded-Host: lab.example.org", "X-Forwarded-Proto: https", "Origin: "+origin)
		require.Check(t, w.Code == want, "%s: %d, want %d", origin, w.Code, want)
	}
}

func TestProxiesAdd(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "proxy.example", "10.0.0.0/33", "10.0.0.0/8,", "10.0.0.1:80"} {
		require.Fails(t, new(Proxies).Add(bad), "10.0.0.0/8", "%q", bad)
	}
}

// FuzzForwarded checks that a request with any header is answered, and that without a trusted proxy
// its address stays the same.
func FuzzForwarded(f *testing.F) {
	f.Add("203.0.113.7, 10.9.9.9", "https", "lab.example.org")
	f.Add("[::1%eth0]:80,,unknown", "", "a b")
	f.Fuzz(func(t *testing.T, clients, proto, host string) {
		s := NewSite(slog.New(slog.DiscardHandler), page)
		require.NoError(t, s.Proxies.Add("10.0.0.0/8"))
		var from string
		h := s.applyProxyHeaders(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { from = r.RemoteAddr }))
		for _, remote := range []string{"10.0.0.1:99", "192.0.2.1:99"} {
			r := httptest.NewRequest("GET", "/", io.NopCloser(nil))
			r.RemoteAddr = remote
			r.Header = http.Header{"X-Forwarded-For": {clients}, "X-Forwarded-Proto": {proto}, "X-Forwarded-Host": {host}}
			h.ServeHTTP(httptest.NewRecorder(), r)
			_, ok := parseAddress(from)
			require.Check(t, ok && (remote != "192.0.2.1:99" || from == remote), "%s became %q", remote, from)
		}
	})
}
