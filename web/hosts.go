package web

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Hosts are more names of the server than those of its address and its public one.
type Hosts []string

// Add reads names, "lab.example.org", separated by commas.
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

// Answers tells whether a request to a host, with or without a port, is meant for this
// server, and is not one that a page of a name that somebody has pointed at our address
// makes a browser send. Addresses and localhost nobody else can have. Of names it knows
// the public one and those in Names; without any it takes every name, as long as it
// listens to the network, where it cannot know what it is called.
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

// refuseHosts refuses requests that are meant for another server, as Answers says; health
// may be asked for by any name.
func (s *Site) refuseHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Answers != nil && !s.Answers(r.Host) && !isProbe(r.URL.Path) {
			s.Error(w, r, Errorf(Misdirected, "This server does not accept the host name in the address. Its operator can add it: marginlab serve --host NAME, or --public-url."))
			return
		}
		next.ServeHTTP(w, r)
	})
}
