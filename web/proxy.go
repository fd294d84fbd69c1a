package web

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/go-chi/httprate"
)

// Proxies lists the networks of reverse proxies whose forwarding headers are trusted. The zero
// value trusts none.
type Proxies []netip.Prefix

// Add adds a comma-separated list of networks ("10.0.0.0/8") or addresses.
func (p *Proxies) Add(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		network, err := netip.ParsePrefix(part)
		if addr, single := netip.ParseAddr(part); single == nil {
			network, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return fmt.Errorf("expects networks such as 10.0.0.0/8 or addresses such as 127.0.0.1, separated by commas, not %q", part)
		}
		*p = append(*p, network)
	}
	return nil
}

func (p Proxies) trust(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// client returns the rightmost address that is not a trusted proxy: entries to its left can be
// forged.
func (p Proxies) client(from netip.Addr, forwarded []string) netip.Addr {
	for _, hop := range slices.Backward(strings.Split(strings.Join(forwarded, ","), ",")) {
		if !p.trust(from) {
			break
		}
		next, ok := parseAddress(strings.TrimSpace(hop))
		if !ok {
			break
		}
		from = next
	}
	return from
}

// parseAddress parses an address with or without a port.
func parseAddress(text string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(text)
	if err != nil {
		both, err := netip.ParseAddrPort(text)
		if err != nil {
			return addr, false
		}
		addr = both.Addr()
	}
	return addr.Unmap().WithZone(""), true
}

type (
	secureKey  struct{}
	addressKey struct{}
)

// Address returns the client's network address (for IPv6, its /64 network), empty outside a Site.
func Address(ctx context.Context) string {
	address, _ := ctx.Value(addressKey{}).(string)
	return address
}

// noteAddress stores the client address for Address.
func noteAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address, _ := httprate.KeyByIP(r) // never fails
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), addressKey{}, address)))
	})
}

// applyProxyHeaders restores the client address, host and scheme of a request that arrives through a
// trusted proxy. From anyone else it ignores those headers.
func (s *Site) applyProxyHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, ok := parseAddress(r.RemoteAddr)
		if !ok || !s.Proxies.trust(from) {
			next.ServeHTTP(w, r)
			return
		}
		ctx := r.Context()
		if strings.EqualFold(nearest(r.Header, "X-Forwarded-Proto"), "https") {
			ctx = context.WithValue(ctx, secureKey{}, true)
		}
		r = r.WithContext(ctx)
		r.RemoteAddr = netip.AddrPortFrom(s.Proxies.client(from, r.Header.Values("X-Forwarded-For")), 0).String()
		if host := nearest(r.Header, "X-Forwarded-Host"); host != "" {
			r.Host = host
		}
		next.ServeHTTP(w, r)
	})
}

// nearest returns the entry added by the nearest of a chain of proxies.
func nearest(h http.Header, name string) string {
	all := strings.Split(strings.Join(h.Values(name), ","), ",")
	return strings.TrimSpace(all[len(all)-1])
}

// secureTransport reports whether a request came over TLS, here or at a trusted proxy.
func secureTransport(r *http.Request) bool {
	return r.TLS != nil || r.Context().Value(secureKey{}) != nil
}
