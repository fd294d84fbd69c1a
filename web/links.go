package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Links builds the server's address for links that are shared or written on a blackboard.
type Links struct {
	Public string   // as the operator set it, from ParsePublic; empty: detected
	Addr   net.Addr // listened on; nil: not known
	Names  Hosts    // additional host names
	TLS    bool     // the server itself speaks TLS
}

// ParsePublic parses the base URL of a site, such as "https://lab.example.org".
func ParsePublic(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", fmt.Errorf("expects scheme and host of the whole site, such as https://lab.example.org, not %q", text)
	}
	return u.Scheme + "://" + u.Host, nil
}

// Here returns the URL at which browsers reach the server, also from other computers if it listens
// to them. It changes when the computer changes networks.
func (l Links) Here() string {
	if l.Public != "" {
		return l.Public
	}
	scheme := "http://"
	if l.TLS {
		scheme = "https://"
	}
	host, port, err := net.SplitHostPort(l.Addr.String())
	if err != nil {
		return scheme + l.Addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
		if ip, ok := onNetwork(addresses()); ok {
			host = ip.String()
		}
	}
	return scheme + net.JoinHostPort(host, port)
}

// Origin returns the scheme and host for links on the page requested by r: those of the request,
// unless it used a loopback name and others can reach the server by another.
func (l Links) Origin(r *http.Request) string {
	switch {
	case l.Public != "" || isLoopback(r.Host) && l.everywhere():
		return l.Here()
	case secureTransport(r):
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// everywhere reports whether the server listens on all interfaces.
func (l Links) everywhere() bool {
	addr, ok := l.Addr.(*net.TCPAddr)
	return ok && addr.IP.IsUnspecified()
}

// isLoopback reports whether a host, with or without a port, is a loopback address or name.
func isLoopback(host string) bool {
	u := url.URL{Host: host}
	addr, err := netip.ParseAddr(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// addresses returns this computer's network addresses in the order of its interfaces: hardware
// comes before bridges and tunnels, which are created later.
func addresses() (all []net.Addr) {
	interfaces, _ := net.Interfaces() // on error, as without a network
	for _, i := range interfaces {
		if i.Flags&net.FlagRunning != 0 && i.Flags&net.FlagPointToPoint == 0 {
			addrs, _ := i.Addrs()
			all = append(all, addrs...)
		}
	}
	return all
}

// onNetwork picks the address at which others on the network reach this computer: the first
// IPv4 address if any, because it is shorter on a blackboard.
func onNetwork(addrs []net.Addr) (found netip.Addr, ok bool) {
	for _, a := range addrs {
		network, err := netip.ParsePrefix(a.String())
		if err != nil || !network.Addr().IsGlobalUnicast() {
			continue
		}
		if network.Addr().Is4() {
			return network.Addr(), true
		}
		if !ok {
			found, ok = network.Addr(), true
		}
	}
	return found, ok
}
