package cmdline

import (
	"context"
	"runtime"
	"strconv"

	"marginlab/ml/param"
	"marginlab/web/jobs/fleet"
)

var worker = Command{"worker", "compute cells of searches for a server on another machine", runWorker}

func runWorker(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("worker --nats URL [flags]", "Computes cells of searches for a server that was started with --nats-listen or --nats, until it is interrupted; cells under way then have 10 s to end, before others get them. It keeps nothing on the disk, waits for a server that is not there yet, joins again whenever the connection was lost, and must be of the server's own version.")
	access := f.Access()
	cores := runtime.NumCPU()
	n := param.Param{Name: "workers", Kind: param.Integer, Min: 1, Max: 1024, Default: strconv.Itoa(cores), Help: "Cells computed at a time."}
	f.Param(n, func(text string) (err error) {
		cores, err = strconv.Atoi(text)
		return err
	})
	logger := f.Log()
	if err := f.Parse(args); err != nil {
		return err
	}
	if access.URL == "" {
		return usage("--nats is missing: the address of the NATS server")
	}
	if err := access.Check(); err != nil {
		return usage("--nats %s", err)
	}
	log := logger(std.Err)
	nc, err := fleet.Join(ctx, *access, log)
	if err != nil {
		if ctx.Err() != nil { // it was interrupted while it waited
			return nil
		}
		return err
	}
	defer nc.Close()
	w, err := fleet.NewWorker(nc, cores, fleet.ThisVersion(), log)
	if err != nil {
		return err
	}
	return w.Run(ctx)
}

// Access adds the flags of a NATS server somewhere else.
func (f *Flags) Access() *fleet.Access {
	a := new(fleet.Access)
	f.Func("nats", "URL", "Address of the NATS server: nats://HOST:4222, or tls://HOST:4222; several of a cluster with commas between.", func(text string) error {
		a.URL = text
		return nil
	})
	f.Func("nats-token", "FILE", "File with the token that the NATS server asks for; that of serve --nats-listen is in its data directory, nats-token.", func(text string) error {
		a.Token = text
		return nil
	})
	f.Func("nats-creds", "FILE", "File with the credentials that it asks for.", func(text string) error {
		a.Creds = text
		return nil
	})
	f.Func("nats-ca", "FILE", "Certificates in PEM that vouch for that of the NATS server, where the system knows none; the server's own will do.", func(text string) error {
		a.CA = text
		return nil
	})
	return a
}
