package door

import (
	"errors"
	"io"
	"net/http"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/web"
)

// Body returns the file that a request brings, once there is memory to read it.
func (a *Base) Body(w http.ResponseWriter, r *http.Request) (body io.Reader, leave func(), err error) {
	file, size, err := web.Spool(w, r, a.Limits.Bytes)
	if err != nil {
		return nil, nil, err
	}
	packed, err := IsPacked(file)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	admitted, err := a.AdmitFile(r.Context(), w, size, packed)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, func() { admitted(); _ = file.Close() }, nil
}

// FileError says what is wrong with the file in the body of a request.
func FileError(err error) error {
	var tooLarge *http.MaxBytesError
	var wrong *dataset.Error
	switch {
	case errors.Is(err, dataset.ErrTooLarge):
		return web.Errorf(web.TooLarge, "%v", err)
	case errors.As(err, &tooLarge):
		return err
	case errors.As(err, &wrong) && wrong.Err != nil:
		return web.Errorf(web.Malformed, "The file did not arrive whole. Nothing was saved. (%w)", wrong.Err)
	case errors.As(err, &wrong):
		return param.Problems{{Field: "file", Message: err.Error()}}
	}
	return err
}
