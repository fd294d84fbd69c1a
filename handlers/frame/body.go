package frame

import (
	"context"
	"errors"
	"io"
	"net/http"

	"marginlab/handlers/limiter"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/web"
)

// Fetched downloads the file at an address and returns it with its name and size.
func (a *Base) Fetched(ctx context.Context, address string) (file web.Temp, name string, size int64, err error) {
	if a.Fetcher == nil {
		return file, "", 0, web.Errorf(web.Forbidden, "This server does not fetch files from addresses, because it runs without --allow-url. Download the file and upload it.")
	}
	if file, err = web.TempFile(); err != nil {
		return file, "", 0, err
	}
	name, err = a.Fetcher.Fetch(ctx, address, file, a.Limits.Bytes)
	if err == nil {
		size, err = file.Seek(0, io.SeekEnd)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = file.Close()
	}
	return file, name, size, err
}

// Body returns the file in a request's body, once there is memory to read it.
func (a *Base) Body(w http.ResponseWriter, r *http.Request) (body io.Reader, leave func(), err error) {
	file, size, err := web.Spool(w, r, a.Limits.Bytes)
	if err != nil {
		return nil, nil, err
	}
	return a.admitted(w, r, file, size)
}

// FetchedBody is Body for a request with the URL of a file instead of the file; it also returns
// the file's name.
func (a *Base) FetchedBody(w http.ResponseWriter, r *http.Request, address string) (body io.Reader, name string, leave func(), err error) {
	if r.ContentLength != 0 {
		return nil, "", nil, param.Problems{{Field: "url", Message: "url and a body exclude each other: send either an address or a file"}}
	}
	file, name, size, err := a.Fetched(r.Context(), address)
	if err != nil {
		return nil, "", nil, err
	}
	body, leave, err = a.admitted(w, r, file, size)
	return body, name, leave, err
}

// admitted returns a file once there is memory to read it. leave closes it; on an error it is
// already closed.
func (a *Base) admitted(w http.ResponseWriter, r *http.Request, file web.Temp, size int64) (body io.Reader, leave func(), err error) {
	packed, err := limiter.IsPacked(file)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	admitted, err := a.AdmitFile(r.Context(), w, size, packed)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, func() { admitted(); _ = file.Close() }, nil
}

// FileError converts the error of a file in a request's body for the user.
func FileError(err error) error {
	var wrong *dataset.Error
	switch {
	case errors.Is(err, dataset.ErrTooLarge):
		return web.Errorf(web.TooLarge, "%v", err)
	case errors.As(err, new(*http.MaxBytesError)):
		return err
	case errors.As(err, &wrong) && wrong.Err != nil:
		return web.Errorf(web.Malformed, "The file did not arrive completely. Nothing was saved. (%w)", wrong.Err)
	case errors.As(err, &wrong):
		return param.Problems{{Field: "file", Message: err.Error()}}
	}
	return err
}

// SendWorkspace sends the contents of the request's workspace as an archive, from a temporary
// file because the client may be slow.
func (a *Base) SendWorkspace(w http.ResponseWriter, r *http.Request) error {
	file, err := web.TempFile()
	if err != nil {
		return err
	}
	defer file.Close()
	if err := a.Store.Export(r.Context(), Workspace(r.Context()), file); err != nil {
		return err
	}
	size, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	Attach(w, "margin-lab-"+a.Store.Now().UTC().Format("2006-01-02")+".zip", "application/zip")
	return web.SendFile(w, file, size)
}

// TakeIn imports an archive into the request's workspace, once there is memory for it.
func (a *Base) TakeIn(ctx context.Context, w http.ResponseWriter, archive io.ReaderAt, size int64) (store.Imported, error) {
	memory, err := store.ArchiveMemory(archive, size)
	if err != nil {
		return store.Imported{}, err
	}
	leave, err := a.Admit(ctx, w, memory)
	if err != nil {
		return store.Imported{}, err
	}
	defer leave()
	return a.Store.Import(ctx, Workspace(ctx), archive, size)
}

// RequestOf returns the request identified by the Idempotency-Key header: repeating a request
// under the same key creates nothing new, and a different request under it is refused.
func RequestOf(r *http.Request) store.Request {
	return store.Request{Key: r.Header.Get("Idempotency-Key"), Strict: true}
}
