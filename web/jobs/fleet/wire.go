// Package fleet computes cells of searches on other machines, over NATS. The server's queue
// claims cells from its store as usual, and a Fleet publishes them to a JetStream stream, no
// more than the joined machines can take soon. A Worker on each machine takes cells from the
// stream, asks the server to store the plan and data of a search in a JetStream object store
// unless they are there, fetches what it lacks, and sends the result of a cell to the server
// before it acknowledges the cell.
//
// Stream and objects are only transport: the server's store holds the pending work and the
// results. A cell lost with the stream or a worker is published again, and a cell computed twice
// counts once.
package fleet

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"marginlab/ml/eval"
	"marginlab/ml/simd"
	"marginlab/web"
)

// Subjects of messages. The server answers requests; workers subscribe to the rest.
const (
	subject       = "marginlab."
	cellSubject   = subject + "cells."  // followed by the name of a cell: a store.Cell, in the stream
	helloSubject  = subject + "hello"   // a greeting, answered with a welcome
	layOutSubject = subject + "lay-out" // a search, answered once its plan and data are available
	doneSubject   = subject + "done"    // an outcome, answered with a welcome once it is safe
	cancelSubject = subject + "cancel"  // names of cells no longer needed
)

// The stream and its one consumer, shared by all workers, and the object store with its underlying
// stream.
const (
	streamName    = "MARGINLAB_CELLS"
	consumerName  = "workers"
	bucketName    = "marginlab"
	objectsStream = "OBJ_" + bucketName
)

// Timing. A worker's greeting at every beat shows the server that it is alive.
const (
	beat            = time.Second
	silentAfter     = 5 * time.Second  // a worker silent for longer is considered dead
	ackWait         = 30 * time.Second // JetStream redelivers a cell after this time without progress
	requestTimeout  = 3 * time.Second  // time limit of a request before it is repeated
	startTimeout    = 10 * time.Second // time limit for starting JetStream
	transferTimeout = 5 * time.Minute  // time limit for sending plan and data
	objectLife      = time.Hour        // lifetime of an object; it is stored again if needed later
)

// greeting is sent by a worker at every beat.
type greeting struct {
	Worker  string   `json:"worker"` // unique per process
	Version Version  `json:"version"`
	Slots   int      `json:"slots"` // cells computed at a time
	Cells   []string `json:"cells"` // names of the cells it computes
	Leaving bool     `json:"leaving,omitempty"`
}

// welcome is the server's answer.
type welcome struct {
	Refused string   `json:"refused,omitempty"` // reason why the worker is refused
	Again   string   `json:"again,omitempty"`   // reason to retry in a moment
	Drop    []string `json:"drop,omitempty"`    // cells no longer needed
}

// search requests the plan and data of a search.
type search struct {
	Search string `json:"search"`
}

// laidOut answers a search.
type laidOut struct {
	Gone string `json:"gone,omitempty"` // reason why plan and data are unavailable
}

// planObject returns the name of the object with a plan (gzipped JSON); dataObject returns that of
// a data set (gzipped text).
func planObject(search string) string { return "plan-" + search }
func dataObject(hash string) string   { return "data-" + hash }

// outcome holds the result of a cell, or the reason why it could not be computed: text for the
// owner of the search, or for the log.
type outcome struct {
	Result  eval.CellResult `json:"result"`
	Refused string          `json:"refused,omitempty"`
	Fault   string          `json:"fault,omitempty"`

	lost error // why it was not completed
}

// Version identifies programs whose results agree in every bit.
type Version struct {
	Format int    `json:"format"` // of the messages
	Build  string `json:"build"`  // commit, or a hash of the executable if not recorded
	Go     string `json:"go"`
	Arch   string `json:"arch"`
	Loops  string `json:"loops"` // see package simd
}

// format is incremented when messages change.
const format = 1

// ThisVersion returns the version of the running program.
func ThisVersion() Version {
	v := Version{Format: format, Go: runtime.Version(), Arch: runtime.GOARCH, Loops: simd.Current().String()}
	setting := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			setting[s.Key] = s.Value
		}
	}
	v.Build = "commit " + setting["vcs.revision"]
	if setting["vcs.revision"] == "" || setting["vcs.modified"] == "true" {
		v.Build = "program " + web.Program()()
	}
	return v
}

// String formats the version.
func (v Version) String() string {
	return fmt.Sprintf("%s, format %d, %s %s, loops %s", v.Build, v.Format, v.Go, v.Arch, v.Loops)
}

// refuse returns the reason to refuse a worker of another version, empty for the same version.
func (v Version) refuse(worker Version) string {
	if worker == v {
		return ""
	}
	program, loops := v, worker
	program.Loops, loops.Loops = "", ""
	remedy := "start it from the same program as the server"
	if program == loops {
		remedy = fmt.Sprintf("set %s to %s for both, or to what both machines have", simd.Variable, strings.Join([]string{v.Loops, worker.Loops}, " or "))
	}
	return fmt.Sprintf("the worker is not the same version as the server, so results could differ: worker %s, server %s; %s", worker, v, remedy)
}

// zip returns the compressed output of write.
func zip(write func(w io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := write(z); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unpack decodes gzipped JSON into v.
func unpack(packed []byte, v any) error {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	return json.NewDecoder(z).Decode(v)
}
