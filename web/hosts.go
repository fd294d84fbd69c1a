package web

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Hosts lists additional host names of the server.
type Hosts []string

// Add adds a comma-separated list of names such as "lab.example.org".
func (h *Hosts) Add(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name := strings.ToLower(strings.TrimSpace(part))
		if u, err := url.Parse("http://" + name); err != nil || name == "" || u.Hostname() != name {
			return fmt.Errorf("expects names such as lab.example.org, without port, separated by commas, not %q", part)
		}
		*h = append(*h, name)
	}
	return nil
}

// Answers reports whether host, with or without a port, belongs to this server. It guards
// against DNS rebinding, where another site points its own name at our address. IP addresses
// and localhost are always accepted; names only if they are the public one or in Names. If no
// names are configured and the server listens on a network, every name is accepted.
func (l Links) Answers(host string) bool {
	u := url.URL{Host: host}
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	public, _ := url.Parse(l.Public) // from ParsePublic
	switch {
	case l.Addr == nil, name == "localhost", strings.HasSuffix(name, ".localhost"), net.ParseIP(name) != nil:
		return true
	case l.Public != "" && name == strings.ToLower(public.Hostname()), slices.Contains(l.Names, name):
		return true
	}
	return l.Public == "" && len(l.Names) == 0 && !isLoopback(l.Addr.String())
}

// refuseHosts refuses requests for hosts that Answers rejects, except health checks.
func (s *Site) refuseHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Answers != nil && !s.Answers(r.Host) && !isProbe(r.URL.Path) {
			s.Error(w, r, Errorf(Misdirected, "This server does not accept the host name in the address. Its operator can add it: marginlab serve --host NAME, or --public-url."))
			return
		}
		next.ServeHTTP(w, r)
	})
}
