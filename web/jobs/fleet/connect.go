package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"marginlab/ml/lists"
	"marginlab/web"
)

// Access holds a NATS address and credentials.
type Access struct {
	URL   string // may list several servers of a cluster, separated by commas
	Token string // file with a token
	Creds string // file with credentials, as written by the nsc tool of NATS
	CA    string // file with CA certificates for the server; empty: the system's
}

// Link is a connection to a NATS server.
type Link struct {
	Help string // flags with which a worker joins

	*nats.Conn
	server *server.Server // embedded server; nil: none
}

// Close closes the connection and the embedded server, if any.
func (l *Link) Close() {
	l.Conn.Close()
	if l.server != nil {
		l.server.Shutdown()
		l.server.WaitForShutdown()
	}
}

// Connect connects to NATS; what identifies the program. A lost connection is re-established.
// A remote address needs a token, credentials, or a user in the URL.
func Connect(a Access, what string, log *slog.Logger) (*Link, error) {
	opts := []nats.Option{
		nats.Name("Margin Lab " + what), nats.MaxReconnects(-1), nats.ReconnectWait(pause), nats.ReconnectJitter(pause/10, pause),
		nats.IgnoreAuthErrorAbort(), // the server may return with another token, and later with the original one
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("connection to NATS lost, trying again", "err", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) { log.Info("connected to NATS again", "at", nc.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn("NATS", "err", err) }),
	}
	switch {
	case a.Token != "":
		text, err := os.ReadFile(a.Token)
		if err != nil {
			return nil, err
		}
		token := strings.TrimSpace(string(text))
		if token == "" {
			return nil, fmt.Errorf("%s: the token is missing", a.Token)
		}
		opts = append(opts, nats.Token(token))
	case a.Creds != "":
		if _, err := os.Stat(a.Creds); err != nil {
			return nil, err
		}
		opts = append(opts, nats.UserCredentials(a.Creds))
	}
	if a.CA != "" {
		if _, err := os.Stat(a.CA); err != nil {
			return nil, err
		}
		opts = append(opts, nats.RootCAs(a.CA))
	}
	nc, err := nats.Connect(a.URL, opts...)
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return nil, fmt.Errorf("NATS server %s refuses the connection: give the token that the Margin Lab server keeps in DATA_DIR/nats-token, or the credentials of its account", redact(a.URL))
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return nil, fmt.Errorf("NATS server %s: this computer does not trust its certificate: give the certificate, or its issuer's, with --nats-ca", redact(a.URL))
	case err != nil:
		return nil, fmt.Errorf("NATS server %s: %w", redact(a.URL), err)
	}
	return &Link{"--nats " + redact(a.URL), nc, nil}, nil
}

// Join connects a worker to NATS. While there is no answer, or a file of the access is missing, it
// retries until ctx ends.
func Join(ctx context.Context, a Access, log *slog.Logger) (*Link, error) {
	for wait := pause / 2; ; wait = min(2*wait, longestWait) {
		link, err := Connect(a, "worker", log)
		why := "nobody answers"
		if errors.Is(err, fs.ErrNotExist) {
			why = "a file is missing" // a server writes its token when it first starts
		} else if err == nil || !isAbsent(err) {
			return link, err
		}
		log.WarnContext(ctx, "waiting for the server: "+why, "at", redact(a.URL), "err", err, "trying again in", wait)
		if sleep(ctx, wait); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// longestWait is the longest time between two attempts to join.
const longestWait = 30 * time.Second

// isAbsent reports whether a connection failed because the server is not running yet.
func isAbsent(err error) bool {
	var dial *net.OpError
	return errors.Is(err, nats.ErrNoServers) || errors.Is(err, nats.ErrTimeout) || errors.As(err, &dial) && dial.Op == "dial"
}

// Check returns an error if the access is incomplete or unsafe.
func (a Access) Check() error {
	for text := range strings.SplitSeq(a.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil || u.Host == "" {
			return fmt.Errorf("expects an address such as nats://HOST:4222, not %q", redact(text))
		}
		if ip := net.ParseIP(u.Hostname()); a.Token == "" && a.Creds == "" && u.User == nil && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return fmt.Errorf("%s is another computer: give a token or credentials", u.Host)
		}
	}
	return nil
}

// redact removes passwords from addresses.
func redact(urls string) string {
	var list []string
	for text := range strings.SplitSeq(urls, ",") {
		if u, err := url.Parse(strings.TrimSpace(text)); err == nil {
			text = u.Redacted()
		}
		list = append(list, text)
	}
	return strings.Join(list, ",")
}

// tokenFile is the file with the token of an embedded server, in the data directory.
const tokenFile = "nats-token"

// Listen starts an embedded NATS server for workers at HOST:PORT, with TLS if secure is not nil,
// and connects to it. Its stream and its token are stored in dir.
func Listen(addr, dir string, secure *tls.Config, log *slog.Logger) (*Link, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("--nats-listen: %w", err)
	}
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		return nil, fmt.Errorf("--nats-listen: %w", err)
	}
	number = cmp.Or(number, server.RANDOM_PORT)
	file := filepath.Join(dir, tokenFile)
	token, err := keptToken(file)
	if err != nil {
		return nil, err
	}
	own := rand.Text()
	s, err := server.NewServer(&server.Options{
		ServerName: "marginlab", Host: host, Port: number, NoSigs: true,
		JetStream: true, StoreDir: filepath.Join(dir, "nats"), SyncAlways: true, JetStreamMaxMemory: 1 << 20, JetStreamMaxStore: 4 << 30,
		CustomClientAuthentication: gate{token, own}, TLSConfig: secure, TLSTimeout: startTimeout.Seconds(),
	})
	if err != nil {
		return nil, fmt.Errorf("NATS: %w", err)
	}
	s.SetLoggerV2(logger{log}, false, false, false)
	l := &Link{server: s}
	s.Start()
	if !s.ReadyForConnections(startTimeout) {
		err = fmt.Errorf("it cannot listen on %s; choose another address with --nats-listen", addr)
	} else if l.Conn, err = nats.Connect("", nats.InProcessServer(s), nats.Token(own), nats.Name("Margin Lab server"), nats.MaxReconnects(-1)); err == nil {
		_, where, _ := strings.Cut(web.Links{Addr: s.Addr()}.Here(), "://")
		scheme := lists.Either(secure == nil, "nats", "tls")
		l.Help = fmt.Sprintf("--nats %s://%s --nats-token %s", scheme, where, file)
		return l, nil
	}
	s.Shutdown()
	s.WaitForShutdown()
	return nil, fmt.Errorf("NATS: %w", err)
}

// keptToken returns the token in a file, which is created if missing.
func keptToken(file string) (string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		text = []byte(rand.Text() + "\n")
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if len(token) < 16 {
		return "", fmt.Errorf("%s: expected a token of 16 characters or more; delete the file to have a new one made", file)
	}
	return token, nil
}

// gate authorises workers with the token, limited to their subjects, and this process.
type gate struct{ worker, own string }

// Check authorises every connection to the server.
func (g gate) Check(c server.ClientAuthentication) bool {
	given := c.GetOpts().Token
	switch {
	case same(given, g.own):
		c.RegisterUser(&server.User{Username: "server"})
		return true
	case same(given, g.worker):
		c.RegisterUser(&server.User{Username: "worker", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Allow: []string{
				helloSubject, layOutSubject, doneSubject,
				"$JS.API.CONSUMER.INFO." + streamName + "." + consumerName, "$JS.API.CONSUMER.MSG.NEXT." + streamName + "." + consumerName, "$JS.ACK." + streamName + ".>",
				"$JS.API.STREAM.INFO." + objectsStream, "$JS.API.DIRECT.GET." + objectsStream + ".>", "$JS.FC." + objectsStream + ".>",
				"$JS.API.CONSUMER.CREATE." + objectsStream + ".>", "$JS.API.CONSUMER.DELETE." + objectsStream + ".>",
			}},
			Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>", cancelSubject}},
		}})
		return true
	}
	return false
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// logger forwards warnings and errors of NATS.
type logger struct{ log *slog.Logger }

func (l logger) Errorf(format string, v ...any)  { l.log.Warn("NATS: " + fmt.Sprintf(format, v...)) }
func (l logger) Warnf(format string, v ...any)   { l.Errorf(format, v...) }
func (l logger) Fatalf(format string, v ...any)  { l.log.Error("NATS: " + fmt.Sprintf(format, v...)) }
func (l logger) Noticef(format string, v ...any) {}
func (l logger) Debugf(format string, v ...any)  {}
func (l logger) Tracef(format string, v ...any)  {}
