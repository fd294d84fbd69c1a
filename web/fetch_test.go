package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"93.184.216.34:443": true, "93.184.216.34:80": true, "[2606:2800:220:1::1]:443": true,
		"93.184.216.34:8080": false, "93.184.216.34:22": false,
		"127.0.0.1:80": false, "10.1.2.3:80": false, "172.16.0.1:80": false, "192.168.1.1:80": false, "169.254.169.254:80": false,
		"100.64.0.1:80": false, "0.0.0.0:80": false, "224.0.0.1:80": false, "255.255.255.255:80": false, "198.18.0.1:80": false,
		"[::1]:80": false, "[::]:80": false, "[fe80::1]:80": false, "[fe80::1%eth0]:80": false, "[fc00::1]:80": false, "[ff02::1]:80": false,
		"[::ffff:127.0.0.1]:80": false, "[::ffff:10.0.0.1]:80": false, "[::127.0.0.1]:80": false,
		"[64:ff9b::7f00:1]:80": false, "[2002:7f00:1::]:80": false, "[2001::1]:80": false, "[2001:db8::1]:80": false,
	} {
		require.Equal(t, Public(netip.MustParseAddrPort(address)), want, "%s", address)
	}
}

// A Fetcher that may dial one test server cannot be led to another by a host name or a redirect.
func TestFetch(t *testing.T) {
	t.Parallel()
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { t.Error("a private server was reached") }))
	defer inner.Close()
	const rows = "x,label\n1,a\n2,b\n"
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/private":
			http.Redirect(w, r, inner.URL+"/secret", http.StatusFound)
		case "/scheme":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/moved":
			http.Redirect(w, r, "/data/points.csv", http.StatusMovedPermanently)
		case "/slow":
			<-r.Context().Done()
		case "/stuck":
			_, _ = w.Write([]byte("x,label\n"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/large":
			_, _ = w.Write(bytes.Repeat([]byte("1,2\n"), 1000))
		case "/points.csv", "/data/points.csv":
			_, _ = w.Write([]byte(rows))
		default:
			http.NotFound(w, r)
		}
	}))
	defer outer.Close()
	allowed := netip.MustParseAddrPort(strings.TrimPrefix(outer.URL, "http://"))
	f := NewFetcher(func(a netip.AddrPort) bool { return a == allowed })
	fetch := func(ctx context.Context, address string) (string, string, error) {
		var b bytes.Buffer
		name, err := f.Fetch(ctx, address, &b, 100)
		return name, b.String(), err
	}
	for _, path := range []string{"/points.csv", "/moved"} {
		name, text, err := fetch(t.Context(), outer.URL+path)
		require.Check(t, err == nil && text == rows && name == "points.csv", "%s: %s, %q, %v", path, name, text, err)
	}
	for address, want := range map[string]string{
		outer.URL + "/private":          "public addresses",
		outer.URL + "/scheme":           "https:// or http://",
		outer.URL + "/round":            "more than 5 redirects",
		outer.URL + "/nothing":          "404",
		outer.URL + "/large":            "larger than",
		inner.URL:                       "public addresses",
		"http://localhost:1/points.csv": "public addresses",
		"ftp://example.org/points.csv":  "https:// or http://",
		"http://a:b@example.org/":       "without a user",
		"points.csv":                    "https:// or http://",
		"http://[::1":                   "https:// or http://",
	} {
		_, _, err := fetch(t.Context(), address)
		var kind interface{ Kind() string }
		require.Check(t, err != nil && strings.Contains(err.Error(), want) && errors.As(err, &kind),
			"%s: %v, want %q", address, err, want)
	}
	if _, _, err := fetch(t.Context(), "http://nowhere.invalid/points.csv"); err == nil || !strings.Contains(err.Error(), "failed: host nowhere.invalid was not found.") {
		t.Errorf("no such host: %v", err)
	}
	f.time = time.Millisecond
	for _, path := range []string{"/slow", "/stuck"} {
		_, _, err := fetch(t.Context(), outer.URL+path)
		require.Check(t, err != nil && strings.Contains(err.Error(), "it took longer than 1ms"), "%s: %v", path, err)
	}
	_, _, err := fetch(mltest.Ended(), outer.URL+"/slow")
	require.Check(t, err != nil, "a request that was given up")
}

// full is a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/secret/spool", Err: syscall.ENOSPC}
}

// A full disk is neither the other server's fault nor an interrupted connection, and its message
// names no path.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("x")) }))
	defer outer.Close()
	_, fetched := NewFetcher(func(netip.AddrPort) bool { return true }).Fetch(t.Context(), outer.URL, full{}, 100)
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x"))
	received := receive(httptest.NewRecorder(), r, 100, func() error {
		_, err := io.Copy(full{}, r.Body)
		return err
	})
	for _, err := range []error{fetched, received} {
		p := problem(r, err)
		require.Check(t, p.Status == http.StatusInsufficientStorage && !strings.Contains(p.Detail, "secret"), "%d %s", p.Status, p.Detail)
	}
}
