// Command marginlab is a laboratory for margin classifiers: a web application (serve, the default)
// and terminal commands (fit, cv, predict and others).
package main

import (
	"context"
	"crypto/tls"
	"fmt"
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

// serve runs the web application until ctx ends.
func serve(ctx context.Context, args []string, std cmdline.Streams) error {
	limits := dataset.DefaultLimits
	flags := cmdline.NewFlags("serve [flags]", "Runs the web application until it is interrupted.")
	addr := flags.String("addr", "HOST:PORT", "127.0.0.1:8080", "Address to listen on; port 0 chooses a free port. (default 127.0.0.1:8080)")
	dir := flags.DataDir("Directory of the database, for this server only; created if missing.")
	var public string
	flags.Func("public-url", "URL", "Public URL of the server, for links to courses and shared runs. (default the network address, if the server listens on it)", func(text string) (err error) {
		public, err = web.ParsePublic(text)
		return err
	})
	var proxies web.Proxies
	flags.Func("trusted-proxy", "CIDR,...", "Networks of reverse proxies whose X-Forwarded-For, -Proto and -Host headers are trusted; may be given several times. (default none)", proxies.Add)
	var origins web.Origins
	fetches := flags.Switch("allow-url", "Fetch data from URLs that users enter: public hosts only, within the upload limits.")
	flags.Func("cors", "ORIGIN,...", "Origins of other pages, such as notebooks, that may call /api with a key; may be given several times. (default none)", origins.Add)
	var names web.Hosts
	flags.Func("host", "NAME,...", "Host names of the server in addition to --public-url; requests to other names are refused. (default any name if it listens on the network, none if only on this computer)", names.Add)
	cert := flags.String("tls-cert", "FILE", "", "PEM file with the certificate and its chain, to serve TLS. A replaced file is reloaded. (default none)")
	key := flags.String("tls-key", "FILE", "", "PEM file with the key of the certificate.")
	metricsAddr := flags.String("metrics-addr", "HOST:PORT", "", "Separate address for /metrics, which is then served only there. (default the address of the pages)")
	flags.Heading("Workers on other machines")
	listen := flags.String("nats-listen", "HOST:PORT", "", "Address where workers connect to compute cells of searches, with the token in the file nats-token of the data directory, over TLS with --tls-cert; port 0 chooses a free port. (default none)")
	access := flags.Access()
	leave := flags.Switch("leave-searches", "Leave searches to the workers; this machine only serves pages and trains single runs.")
	flags.Heading("Backups")
	backups := store.Backups{Every: 24 * time.Hour, Keep: 14}
	flags.Func("backup-dir", "DIR", "Directory for automatic backups, ideally on another disk; created if missing. (default none)", func(text string) (err error) {
		backups.Dir, err = filepath.Abs(text)
		return err
	})
	flags.Func("backup-every", "DURATION", "Time between backups, such as 6h. (default 24h)", func(text string) (err error) {
		backups.Every, err = time.ParseDuration(text)
		if err != nil || backups.Every < time.Minute {
			err = fmt.Errorf("expects a duration of at least a minute, such as 6h, not %q", text)
		}
		return err
	})
	flags.Param(param.Param{Name: "backup_keep", Kind: param.Integer, Min: 1, Max: 10_000, Default: "14", Help: "Number of backups to keep; the oldest are deleted."}, func(text string) (err error) {
		backups.Keep, err = strconv.Atoi(text)
		return err
	})
	quota, days, mostDisk := store.DefaultQuota, 0, int64(0)
	patience := 8 * time.Second
	logger := flags.Log()
	flags.Heading("Limits")
	runLimit := time.Hour
	flags.Func("run-limit", "DURATION", "Time limit for training a run, such as 90s, 20m or 2h. 0: no limit. (default 1h)", func(text string) (err error) {
		runLimit, err = time.ParseDuration(text)
		if err != nil || runLimit < 0 {
			err = fmt.Errorf("expects a duration such as 20m, or 0, not %q", text)
		}
		return err
	})
	for _, l := range []struct {
		name, help         string
		least, most, start float64
		set                func(v int)
	}{
		{"max_upload", "Maximum file size, in MB.", 1, 1000, float64(limits.Bytes >> 20), func(v int) { limits.Bytes = int64(v) << 20 }},
		{"max_rows", "Maximum number of rows in a file.", 1, 1e7, float64(limits.Rows), func(v int) { limits.Rows = v }},
		{"max_columns", "Maximum number of columns in a file, including the label.", 1, 1e4, float64(limits.Columns), func(v int) { limits.Columns = v }},
		{"max_datasets", "Maximum number of data sets per workspace; 0: no limit.", 0, 1e9, float64(quota.Datasets), func(v int) { quota.Datasets = v }},
		{"max_runs", "Maximum number of runs per workspace; 0: no limit.", 0, 1e9, float64(quota.Runs), func(v int) { quota.Runs = v }},
		{"max_space", "Maximum disk space per workspace, in MB; 0: no limit.", 0, 1e9, float64(quota.Bytes >> 20), func(v int) { quota.Bytes = int64(v) << 20 }},
		{"max_disk", "Maximum disk space for all workspaces together, in MB; 0: no limit.", 0, 1e9, 0, func(v int) { mostDisk = int64(v) << 20 }},
		{"retention", "Number of days after which an unused workspace without an open course is deleted; 0: never.", 0, 36500, 0, func(v int) { days = v }},
		{"patience", "Maximum time that a page waits for a training, in seconds.", 1, 3600, patience.Seconds(), func(v int) { patience = time.Duration(v) * time.Second }},
	} {
		p := param.Param{Name: l.name, Kind: param.Integer, Min: l.least, Max: l.most, Default: strconv.FormatFloat(l.start, 'f', -1, 64), Help: l.help}
		flags.Param(p, func(text string) error {
			v, err := strconv.ParseFloat(text, 64)
			l.set(int(v))
			return err
		})
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	var fetcher *web.Fetcher
	if *fetches {
		fetcher = web.NewFetcher(web.Public)
	}

	if (*cert == "") != (*key == "") {
		return cmdline.UsageError("--tls-cert and --tls-key go together: a certificate and its key")
	}
	switch err := access.Check(); {
	case *listen != "" && access.URL != "":
		return cmdline.UsageError("--nats-listen and --nats exclude each other: use a NATS server in this process or another one")
	case access.URL == "" && (access.Token != "" || access.Creds != "" || access.CA != ""):
		return cmdline.UsageError("--nats-token, --nats-creds and --nats-ca need --nats, the address of a NATS server")
	case access.URL != "" && err != nil:
		return cmdline.UsageError("--nats " + err.Error())
	case backups.Dir == "" && (flags.Given("backup-every") || flags.Given("backup-keep")):
		return cmdline.UsageError("--backup-every and --backup-keep need --backup-dir, the directory of the backups")
	case *leave && *listen == "" && access.URL == "":
		return cmdline.UsageError("--leave-searches needs workers: give --nats-listen or --nats")
	}

	if backups.Dir != "" {
		if err := os.MkdirAll(backups.Dir, 0o700); err != nil {
			return fmt.Errorf("--backup-dir: %w", err)
		}
	}
	log := logger(std.Err)
	lock, err := store.TakeLock(*dir, "serve")
	if err != nil {
		return err
	}
	defer lock.Release()
	damage, err := lock.InspectLog()
	if damage.Frames > 0 {
		log.Error("database opened", "damage", damage)
	}
	if err != nil {
		return err
	}
	spool, err := lock.SweepSpool()
	if err != nil {
		return err
	}
	for _, name := range []string{"TMPDIR", "TMP"} { // keep temporary files, including those of net/http, in the data directory
		if err := os.Setenv(name, spool); err != nil {
			return err
		}
	}
	st, err := store.Open(ctx, *dir)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := st.TakeBack(ctx, lock); err != nil {
		return err
	}
	st.Quota, st.MaxDisk = quota, mostDisk
	assets, err := web.NewAssets(static.Files)
	if err != nil {
		return err
	}
	metrics := web.NewMetrics()
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
	// If a system or container limits the memory, collect garbage before reaching it.
	_, _ = memlimit.Set(memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem))) // without either, no limit
	queue := jobs.New(st, jobs.Config{Workers: max(2, runtime.NumCPU()-1), Memory: jobs.MemoryWithin(debug.SetMemoryLimit(-1)), Leave: *leave, Limit: runLimit, Log: log, Trained: metrics.Training})
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
	server, err := web.Listen("--addr", *addr, log)
	if err != nil {
		return err
	}
	server.Behind(proxies)
	var gauges *web.Server // nil: metrics are served with the pages
	if *metricsAddr != "" {
		if gauges, err = web.Listen("--metrics-addr", *metricsAddr, log); err != nil {
			return err
		}
	}
	var secure *tls.Config // nil: no TLS
	if *cert != "" {
		if secure, err = web.TLS(*cert, *key, log); err != nil {
			return err
		}
		server.UseTLS(secure)
	}
	links := web.Links{Public: public, Addr: server.Addr(), Names: names, TLS: *cert != ""}
	secret, err := st.Secret(ctx)
	if err != nil {
		return err
	}
	keys := web.NewKeys(secret, func(ctx context.Context, token string) bool { return st.Used(ctx, store.WorkspaceOf(token)) })
	app := handlers.New(handlers.Config{Store: st, Keys: keys, Jobs: queue, Assets: assets, Limits: limits, Metrics: metrics, SeparateMetrics: *metricsAddr != "", Log: log, Days: days, Patience: patience, Links: links, Proxies: proxies, Origins: origins, Build: web.Program(), Fetcher: fetcher})
	defer app.CloseBackground()
	where := links.Here()
	if public != "" {
		where = fmt.Sprintf("%s, for %s", server.Addr(), public)
	}
	if err := lock.At(where); err != nil {
		return err
	}
	working, done := context.WithCancel(ctx) // work requested until then is done after the next start
	defer done()
	var link *fleet.Link // connection to workers; nil: none
	switch {
	case *listen != "":
		if link, err = fleet.Listen(*listen, *dir, secure.Clone(), log); err == nil && *cert != "" {
			link.Help += " --nats-ca " + *cert
		}
	case access.URL != "":
		link, err = fleet.Connect(*access, "server", log)
	}
	if err != nil {
		return err
	}
	workers := ""
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
	if backups.Dir != "" {
		metrics.Gauge("marginlab_backup_timestamp_seconds", "Time of the newest backup, in Unix time; 0: none.", func() float64 {
			newest, err := backups.Newest()
			if err != nil || newest.IsZero() {
				return 0
			}
			return float64(newest.Unix())
		})
		work.Go(func() { jobs.BackUp(working, st, backups, log) })
	}
	work.Go(func() { queue.Run(working) })
	work.Go(func() { jobs.Tend(working, st, log) })
	work.Go(func() { jobs.Daily(working, st, time.Duration(days)*24*time.Hour, log) })
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
