package store

import (
	"context"
	"io"
	"time"
)

// uploadLife is how long an uploaded file is kept until its columns are chosen.
const uploadLife = 24 * time.Hour

// SaveUpload stores a file whose columns are still to be chosen, and returns its id. It deletes
// uploads older than a day.
func (s *Store) SaveUpload(ctx context.Context, ws Workspace, file string, body io.Reader) (id string, err error) {
	z, err := compressed(func(w io.Writer) error { _, err := io.Copy(w, body); return err })
	if err != nil {
		return "", err
	}
	id = newID()
	err = s.update(ctx, func(tx *transaction) {
		now := s.now()
		tx.exec(`DELETE FROM uploads WHERE created < ?`, now-uploadLife.Milliseconds())
		s.room(tx, ws, 0, 0)
		tx.exec(`INSERT INTO uploads (id, workspace, file, body, created) VALUES (?, ?, ?, ?, ?)`, id, ws, oneLine(file), z, now)
	})
	return id, err
}

// Upload returns an uploaded file of a workspace and its name.
func (s *Store) Upload(ctx context.Context, ws Workspace, id string) (file string, body Unpacked, err error) {
	var z []byte
	err = s.view(ctx, func(tx *transaction) {
		tx.one(`SELECT file, body FROM uploads WHERE id = ? AND workspace = ?`, id, ws)(&file, &z)
	})
	if err != nil {
		return "", body, err
	}
	body, err = unpack(z)
	return file, body, err
}

// DeleteUpload deletes an uploaded file of a workspace.
func (s *Store) DeleteUpload(ctx context.Context, ws Workspace, id string) error {
	return s.change(ctx, `DELETE FROM uploads WHERE id = ? AND workspace = ?`, id, ws)
}
