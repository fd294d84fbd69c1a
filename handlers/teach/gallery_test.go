package teach_test

import (
	"net/http"
	"slices"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/store/storetest"
)

// A picture that the browser has is answered without reading the models.
func TestOverlayUnchanged(t *testing.T) {
	tc := handlerstest.Fresh(t, true).Browse(t, handlerstest.Teacher)
	code := tc.Course("/lab?data=moons&n=40", "")
	for _, student := range []string{handlerstest.Ada, handlerstest.Ben} {
		tc.Browse(t, student).Send(http.StatusOK, "/course/"+code+"/handins", "course="+code)
	}
	overlay := "/courses/" + code + "/figures/overlay.svg"
	tag := tc.Want(http.StatusOK, "GET", overlay, "").Header.Get("ETag")
	storetest.Exec(t, tc.App.Store.Path(), `UPDATE models SET model = x'00'`)
	tc.Want(http.StatusNotModified, "GET", overlay, "", "If-None-Match", tag)
}

// Below zero, a number is as short as above, with a minus.
func TestGalleryShortensNumbers(t *testing.T) {
	tc := handlerstest.Fresh(t, true).Browse(t, handlerstest.Teacher)
	code := tc.Course("/lab?data=moons&n=40", "")
	for student, coef0 := range map[string]string{handlerstest.Ada: "-0.123456", handlerstest.Ben: "1"} {
		tc.Browse(t, student).Send(http.StatusOK, "/course/"+code+"/handins", "course="+code+"&kernel=poly&degree=1&coef0="+coef0)
	}
	cells := handlerstest.Texts(tc.Page(http.StatusOK, "/courses/"+code).Find(".gallery tbody td"))
	require.Check(t, slices.Contains(cells, "−0.1235") && slices.Contains(cells, "1"), "%q", cells)
}
