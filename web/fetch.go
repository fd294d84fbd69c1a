package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"syscall"
	"time"
)

// Fetcher downloads files from URLs that users supply. It connects only to public addresses on
// the ports of HTTP and HTTPS: every connection, redirects included, is checked by the address
// dialled after name resolution.
type Fetcher struct {
	client *http.Client
	places chan struct{} // one per running download
	time   time.Duration // time limit of a download
}

// Limits of a download besides its size.
const (
	fetchTime      = 30 * time.Second // for the whole download
	fetchRedirects = 5
	fetchesAtOnce  = 4
)

// NewFetcher returns a Fetcher that dials addresses for which may returns true; may is Public,
// except in tests.
func NewFetcher(may func(address netip.AddrPort) bool) *Fetcher {
	f := &Fetcher{places: make(chan struct{}, fetchesAtOnce), time: fetchTime}
	dialer := &net.Dialer{Timeout: fetchTime / 3, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !may(to) {
			return errPrivate
		}
		return nil
	}}
	f.client = &http.Client{
		Transport: &http.Transport{ // no proxy: it would dial unchecked addresses
			DialContext: dialer.DialContext, DisableKeepAlives: true, TLSHandshakeTimeout: fetchTime / 3, ResponseHeaderTimeout: fetchTime / 2, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) >= fetchRedirects {
				return fmt.Errorf("more than %d redirects", fetchRedirects)
			}
			return checkURL(r.URL)
		},
	}
	return f
}

var errPrivate = errors.New("files are fetched from public addresses on ports 80 and 443 only")

// checkURL returns an error unless a URL may be that of a file on the web.
func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return errors.New("expected an address that begins with https:// or http://")
	case u.User != nil:
		return errors.New("expected an address without a user or password")
	}
	return nil
}

// specialRanges lists address ranges, in addition to those netip knows, that contain no public host
// or, like 6to4 and NAT64, may lead to a private one.
var specialRanges = func() (list []netip.Prefix) {
	for _, p := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	} {
		list = append(list, netip.MustParsePrefix(p))
	}
	return list
}()

// Public reports whether an address belongs to a public host and a web port.
func Public(address netip.AddrPort) bool {
	a := address.Addr().Unmap()
	if address.Port() != 80 && address.Port() != 443 || !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" {
		return false
	}
	if a.Is6() && !netip.MustParsePrefix("2000::/3").Contains(a) {
		return false
	}
	return !slices.ContainsFunc(specialRanges, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Fetch writes the file at a URL to w, at most most bytes, and returns its name. Errors are
// for the user.
func (f *Fetcher) Fetch(ctx context.Context, address string, w io.Writer, most int64) (name string, err error) {
	u, err := url.Parse(address)
	if err == nil {
		err = checkURL(u)
	}
	if err != nil {
		return "", Errorf(Invalid, "The address %q: expected one that begins with https:// or http://, without a user or password.", clip(address))
	}
	ctx, cancel := context.WithTimeout(ctx, f.time)
	defer cancel()
	fault := func(err error) error {
		switch {
		case errors.Is(err, errPrivate):
			err = errPrivate
		case errors.Is(err, context.DeadlineExceeded):
			err = fmt.Errorf("it took longer than %v", f.time)
		}
		var wrapped *url.Error
		var unknown *net.DNSError // its text would name a server of this network
		switch {
		case errors.As(err, &unknown):
			err = fmt.Errorf("host %s was not found", unknown.Name)
		case errors.As(err, &wrapped):
			err = wrapped.Err
		}
		return Errorf(Invalid, "Fetching %s failed: %v. Download the file and upload it.", clip(u.Redacted()), err)
	}
	select {
	case f.places <- struct{}{}:
		defer func() { <-f.places }()
	case <-ctx.Done():
		return "", fault(ctx.Err())
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", fault(err)
	}
	request.Header.Set("User-Agent", "marginlab")
	response, err := f.client.Do(request)
	if err != nil {
		return "", fault(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fault(fmt.Errorf("the server answered %s", response.Status))
	}
	n, err := io.Copy(w, io.LimitReader(response.Body, most+1))
	switch {
	case onDisk(err):
		return "", fmt.Errorf("%w (%w)", errDisk, err)
	case err != nil:
		return "", fault(err)
	case n > most:
		return "", Errorf(TooLarge, "The file at %s is larger than %d MB.", clip(u.Redacted()), most>>20)
	}
	if name = path.Base(response.Request.URL.Path); name == "/" || name == "." {
		name = u.Hostname()
	}
	return name, nil
}

// clip shortens an address for a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}
