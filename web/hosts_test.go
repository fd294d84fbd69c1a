package web

import (
	"log/slog"
	"net"
	"testing"

	"marginlab/ml/mltest/require"
)

// A host name is not ours just because it resolves to our address.
func TestAnswers(t *testing.T) {
	t.Parallel()
	here, network := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}, &net.TCPAddr{IP: net.IPv4zero, Port: 8080}
	for _, test := range []struct {
		links Links
		yes   []string
		no    []string
	}{
		{Links{}, []string{"evil.example", ""}, nil}, // in tests
		{Links{Addr: here}, []string{"localhost", "LOCALHOST:8080", "localhost.", "lab.localhost:8080", "127.0.0.1:8080", "[::1]:8080", "192.0.2.1"}, []string{"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "notlocalhost", "", "lab.example.org"}},
		{Links{Addr: &net.TCPAddr{IP: net.IPv6loopback, Port: 1}}, []string{"[::1]:1"}, []string{"evil.example"}},
		{Links{Addr: network}, []string{"lab.university.example:8080", "evil.example", "192.0.2.1:8080"}, nil}, // which cannot be distinguished
		{Links{Addr: network, Public: "https://Lab.example.org:8443"}, []string{"lab.example.org", "LAB.example.org.:8443", "localhost:8080", "192.0.2.1:8080"}, []string{"evil.example", "example.org", "xlab.example.org"}},
		{Links{Addr: here, Public: "https://lab.example.org", Names: Hosts{"inner.example"}}, []string{"lab.example.org", "inner.example:8080"}, []string{"evil.example"}},
		{Links{Addr: network, Names: Hosts{"inner.example"}}, []string{"Inner.example"}, []string{"evil.example", "lab.example.org"}},
	} {
		for want, hosts := range map[bool][]string{true: test.yes, false: test.no} {
			for _, host := range hosts {
				require.Equal(t, test.links.Answers(host), want, "%+v answers %q", test.links, host)
			}
		}
	}

	s := NewSite(slog.New(slog.DiscardHandler), page)
	s.Answers = Links{Addr: here}.Answers
	h := mux(s, map[string]Handler{"GET /x": ok, "POST /api/x": ok})
	for target, want := range map[string]int{"http://localhost:8080/x": 200, "http://evil.example:8080/x": 421, "http://evil.example:8080/nowhere": 421, "http://evil.example/healthz": 404} { // which has no route here
		w := ask(h, "GET", target, "")
		require.Check(t, w.Code == want && (want != 421 || len(w.Result().Cookies()) <= 0),
			"%s: %d, cookies %v", target, w.Code, w.Result().Cookies())
	}
	require.Equal(t, ask(h, "POST", "http://evil.example/api/x", "").Code, 421, "w.Code")
}

func TestHosts(t *testing.T) {
	t.Parallel()
	var h Hosts
	err := h.Add("Lab.example.org, inner")
	require.Check(t, err == nil && len(h) == 2 && h[0] == "lab.example.org" && h[1] == "inner", "%v %v", h, err)
	for _, bad := range []string{"", "a,,b", "lab.example.org:8080", "https://lab.example.org", "lab.example.org/x", "a b", "user@lab"} {
		require.Check(t, h.Add(bad) != nil, "%q is a name", bad)
	}
}
