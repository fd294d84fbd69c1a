// Command marginlab is a laboratory for margin classifiers: a web application (serve, the default)
// and terminal commands (fit, cv, predict and others).
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/sync/errgroup"

	"marginlab/handlers"
	"marginlab/handlers/cmdline"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/static"
	"marginlab/store"
	"marginlab/web"
	"marginlab/web/jobs"
	"marginlab/web/jobs/fleet"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	serve := cmdline.Command{Name: "serve", Summary: "run the web application", Run: serve}
	table := append([]cmdline.Command{serve}, cmdline.Commands...)
	os.Exit(cmdline.Run(ctx, table, os.Args[1:], cmdline.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// settings are the values of the flags of serve.
type settings struct {
	addr, dir, public, cert, key, metricsAddr string
	proxies                                   web.Proxies
	origins                                   web.Origins
	names                                     web.Hosts
	fetch                                     *bool

	listen string        // for workers
	access *fleet.Access // to another NATS server
	leave  *bool

	backups  store.Backups
	logger   func(io.Writer) *slog.Logger
	limits   dataset.Limits
	quota    store.Quota
	maxDisk  int64
	days     int // until an unused workspace is deleted; 0: never
	patience time.Duration
	runLimit time.Duration
}

// parse reads the flags of serve.
func parse(args []string) (*settings, error) {
	s := &settings{
		addr: "127.0.0.1:8080", limits: dataset.DefaultLimits, quota: store.DefaultQuota,
		backups: store.Backups{Every: 24 * time.Hour, Keep: 14}, patience: 8 * time.Second, runLimit: time.Hour,
	}
	flags := cmdline.NewFlags("serve [flags]", "Runs the web application until it is interrupted.")
	flags.Text(&s.addr, "addr", "HOST:PORT", "Address to listen on; port 0 chooses a free port. (default 127.0.0.1:8080)")
	dir := flags.DataDir("Directory of the database, for this server only; created if missing.")
	flags.Func("public-url", "URL", "Public URL of the server, for links to courses and shared runs. (default the network address, if the server listens on it)", func(text string) (err error) {
		s.public, err = web.ParsePublic(text)
		return err
	})
	flags.Func("trusted-proxy", "CIDR,...", "Networks of reverse proxies whose X-Forwarded-For, -Proto and -Host headers are trusted; may be given several times. (default none)", s.proxies.Add)
	s.fetch = flags.Switch("allow-url", "Fetch data from URLs that users enter: public hosts only, within the upload limits.")
	flags.Func("cors", "ORIGIN,...", "Origins of other pages, such as notebooks, that may call /api with a key; may be given several times. (default none)", s.origins.Add)
	flags.Func("host", "NAME,...", "Host names of the server in addition to --public-url; requests to other names are refused. (default any name if it listens on the network, none if only on this computer)", s.names.Add)
	flags.Text(&s.cert, "tls-cert", "FILE", "PEM file with the certificate and its chain, to serve TLS. A replaced file is reloaded. (default none)")
	flags.Text(&s.key, "tls-key", "FILE", "PEM file with the key of the certificate.")
	flags.Text(&s.metricsAddr, "metrics-addr", "HOST:PORT", "Separate address for /metrics, which is then served only there. (default the address of the pages)")
	flags.Heading("Workers on other machines")
	flags.Text(&s.listen, "nats-listen", "HOST:PORT", "Address where workers connect to compute cells of searches, with the token in the file nats-token of the data directory, over TLS with --tls-cert; port 0 chooses a free port. (default none)")
	s.access = flags.Access()
	s.leave = flags.Switch("leave-searches", "Leave searches to the workers; this machine only serves pages and trains single runs.")
	flags.Heading("Backups")
	flags.Func("backup-dir", "DIR", "Directory for automatic backups, ideally on another disk; created if missing. (default none)", func(text string) (err error) {
		s.backups.Dir, err = filepath.Abs(text)
		return err
	})
	flags.Func("backup-every", "DURATION", "Time between backups, such as 6h. (default 24h)", func(text string) (err error) {
		s.backups.Every, err = time.ParseDuration(text)
		if err != nil || s.backups.Every < time.Minute {
			err = fmt.Errorf("expects a duration of at least a minute, such as 6h, not %q", text)
		}
		return err
	})
	flags.Param(param.Param{Name: "backup_keep", Kind: param.Integer, Min: 1, Max: 10_000, Default: "14", Help: "Number of backups to keep; the oldest are deleted."}, func(text string) (err error) {
		s.backups.Keep, err = strconv.Atoi(text)
		return err
	})
	s.logger = flags.Log()
	flags.Heading("Limits")
	flags.Func("run-limit", "DURATION", "Time limit for training a run, such as 90s, 20m or 2h. 0: no limit. (default 1h)", func(text string) (err error) {
		s.runLimit, err = time.ParseDuration(text)
		if err != nil || s.runLimit < 0 {
			err = fmt.Errorf("expects a duration such as 20m, or 0, not %q", text)
		}
		return err
	})
	for _, l := range []struct {
		name, help         string
		least, most, start float64
		set                func(v int)
	}{
		{"max_upload", "Maximum file size, in MB.", 1, 1000, float64(s.limits.Bytes >> 20), func(v int) { s.limits.Bytes = int64(v) << 20 }},
		{"max_rows", "Maximum number of rows in a file.", 1, 1e7, float64(s.limits.Rows), func(v int) { s.limits.Rows = v }},
		{"max_columns", "Maximum number of columns in a file, including the label.", 1, 1e4, float64(s.limits.Columns), func(v int) { s.limits.Columns = v }},
		{"max_datasets", "Maximum number of data sets per workspace; 0: no limit.", 0, 1e9, float64(s.quota.Datasets), func(v int) { s.quota.Datasets = v }},
		{"max_runs", "Maximum number of runs per workspace; 0: no limit.", 0, 1e9, float64(s.quota.Runs), func(v int) { s.quota.Runs = v }},
		{"max_space", "Maximum disk space per workspace, in MB; 0: no limit.", 0, 1e9, float64(s.quota.Bytes >> 20), func(v int) { s.quota.Bytes = int64(v) << 20 }},
		{"max_disk", "Maximum disk space for all workspaces together, in MB; 0: no limit.", 0, 1e9, 0, func(v int) { s.maxDisk = int64(v) << 20 }},
		{"retention", "Number of days after which an unused workspace without an open course is deleted; 0: never.", 0, 36500, 0, func(v int) { s.days = v }},
		{"patience", "Maximum time that a page waits for a training, in seconds.", 1, 3600, s.patience.Seconds(), func(v int) { s.patience = time.Duration(v) * time.Second }},
	} {
		p := param.Param{Name: l.name, Kind: param.Integer, Min: l.least, Max: l.most, Default: strconv.FormatFloat(l.start, 'f', -1, 64), Help: l.help}
		flags.Param(p, func(text string) error {
			v, err := strconv.ParseFloat(text, 64)
			l.set(int(v))
			return err
		})
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	s.dir = *dir
	return s, s.check(flags)
}

// check refuses flags that contradict each other or lack one they need.
func (s *settings) check(flags *cmdline.Flags) error {
	if (s.cert == "") != (s.key == "") {
		return cmdline.UsageError("--tls-cert and --tls-key go together: a certificate and its key")
	}
	switch err := s.access.Check(); {
	case s.listen != "" && s.access.URL != "":
		return cmdline.UsageError("--nats-listen and --nats exclude each other: use a NATS server in this process or another one")
	case s.access.URL == "" && (s.access.Token != "" || s.access.Creds != "" || s.access.CA != ""):
		return cmdline.UsageError("--nats-token, --nats-creds and --nats-ca need --nats, the address of a NATS server")
	case s.access.URL != "" && err != nil:
		return cmdline.UsageError("--nats " + err.Error())
	case s.backups.Dir == "" && (flags.Given("backup-every") || flags.Given("backup-keep")):
		return cmdline.UsageError("--backup-every and --backup-keep need --backup-dir, the directory of the backups")
	case *s.leave && s.listen == "" && s.access.URL == "":
		return cmdline.UsageError("--leave-searches needs workers: give --nats-listen or --nats")
	}
	return nil
}

// serve runs the web application until ctx ends.
func serve(ctx context.Context, args []string, std cmdline.Streams) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	if s.backups.Dir != "" {
		if err := os.MkdirAll(s.backups.Dir, 0o700); err != nil {
			return fmt.Errorf("--backup-dir: %w", err)
		}
	}
	log := s.logger(std.Err)
	lock, err := store.TakeLock(s.dir, "serve")
	if err != nil {
		return err
	}
	defer lock.Release()
	st, err := s.open(ctx, lock, log)
	if err != nil {
		return err
	}
	defer st.Close()
	assets, err := web.NewAssets(static.Files)
	if err != nil {
		return err
	}
	// If a system or container limits the memory, collect garbage before reaching it.
	_, _ = memlimit.Set(memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem))) // without either, no limit
	metrics := web.NewMetrics()
	queue := jobs.New(st, jobs.Config{Workers: max(2, runtime.NumCPU()-1), Memory: jobs.MemoryWithin(debug.SetMemoryLimit(-1)), Leave: *s.leave, Limit: s.runLimit, Log: log, Trained: metrics.Training})
	measureSpace(ctx, metrics, st)
	measureWork(ctx, metrics, queue)

	server, err := web.Listen(s.addr, log)
	if err != nil {
		return fmt.Errorf("%w; choose another address with --addr", err)
	}
	server.Behind(s.proxies)
	var gauges *web.Server // nil: metrics are served with the pages
	if s.metricsAddr != "" {
		if gauges, err = web.Listen(s.metricsAddr, log); err != nil {
			return fmt.Errorf("%w; choose another address with --metrics-addr", err)
		}
	}
	var secure *tls.Config // nil: no TLS
	if s.cert != "" {
		if secure, err = web.TLS(s.cert, s.key, log); err != nil {
			return err
		}
		server.UseTLS(secure)
	}
	links := web.Links{Public: s.public, Addr: server.Addr(), Names: s.names, TLS: secure != nil}
	secret, err := st.Secret(ctx)
	if err != nil {
		return err
	}
	keys := web.NewKeys(secret, func(ctx context.Context, token string) bool { return st.Used(ctx, store.WorkspaceOf(token)) })
	var fetcher *web.Fetcher
	if *s.fetch {
		fetcher = web.NewFetcher(web.Public)
	}
	app := handlers.New(handlers.Config{Store: st, Keys: keys, Jobs: queue, Assets: assets, Limits: s.limits, Metrics: metrics, SeparateMetrics: gauges != nil, Log: log, Days: s.days, Patience: s.patience, Links: links, Proxies: s.proxies, Origins: s.origins, Build: web.Program(), Fetcher: fetcher})
	defer app.CloseBackground()
	where := links.Here()
	if s.public != "" {
		where = fmt.Sprintf("%s, for %s", server.Addr(), s.public)
	}
	if err := lock.At(where); err != nil {
		return err
	}

	working, done := context.WithCancel(ctx) // work requested until then is done after the next start
	defer done()
	workers := ""
	link, err := s.connect(secure, log)
	if err != nil {
		return err
	}
	if link != nil {
		defer link.Close()
		others, err := fleet.New(working, link, fleet.Config{Plan: st.PlanOf, Open: st.OpenCells, Found: queue.Found, Wake: queue.Notify, Log: log, Version: fleet.ThisVersion()})
		if err != nil {
			return err
		}
		defer others.Close()
		queue.Use(others)
		metrics.Gauge("marginlab_workers", "Workers on other machines.", func() float64 { n, _ := others.Size(); return float64(n) })
		workers = fmt.Sprintf("To add other machines, run: marginlab worker %s\n", link.Help)
	}
	fmt.Fprintf(std.Out, "Margin Lab listens on %s\nand keeps its data in %s\n%s", where, st.Path(), workers)

	var work sync.WaitGroup
	if s.backups.Dir != "" {
		measureBackups(metrics, s.backups)
		work.Go(func() { jobs.BackUp(working, st, s.backups, log) })
	}
	work.Go(func() { queue.Run(working) })
	work.Go(func() { jobs.Tend(working, st, log) })
	work.Go(func() { jobs.Daily(working, st, time.Duration(s.days)*24*time.Hour, log) })
	serving, ctx := errgroup.WithContext(ctx)
	serving.Go(func() error { return server.Serve(ctx, app.Handler()) })
	if gauges != nil {
		serving.Go(func() error { return gauges.Serve(ctx, metrics.Alone()) })
	}
	err = serving.Wait()
	done()
	work.Wait()
	return err
}

// open opens the database of the locked data directory, where temporary files are kept from now on,
// and cleans up after a server that was killed.
func (s *settings) open(ctx context.Context, lock *store.Lock, log *slog.Logger) (*store.Store, error) {
	damage, err := lock.InspectLog()
	if damage.Frames > 0 {
		log.Error("database opened", "damage", damage)
	}
	if err != nil {
		return nil, err
	}
	spool, err := lock.SweepSpool()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"TMPDIR", "TMP"} { // also those of net/http
		if err := os.Setenv(name, spool); err != nil {
			return nil, err
		}
	}
	st, err := store.Open(ctx, s.dir)
	if err != nil {
		return nil, err
	}
	if err := st.TakeBack(ctx, lock); err != nil {
		st.Close()
		return nil, err
	}
	st.Quota, st.MaxDisk = s.quota, s.maxDisk
	return st, nil
}

// connect returns the connection to workers, or nil if there are to be none.
func (s *settings) connect(secure *tls.Config, log *slog.Logger) (*fleet.Link, error) {
	switch {
	case s.listen != "":
		link, err := fleet.Listen(s.listen, s.dir, secure.Clone(), log)
		if err == nil && secure != nil {
			link.Help += " --nats-ca " + s.cert
		}
		return link, err
	case s.access.URL != "":
		return fleet.Connect(*s.access, "server", log)
	}
	return nil, nil
}

// measureSpace adds gauges of the disk space of the database.
func measureSpace(ctx context.Context, metrics *web.Metrics, st *store.Store) {
	for _, g := range []struct {
		name, help string
		of         func(store.Space) int64
	}{
		{"marginlab_database_bytes", "Size of the database file.", func(sp store.Space) int64 { return sp.Database }},
		{"marginlab_database_reusable_bytes", "Free space inside the database file.", func(sp store.Space) int64 { return sp.Reusable }},
		{"marginlab_wal_bytes", "Size of the write-ahead log.", func(sp store.Space) int64 { return sp.Log }},
		{"marginlab_disk_free_bytes", "Free bytes of the file system of the database.", func(sp store.Space) int64 { return sp.Free }},
		{"marginlab_disk_low_bytes", "Free bytes below which uploads, runs and searches are refused.", func(sp store.Space) int64 { return sp.Low }},
	} {
		metrics.Gauge(g.name, g.help, func() float64 {
			sp, err := st.Space(ctx)
			if err != nil {
				return math.NaN()
			}
			return float64(g.of(sp))
		})
	}
}

// measureWork adds gauges of what waits and what is in progress.
func measureWork(ctx context.Context, metrics *web.Metrics, queue *jobs.Queue) {
	for _, g := range []struct {
		name, help string
		of         func(waiting, running map[store.Weight]int) map[store.Weight]int
	}{
		{"marginlab_work_waiting", "Runs and cells of searches waiting for this server, by expected duration.", func(waiting, _ map[store.Weight]int) map[store.Weight]int { return waiting }},
		{"marginlab_work_running", "Runs and cells of searches in progress on this server, by elapsed or expected duration.", func(_, running map[store.Weight]int) map[store.Weight]int { return running }},
	} {
		metrics.Gauges(g.name, g.help, "lane", func() map[string]float64 {
			waiting, running, err := queue.Load(ctx)
			if err != nil {
				return nil
			}
			of := map[string]float64{}
			for _, w := range []store.Weight{store.Light, store.Medium, store.Heavy} {
				of[w.String()] = float64(g.of(waiting, running)[w])
			}
			return of
		})
	}
	metrics.Gauge("marginlab_live_waiting", "Pages, pictures and answers in progress.", func() float64 { return float64(queue.Live.Urgencies()) })
}

// measureBackups adds a gauge of the newest backup.
func measureBackups(metrics *web.Metrics, backups store.Backups) {
	metrics.Gauge("marginlab_backup_timestamp_seconds", "Time of the newest backup, in Unix time; 0: none.", func() float64 {
		newest, err := backups.Newest()
		if err != nil || newest.IsZero() {
			return 0
		}
		return float64(newest.Unix())
	})
}
