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
	f := NewFlags("worker --nats URL [flags]", "Computes cells of searches for a server started with --nats-listen or --nats, until interrupted; running cells then have 10 s to finish before other workers get them. It stores nothing on disk, waits for a server that is not yet running, reconnects after a lost connection, and must have the same version as the server.")
	access := f.Access()
	cores := 0
	n := param.Param{Name: "workers", Kind: param.Integer, Min: 1, Max: 1024, Default: strconv.Itoa(runtime.NumCPU()), Help: "Number of cells to compute at the same time."}
	f.Value(n, func(v param.Value) { cores = v.Int() })
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
		if ctx.Err() != nil { // interrupted while waiting
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

// Access adds the flags of an external NATS server.
func (f *Flags) Access() *fleet.Access {
	a := new(fleet.Access)
	f.Text(&a.URL, "nats", "URL", "Address of the NATS server: nats://HOST:4222 or tls://HOST:4222; for a cluster, several separated by commas.")
	f.Text(&a.Token, "nats-token", "FILE", "File with the token for the NATS server; serve --nats-listen writes it to nats-token in its data directory.")
	f.Text(&a.Creds, "nats-creds", "FILE", "File with the credentials for the NATS server.")
	f.Text(&a.CA, "nats-ca", "FILE", "PEM file with CA certificates for the NATS server, if the system does not trust it; the server's own certificate also works.")
	return a
}
