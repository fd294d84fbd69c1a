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

// Proxies are the networks of proxies in front whose word is taken for where a
// request comes from. The zero value trusts nobody.
type Proxies []netip.Prefix

// Add reads networks, "10.0.0.0/8", or single addresses, separated by commas.
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

// client is the first address from the right that no trusted proxy has: whatever
// stands left of it anybody may have written.
func (p Proxies) client(from netip.Addr, forwarded []string) netip.Addr {
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !p.trust(from) {
			break
		}
		next, ok := address(strings.TrimSpace(hop))
		if !ok {
			break
		}
		from = next
	}
	return from
}

// address reads an address with or without a port.
func address(text string) (netip.Addr, bool) {
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

// Address returns the network address that a request comes from, of IPv6 the network of the
// customer; empty outside of a Site.
func Address(ctx context.Context) string {
	address, _ := ctx.Value(addressKey{}).(string)
	return address
}

// noteAddress keeps the address of a request for Address.
func noteAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address, _ := httprate.KeyByIP(r) // which never fails
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), addressKey{}, address)))
	})
}

// lookBehind gives a request that comes from a trusted proxy the address, the host
// and the scheme with which it came to that proxy. From anybody else, the headers
// that tell them mean nothing.
func (s *Site) lookBehind(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, ok := address(r.RemoteAddr)
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

// nearest returns the entry of the nearest proxy: several, one behind another, may
// have added to the header.
func nearest(h http.Header, name string) string {
	all := strings.Split(strings.Join(h.Values(name), ","), ",")
	return strings.TrimSpace(all[len(all)-1])
}

// secureTransport is true for TLS, here or at a trusted proxy in front.
func secureTransport(r *http.Request) bool {
	return r.TLS != nil || r.Context().Value(secureKey{}) != nil
}
