package web

import (
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

func TestParsePublic(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://lab.example.org":      "https://lab.example.org",
		"http://192.168.1.5:8080/":     "http://192.168.1.5:8080",
		"HTTPS://lab.example.org:8443": "https://lab.example.org:8443",
		"http://[2001:db8::1]:80":      "http://[2001:db8::1]:80",
	} {
		got, err := ParsePublic(text)
		require.Check(t, err == nil && got == want, "%s: %q, %v", text, got, err)
	}
	for _, bad := range []string{"", "lab.example.org", "lab.example.org:80", "ftp://lab.example.org", "https://", "https://:80", "https://a/lab", "https://a?x=1", "https://a#x", "https://u:p@a", "https://a\n"} {
		got, err := ParsePublic(bad)
		require.Check(t, err != nil && strings.Contains(err.Error(), "https://lab.example.org"), "%q: %q, %v", bad, got, err)
	}
}

// TestOrigin: a shared link leads others here, as far as the server knows its address.
func TestOrigin(t *testing.T) {
	t.Parallel()
	at := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 8080} }
	network := "http://localhost:8080" // as well as nothing, without a network
	if ip, ok := onNetwork(addresses()); ok {
		network = "http://" + net.JoinHostPort(ip.String(), "8080")
	}
	for _, test := range []struct {
		links Links
		host  string
		want  string
	}{
		{Links{Addr: at("127.0.0.1")}, "localhost:8080", "http://localhost:8080"},
		{Links{Addr: at("127.0.0.1")}, "127.0.0.1:9000", "http://127.0.0.1:9000"}, // through a tunnel
		{Links{Addr: at("0.0.0.0")}, "localhost:8080", network},
		{Links{Addr: at("::")}, "LOCALHOST", network},
		{Links{Addr: at("::")}, "127.0.0.1:8080", network},
		{Links{Addr: at("::")}, "[::1]:8080", network},
		{Links{Addr: at("::")}, "lab.local:8080", "http://lab.local:8080"}, // a name that somebody came by
		{Links{Addr: at("192.168.1.5")}, "192.168.1.5:8080", "http://192.168.1.5:8080"},
		{Links{Addr: at("::"), Public: "https://lab.example.org"}, "localhost:8080", "https://lab.example.org"},
		{Links{Addr: at("127.0.0.1"), Public: "https://lab.example.org"}, "192.168.1.5:8080", "https://lab.example.org"},
		{Links{}, "localhost", "http://localhost"},
		{Links{Addr: at("::")}, "[::1", "http://[::1"},
	} {
		r := httptest.NewRequest("GET", "/x", nil)
		r.Host = test.host
		require.Equal(t, test.links.Origin(r), test.want, "%v, asked as %s", test.links, test.host)
	}
}

func TestHere(t *testing.T) {
	t.Parallel()
	for want, links := range map[string]Links{
		"http://127.0.0.1:80":     {Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}},
		"http://[2001:db8::1]:80": {Addr: &net.TCPAddr{IP: net.ParseIP("2001:db8::1"), Port: 80}},
		"https://lab.example.org": {Public: "https://lab.example.org", Addr: &net.TCPAddr{Port: 80}},
	} {
		require.Equal(t, links.Here(), want, "%v", links)
	}
}

func TestOnNetwork(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ addrs, want string }{
		{"127.0.0.1/8 ::1/128", "invalid IP"},
		{"", "invalid IP"},
		{"127.0.0.1/8 169.254.3.4/16 fe80::1/64", "invalid IP"}, // no address was assigned
		{"127.0.0.1/8 192.168.1.5/24 fe80::1/64 172.17.0.1/16", "192.168.1.5"},
		{"::1/128 2001:db8::5/64 10.0.0.7/8", "10.0.0.7"},
		{"::1/128 2001:db8::5/64 2001:db8::6/64 fe80::1/64", "2001:db8::5"},
	} {
		var addrs []net.Addr
		for text := range strings.FieldsSeq(test.addrs) {
			ip, network, err := net.ParseCIDR(text)
			require.NoError(t, err)
			addrs = append(addrs, &net.IPNet{IP: ip, Mask: network.Mask})
		}
		got, ok := onNetwork(addrs)
		require.Check(t, got.String() == test.want && ok == got.IsValid(), "%s: %v %t, want %s", test.addrs, got, ok, test.want)
	}
}
