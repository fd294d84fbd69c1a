package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Links says where others find the server, for addresses that are written on a
// blackboard or sent to somebody.
type Links struct {
	Public string   // as who runs the server says it, from ParsePublic; empty: it is found out
	Addr   net.Addr // listened on; nil: not known
	Names  Hosts    // that the server has besides
	TLS    bool     // it speaks TLS itself
}

// ParsePublic reads the address of a whole site, "https://lab.example.org".
func ParsePublic(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", fmt.Errorf("expects scheme and host of the whole site, such as https://lab.example.org, not %q", text)
	}
	return u.Scheme + "://" + u.Host, nil
}

// Here is where a browser finds the server, one elsewhere if it listens to such. A
// computer that changes the network changes it.
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

// Origin is scheme and host of links that are handed on by the page that r asks for:
// those that the request was sent to, unless only this computer knows them by that
// name and others can reach it by another.
func (l Links) Origin(r *http.Request) string {
	switch {
	case l.Public != "" || isLoopback(r.Host) && l.everywhere():
		return l.Here()
	case secureTransport(r):
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// everywhere tells whether the server listens to other computers as well, at whatever
// address they reach it.
func (l Links) everywhere() bool {
	addr, ok := l.Addr.(*net.TCPAddr)
	return ok && addr.IP.IsUnspecified()
}

// isLoopback tells whether a host, with or without a port, is the computer that asks.
func isLoopback(host string) bool {
	u := url.URL{Host: host}
	addr, err := netip.ParseAddr(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// addresses returns the addresses of this computer on the networks that it is connected to, in the
// order of its interfaces: cards come before bridges and tunnels, which are made later.
func addresses() (all []net.Addr) {
	interfaces, _ := net.Interfaces() // none is as good as no network
	for _, i := range interfaces {
		if i.Flags&net.FlagRunning != 0 && i.Flags&net.FlagPointToPoint == 0 {
			addrs, _ := i.Addrs()
			all = append(all, addrs...)
		}
	}
	return all
}

// onNetwork picks the address at which neighbours reach this computer: the first of
// version 4, as long as there is one, for it is shorter on a blackboard.
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
