package door

import (
	"context"
	"io"
	"net/http"

	"marginlab/store"
	"marginlab/web"
)

// SendWorkspace answers with all that the workspace of a request holds, as an archive,
// which comes from a file because it may be read slowly.
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

// TakeIn adds an archive to the workspace of a request, once there is memory for it.
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
