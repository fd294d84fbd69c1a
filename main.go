// Command marginlab is a laboratory for margin classifiers: a web application
// (serve, the default) and the same from the terminal (fit, cv, predict).
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
	addr := flags.String("addr", "HOST:PORT", "127.0.0.1:8080", "Address to listen on; port 0 takes a free one. (default 127.0.0.1:8080)")
	dir := flags.DataDir("Directory of the database, for this server alone; it is made when it is missing.")
	var public string
	flags.Func("public-url", "URL", "Where people find the server, for the links of courses and shared runs. (default the address in the network, where the server listens to it)", func(text string) (err error) {
		public, err = web.ParsePublic(text)
		return err
	})
	var proxies web.Proxies
	flags.Func("trusted-proxy", "CIDR,...", "Networks of proxies in front, whose X-Forwarded-For, -Proto and -Host are believed; may be given several times. (default none)", proxies.Add)
	var origins web.Origins
	fetches := flags.Switch("allow-url", "Fetch data from addresses that people name: public hosts only, within the limits of uploads.")
	flags.Func("cors", "ORIGIN,...", "Origins of pages elsewhere, such as notebooks, that may call /api with a key; may be given several times. (default none)", origins.Add)
	var names web.Hosts
	flags.Func("host", "NAME,...", "Names of the server besides that of --public-url; requests to others are refused. (default any name where it listens to the network, none where to this computer alone)", names.Add)
	cert := flags.String("tls-cert", "FILE", "", "Certificate in PEM, followed by those that vouch for it: the server speaks TLS. A file that is replaced is taken over. (default none)")
	key := flags.String("tls-key", "FILE", "", "Key of the certificate, in PEM.")
	metricsAddr := flags.String("metrics-addr", "HOST:PORT", "", "Address for /metrics alone, which is then nowhere else. (default that of the pages)")
	flags.Heading("Workers on other machines")
	listen := flags.String("nats-listen", "HOST:PORT", "", "Have workers compute cells of searches, who come to this address with the token in the data directory, nats-token, over TLS where there is --tls-cert; port 0 takes a free one. (default none)")
	access := flags.Access()
	leave := flags.Switch("leave-searches", "Leave all of searches to the workers; this machine answers pages and trains single runs.")
	flags.Heading("Backups")
	backups := store.Backups{Every: 24 * time.Hour, Keep: 14}
	flags.Func("backup-dir", "DIR", "Make backups in this directory, best on another disk; it is made when it is missing. (default none)", func(text string) (err error) {
		backups.Dir, err = filepath.Abs(text)
		return err
	})
	flags.Func("backup-every", "DURATION", "How often, such as 6h. (default 24h)", func(text string) (err error) {
		backups.Every, err = time.ParseDuration(text)
		if err != nil || backups.Every < time.Minute {
			err = fmt.Errorf("expects a time of a minute or more, such as 6h, not %q", text)
		}
		return err
	})
	flags.Param(param.Param{Name: "backup_keep", Kind: param.Integer, Min: 1, Max: 10_000, Default: "14", Help: "How many are kept; the oldest are deleted."}, func(text string) (err error) {
		backups.Keep, err = strconv.Atoi(text)
		return err
	})
	quota, days, mostDisk := store.DefaultQuota, 0, int64(0)
	patience := 8 * time.Second
	logger := flags.Log()
	flags.Heading("Limits")
	runLimit := time.Hour
	flags.Func("run-limit", "DURATION", "Longest that a run is trained, such as 90s, 20m or 2h; it fails then. 0: as long as it takes. (default 1h)", func(text string) (err error) {
		runLimit, err = time.ParseDuration(text)
		if err != nil || runLimit < 0 {
			err = fmt.Errorf("expects a time such as 20m, or 0, not %q", text)
		}
		return err
	})
	for _, l := range []struct {
		name, help         string
		least, most, start float64
		set                func(v int)
	}{
		{"max_upload", "Largest file, in MB.", 1, 1000, float64(limits.Bytes >> 20), func(v int) { limits.Bytes = int64(v) << 20 }},
		{"max_rows", "Most rows of a file.", 1, 1e7, float64(limits.Rows), func(v int) { limits.Rows = v }},
		{"max_columns", "Most columns of a file, the label included.", 1, 1e4, float64(limits.Columns), func(v int) { limits.Columns = v }},
		{"max_datasets", "Most data sets of a workspace; 0: any number.", 0, 1e9, float64(quota.Datasets), func(v int) { quota.Datasets = v }},
		{"max_runs", "Most runs of a workspace; 0: any number.", 0, 1e9, float64(quota.Runs), func(v int) { quota.Runs = v }},
		{"max_space", "Room on the disk for a workspace, in MB; 0: any.", 0, 1e9, float64(quota.Bytes >> 20), func(v int) { quota.Bytes = int64(v) << 20 }},
		{"max_disk", "Room on the disk for all workspaces together, in MB; 0: any.", 0, 1e9, 0, func(v int) { mostDisk = int64(v) << 20 }},
		{"retention", "After how many days a workspace that nobody has used is deleted, unless it has an open course; 0: never.", 0, 36500, 0, func(v int) { days = v }},
		{"patience", "Longest that a page waits for a training, in seconds.", 1, 3600, patience.Seconds(), func(v int) { patience = time.Duration(v) * time.Second }},
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
		return cmdline.UsageError("--nats-listen and --nats exclude each other: a NATS server in this process, or another one")
	case access.URL == "" && (access.Token != "" || access.Creds != "" || access.CA != ""):
		return cmdline.UsageError("--nats-token, --nats-creds and --nats-ca go with --nats, the address of a NATS server")
	case access.URL != "" && err != nil:
		return cmdline.UsageError("--nats " + err.Error())
	case backups.Dir == "" && (flags.Given("backup-every") || flags.Given("backup-keep")):
		return cmdline.UsageError("--backup-every and --backup-keep go with --backup-dir, the directory of the backups")
	case *leave && *listen == "" && access.URL == "":
		return cmdline.UsageError("--leave-searches leaves them to workers, who come with --nats-listen or --nats")
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
	for _, name := range []string{"TMPDIR", "TMP"} { // people's files stay in the data directory, also those that net/http makes
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
		{"marginlab_database_reusable_bytes", "Part of the database file that is free for new content.", func(sp store.Space) int64 { return sp.Reusable }},
		{"marginlab_wal_bytes", "Size of the write-ahead log.", func(sp store.Space) int64 { return sp.Log }},
		{"marginlab_disk_free_bytes", "Free bytes of the file system of the database.", func(sp store.Space) int64 { return sp.Free }},
		{"marginlab_disk_low_bytes", "Uploads, runs and searches are refused below so many free bytes.", func(sp store.Space) int64 { return sp.Low }},
	} {
		metrics.Gauge(g.name, g.help, func() float64 {
			sp, err := st.Space(ctx)
			if err != nil {
				return math.NaN()
			}
			return float64(g.of(sp))
		})
	}
	// Where the system or a service bounds the memory, garbage is collected before that, and work holds what fits.
	_, _ = memlimit.Set(memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem))) // without either, no limit
	queue := jobs.New(st, jobs.Config{Workers: max(2, runtime.NumCPU()-1), Memory: jobs.MemoryWithin(debug.SetMemoryLimit(-1)), Leave: *leave, Limit: runLimit, Log: log, Trained: metrics.Training})
	for _, g := range []struct {
		name, help string
		of         func(waiting, running map[store.Weight]int) map[store.Weight]int
	}{
		{"marginlab_work_waiting", "Runs and cells of searches that wait for this server, by how long they are expected to take.", func(waiting, _ map[store.Weight]int) map[store.Weight]int { return waiting }},
		{"marginlab_work_running", "Runs and cells of searches that this server works on, by how long they have taken or are expected to.", func(_, running map[store.Weight]int) map[store.Weight]int { return running }},
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
	metrics.Gauge("marginlab_live_waiting", "Pages, pictures and answers that are waited for at the moment.", func() float64 { return float64(queue.Live.Urgencies()) })
	server, err := web.Listen(*addr, log)
	if err != nil {
		return err
	}
	server.Behind(proxies)
	var gauges *web.Server // nil: the pages' own
	if *metricsAddr != "" {
		if gauges, err = web.Listen(*metricsAddr, log); err != nil {
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
	app := handlers.New(handlers.Config{Store: st, Keys: keys, Jobs: queue, Assets: assets, Limits: limits, Metrics: metrics, Apart: *metricsAddr != "", Log: log, Days: days, Patience: patience, Links: links, Proxies: proxies, Origins: origins, Build: web.Program(), Fetcher: fetcher})
	defer app.CloseBackground()
	where := links.Here()
	if public != "" {
		where = fmt.Sprintf("%s, for %s", server.Addr(), public)
	}
	if err := lock.At(where); err != nil {
		return err
	}
	working, done := context.WithCancel(ctx) // what requests still ask for is trained after the next start
	defer done()
	var link *fleet.Link // to workers; nil: they are not wanted
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
		workers = fmt.Sprintf("Other machines help with: marginlab worker %s\n", link.Help)
	}
	fmt.Fprintf(std.Out, "Margin Lab listens on %s\nand keeps its data in %s\n%s", where, st.Path(), workers)

	var work sync.WaitGroup
	if backups.Dir != "" {
		if err := os.MkdirAll(backups.Dir, 0o700); err != nil {
			return err
		}
		metrics.Gauge("marginlab_backup_timestamp_seconds", "When the newest backup was made, in Unix time; 0: there is none.", func() float64 {
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
