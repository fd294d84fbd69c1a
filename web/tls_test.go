package web

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// certify writes a certificate with the given serial number, and its key.
func certify(t *testing.T, dir string, number int64) (cert, key string) {
	t.Helper()
	k := require.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	about := &x509.Certificate{SerialNumber: big.NewInt(number), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der := require.Value(x509.CreateCertificate(rand.Reader, about, about, &k.PublicKey, k))(t)
	secret := require.Value(x509.MarshalPKCS8PrivateKey(k))(t)
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
		stamp := time.Unix(1e9+number, 0) // files of one test may be written within one tick
		require.NoError(t, os.Chtimes(file, stamp, stamp))
	}
	return cert, key
}

func TestTLS(t *testing.T) {
	t.Parallel()
	log := new(mltest.Buffer)
	to := slog.New(slog.NewTextHandler(log, nil))
	server := require.Value(Listen("127.0.0.1:0", to))(t)
	dir := t.TempDir()
	cert, key := certify(t, dir, 1)
	for _, wrong := range [][2]string{{"none", key}, {cert, "none"}, {key, cert}} {
		_, err := TLS(wrong[0], wrong[1], to)
		require.Check(t, err != nil && strings.HasPrefix(err.Error(), "TLS: "), "%v: %v", wrong, err)
	}
	server.UseTLS(require.Value(TLS(cert, key, to))(t))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	h, _, _ := newSite(map[string]Handler{"GET /x": ok})
	go func() { ended <- server.Serve(ctx, h) }()

	links := Links{Addr: server.Addr(), TLS: true}
	visit := func() (number int64) {
		t.Helper()
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
		a := require.Value(client.Get(links.Here() + "/x"))(t)
		defer a.Body.Close()
		c := a.Cookies()
		require.Check(t, len(c) == 1 && c[0].Secure, "cookies %v", c)
		return a.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	require.Equal(t, visit(), 1, "certificate")
	certify(t, dir, 2)
	require.Equal(t, visit(), 2, "certificate … after that of 1 was replaced")
	require.NoError(t, os.WriteFile(cert, []byte("half"), 0o600))
	n := visit() + visit()
	require.Check(t, n == 4 && strings.Count(log.String(), "certificate not reloaded") == 1, "%d, log %s", n, log)
	a, err := http.Get("http://" + server.Addr().String() + "/x")
	require.Check(t, err == nil && a.StatusCode == 400, "plain HTTP %v %v", a, err)
	stop()
	require.Equal(t, <-ended, nil, "<-ended")
}
