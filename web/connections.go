package web

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// mostConnections is the most connections a server accepts, if the system allows enough open
// files: half of those are reserved for the database and for files being sent.
const mostConnections = 16 << 10

// connections is a listener with a bounded number of connections. When it is full, the connection
// idle for longest is closed. One address, unless it is a proxy, may hold at most three quarters,
// so that others are still served.
type connections struct {
	net.Listener
	most    int
	proxies Proxies
	log     *slog.Logger

	mu            sync.Mutex
	closed        bool
	open          []*connection
	refusalLogged time.Time // time of the last logged refusal
}

// connection is an accepted connection.
type connection struct {
	net.Conn
	all  *connections
	from netip.Addr

	// Guarded by all.mu:
	busy  bool      // serving a request whose header has been read
	since time.Time // start of the current busy or idle period
}

// Accept returns the next connection for which there is room, closing others.
func (all *connections) Accept() (net.Conn, error) {
	for {
		conn, err := all.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := all.admit(conn); c != nil {
			return c, nil
		}
		_ = conn.Close()
	}
}

// admit adds a connection, closing an idle one if necessary. It returns nil if there is no room.
func (all *connections) admit(conn net.Conn) *connection {
	c := &connection{Conn: conn, all: all, since: time.Now()}
	c.from, _ = parseAddress(conn.RemoteAddr().String())
	all.mu.Lock()
	near := 0
	var waits, nearWaits *connection // idle for longest, in all and of this address
	for _, o := range all.open {
		if o.from == c.from {
			near++
		}
		if o.busy {
			continue
		}
		if waits == nil || o.since.Before(waits.since) {
			waits = o
		}
		if o.from == c.from && (nearWaits == nil || o.since.Before(nearWaits.since)) {
			nearWaits = o
		}
	}
	var gives *connection
	room := true
	switch {
	case all.closed:
		room = false
	case 4*near >= 3*all.most && !all.proxies.trust(c.from):
		gives, room = nearWaits, nearWaits != nil
	case len(all.open) >= all.most:
		gives, room = waits, waits != nil
	}
	if room {
		all.open = append(all.open, c)
	} else if !all.closed && c.since.Sub(all.refusalLogged) >= time.Minute {
		all.refusalLogged = c.since
		all.log.Warn("connections refused: too many are busy; first of this minute", "from", c.from, "near", near, "open", len(all.open))
	}
	all.mu.Unlock()
	if gives != nil {
		_ = gives.Close()
	}
	if !room {
		return nil
	}
	return c
}

// Close closes the listener and all connections without a running request. http.Server.Shutdown
// would wait seconds for connections that have sent nothing yet, such as those that browsers open
// in advance.
func (all *connections) Close() error {
	all.mu.Lock()
	all.closed = true
	idle := slices.DeleteFunc(slices.Clone(all.open), func(c *connection) bool { return c.busy })
	all.mu.Unlock()
	for _, c := range idle {
		_ = c.Close()
	}
	return all.Listener.Close()
}

// noteState records the state of a connection, as http.Server.ConnState.
func (all *connections) noteState(conn net.Conn, state http.ConnState) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if c, ok := conn.(*connection); ok {
		all.mu.Lock()
		defer all.mu.Unlock()
		c.busy, c.since = state == http.StateActive, time.Now()
	}
}

// Close closes the connection and frees its room.
func (c *connection) Close() error {
	c.all.mu.Lock()
	c.all.open = slices.DeleteFunc(c.all.open, func(o *connection) bool { return o == c })
	c.all.mu.Unlock()
	return c.Conn.Close()
}
