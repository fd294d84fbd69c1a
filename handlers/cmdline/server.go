package cmdline

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sethvargo/go-retry"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/study"
)

// tokenVariable names the environment variable that holds the key of a
// workspace, to keep it off the command line, which others can read.
const tokenVariable = "MARGINLAB_TOKEN"

// pollEvery is the interval at which a job on a server is polled.
const pollEvery = 200 * time.Millisecond

// A request is repeated after a temporary fault up to maxRetries times, in six seconds unless the
// server asks to wait, for at most longestWait.
const (
	maxRetries  = 5
	longestWait = time.Minute
)

// temporaryStatuses are the statuses after which a request is repeated.
var temporaryStatuses = []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// server is a client of a running Margin Lab.
type server struct {
	base  *url.URL
	token string
	note  func(text string) // reports temporary faults
}

// newServer validates the address and key; it returns nil for an empty address.
func newServer(address, token string) (*server, error) {
	if address == "" {
		return nil, nil
	}
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, usage("--server expects an address such as http://127.0.0.1:8080, not %q", address)
	}
	if token = cmp.Or(token, os.Getenv(tokenVariable)); token == "" {
		return nil, usage("--server needs a workspace key from the server's settings page: set %s or give --token", tokenVariable)
	}
	return &server{base: base, token: token}, nil
}

// train trains and stores a run on the server and returns its report and model. If ctx ends, the
// run on the server is cancelled.
func (s *server) train(ctx context.Context, file, name string, d *dataset.Data, spec ml.Spec) (*ml.Result, error) {
	set, err := s.dataset(ctx, file, d)
	if err != nil {
		return nil, err
	}
	run, now, err := s.ask(ctx, "/api/runs", map[string]any{"dataset": set.ID, "spec": spec, "name": name}, errCancelledThere, func(job) {})
	if err != nil {
		return nil, err
	}
	res := &ml.Result{Report: *now.Report, Model: new(ml.Model)}
	return res, s.do(ctx, http.MethodGet, run+"/model.json", nil, res.Model)
}

// described describes a data set on a server.
type described struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Hash string `json:"hash"`
}

// dataset returns a data set with these points, uploading them unless the workspace already has
// them under any name.
func (s *server) dataset(ctx context.Context, file string, d *dataset.Data) (set described, err error) {
	var there struct {
		Datasets []described `json:"datasets"`
	}
	if err := s.do(ctx, http.MethodGet, "/api/datasets", nil, &there); err != nil {
		return set, err
	}
	hash := d.Hash()
	if set, ok := lists.Find(there.Datasets, func(set described) bool { return set.Hash == hash }); ok {
		return set, nil
	}
	var points bytes.Buffer
	if err := d.Encode(&points); err != nil {
		return set, err
	}
	if file == "-" {
		file = "points"
	}
	query := url.Values{"name": {strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + ".csv"}, "label": {d.Label}}
	if d.Given != nil {
		query.Set("missing", string(dataset.MissingMedian))
	}
	err = s.do(ctx, http.MethodPost, "/api/datasets?"+query.Encode(), points.Bytes(), &set)
	return set, err
}

// study computes and stores a study on the server and returns the result. Data files are uploaded.
// progress receives the number of cells. If ctx ends, the study on the server is cancelled.
func (s *server) study(ctx context.Context, asked *study.Study, samples []study.Sample, progress func(done, known, total int)) (*study.Result, error) {
	there := *asked
	there.Sets = slices.Clone(asked.Sets)
	for i := range there.Sets {
		set := &there.Sets[i]
		if set.SHA256 = samples[i].SHA256; set.File == "" {
			continue
		}
		data, err := s.dataset(ctx, set.Name, samples[i].Whole)
		if err != nil {
			return nil, err
		}
		set.File, set.Label, set.Features, set.Missing = data.Name, "", nil, ""
	}
	text, err := there.Encode()
	if err != nil {
		return nil, err
	}
	_, now, err := s.ask(ctx, "/api/studies", map[string]string{"study": text}, errors.New("the study was cancelled on the server"), func(j job) { progress(j.Done, j.Known, j.Total) })
	return now.Result, err
}

var errCancelledThere = errors.New("the run was cancelled on the server, nothing was saved")

// job is the state of a run or study on the server.
type job struct {
	Status string        `json:"status"`
	Error  string        `json:"error"`
	Done   int           `json:"done"` // cells of a study
	Known  int           `json:"known"`
	Total  int           `json:"total"`
	Report *ml.Report    `json:"report"` // of a run, once done
	Result *study.Result `json:"result"` // of a study, once done
}

// ask posts a job and polls its URL, which it returns with the job once done. If the job is
// cancelled on the server, the error is cancelled. If ctx ends, the job on the server is cancelled.
func (s *server) ask(ctx context.Context, path string, wanted any, cancelled error, progress func(job)) (at string, now job, err error) {
	body, err := json.Marshal(wanted)
	if err != nil {
		return "", now, err
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := s.do(ctx, http.MethodPost, path, body, &made); err != nil {
		return "", now, err
	}
	path += "/" + made.ID
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		now = job{}
		err := s.do(ctx, http.MethodGet, path, nil, &now)
		switch {
		case ctx.Err() != nil:
			leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			return "", now, errors.Join(ctx.Err(), s.do(leave, http.MethodPost, path+"/cancel", nil, nil))
		case err != nil || now.Status == "done":
			return path, now, err
		case now.Status == "failed":
			return "", now, errors.New(now.Error)
		case now.Status == "cancelled":
			return "", now, cancelled
		}
		progress(now)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// do sends a request and reads the JSON response into v, which may be nil. Errors carry the
// server's message. Requests that are harmless to repeat (all but cancellations) are repeated after
// a temporary fault, with a note.
func (s *server) do(ctx context.Context, method, path string, body []byte, v any) error {
	key, after := rand.Text(), time.Duration(0)
	waits := retry.WithMaxRetries(maxRetries, retry.NewExponential(pollEvery))
	var fault error // of the last attempt
	var once sync.Once
	wait := retry.BackoffFunc(func() (time.Duration, bool) {
		next, stop := waits.Next()
		if stop = stop || after > longestWait; !stop {
			once.Do(func() { s.note(fmt.Sprintf("%v; trying again, at most %d times", fault, maxRetries)) })
		}
		return max(next, after), stop
	})
	return retry.Do(ctx, wait, func(ctx context.Context) error {
		var temporary bool
		if temporary, after, fault = s.send(ctx, method, path, key, body, v); temporary && (method == http.MethodGet || body != nil) {
			return retry.RetryableError(fault)
		}
		return fault
	})
}

// send is do for one attempt. key is the same in all of them. It reports whether the fault is
// temporary, and how long the server asks to wait.
func (s *server) send(ctx context.Context, method, path, key string, body []byte, v any) (temporary bool, after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(s.base.String(), "/")+path, bytes.NewReader(body))
	if err != nil {
		return false, 0, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return true, 0, fmt.Errorf("server %s: %w", s.base.Host, err)
	}
	defer res.Body.Close()
	if res.StatusCode >= 400 {
		var p struct {
			Detail string `json:"detail"`
		}
		if json.NewDecoder(res.Body).Decode(&p) != nil || p.Detail == "" {
			p.Detail = res.Status
		}
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return slices.Contains(temporaryStatuses, res.StatusCode), time.Duration(seconds) * time.Second, fmt.Errorf("server %s: %s", s.base.Host, p.Detail)
	}
	if v == nil {
		return false, 0, nil
	}
	if err := json.NewDecoder(res.Body).Decode(v); err != nil {
		return false, 0, fmt.Errorf("server %s: unexpected answer: %w", s.base.Host, err)
	}
	return false, 0, nil
}
