package web

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strings"

	"marginlab/ml/param"
)

// cookieName holds the token of the workspace.
const cookieName = "marginlab_workspace"

type tokenKey struct{}

// Token is the token of the workspace that a request works in: 128 random bits
// as 32 hexadecimal digits; empty outside of Site.Workspace and Site.Framed.
func Token(ctx context.Context) string {
	token, _ := ctx.Value(tokenKey{}).(string)
	return token
}

// Workspace gives every request a token: that of "Authorization: Bearer TOKEN" or
// of its cookie; a new one when it has neither. Answers are private to the browser
// unless their handler says otherwise.
func (s *Site) Workspace(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, err := bearer(r)
		if err != nil {
			s.Error(w, r, err)
			return
		}
		if token == "" {
			if token = fromCookie(r); token == "" {
				token = newToken()
			}
			setCookie(w, r, token) // also for a known token: the year begins anew
		}
		w.Header().Set("Cache-Control", "private, no-cache")
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, token)))
	})
}

// bearer reads the token of the Authorization header, empty when there is none.
// Programs under /api are told of a header that is something else; with a page it
// may be meant for a proxy.
func bearer(r *http.Request) (string, error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return "", nil
	}
	scheme, text, _ := strings.Cut(header, " ")
	token, ok := parseToken(text)
	switch {
	case ok && strings.EqualFold(scheme, "Bearer"):
		return token, nil
	case !ForPrograms(r):
		return "", nil
	}
	return "", Errorf(Unauthorized, "The Authorization header must be \"Bearer\" and the 32 hexadecimal digits that the settings page shows.")
}

// fromCookie is the token in the cookie of a request, empty when there is none.
func fromCookie(r *http.Request) string {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return ""
	}
	token, _ := parseToken(c.Value)
	return token
}

// SetToken opens the workspace of another token in this browser. It returns
// param.Problems for the field "token" when that is not one.
func SetToken(w http.ResponseWriter, r *http.Request, token string) error {
	token, ok := parseToken(token)
	if !ok {
		return param.Problems{{Field: "token", Message: "A workspace key has 32 hexadecimal digits."}}
	}
	setCookie(w, r, token)
	return nil
}

func setCookie(w http.ResponseWriter, r *http.Request, token string) {
	w.Header().Del("Set-Cookie") // the only cookie there is
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: token, Path: "/", MaxAge: 365 * 24 * 60 * 60,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secureTransport(r),
	})
}

func newToken() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func parseToken(s string) (token string, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if b, err := hex.DecodeString(s); err != nil || len(b) != 16 {
		return "", false
	}
	return s, true
}
