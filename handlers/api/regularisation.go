package api

import (
	"net/http"

	"marginlab/ml"
	"marginlab/web"
)

// Regularise answers with what becomes of a machine as C rises.
func (a *Room) Regularise(w http.ResponseWriter, r *http.Request) error {
	asked := struct {
		Dataset string  `json:"dataset"`
		Spec    ml.Spec `json:"spec"`
	}{Spec: ml.DefaultSpec()}
	if err := web.ReadJSON(w, r, BodyBytes, &asked); err != nil {
		return err
	}
	points, err := a.points(r, asked.Dataset)
	if err != nil {
		return err
	}
	path, err := a.House.Regularise(r.Context(), points.Hash, points.Data, asked.Spec)
	if err != nil {
		return err
	}
	return web.JSON(w, http.StatusOK, path)
}
