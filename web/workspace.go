package web

import (
	"cmp"
	"context"
	"encoding/hex"
	"net/http"
	"strings"

	"marginlab/ml/param"
)

// cookieName is the cookie that holds the workspace token.
const cookieName = "marginlab_workspace"

type tokenKey struct{}

// Token returns the workspace token of a request: 128 bits as 32 hexadecimal digits;
// empty outside Site.Workspace and Site.Framed.
func Token(ctx context.Context) string {
	token, _ := ctx.Value(tokenKey{}).(string)
	return token
}

// Workspace gives every request a token, from "Authorization: Bearer TOKEN" or its cookie. Without
// either, a page request gets a new token, and an API request is refused, since nobody would find
// its workspace again; so is a key unknown to s.Keys. Responses are private to the browser unless
// their handler says otherwise.
func (s *Site) Workspace(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, err := bearer(r)
		if err != nil {
			s.Error(w, r, err)
			return
		}
		if token != "" && ForPrograms(r) && !s.Keys.Known(r.Context(), token) {
			s.Error(w, r, Errorf(Unauthorized, "This server does not know the key. %s", keyHelp))
			return
		}
		if token == "" {
			if token = fromCookie(r); token == "" {
				if ForPrograms(r) {
					s.Error(w, r, Errorf(Unauthorized, "The request has no key. %s", keyHelp))
					return
				}
				token = s.Keys.New()
			}
			setCookie(w, r, token) // also for a known token: extends its lifetime
		}
		w.Header().Set("Cache-Control", "private, no-cache")
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, token)))
	})
}

// keyHelp explains how a program gets a key.
const keyHelp = `POST /api/workspaces creates one; the settings page shows the key of your browser. Send it as "Authorization: Bearer KEY".`

// sentToken returns the token sent with a request, empty if none.
func sentToken(r *http.Request) string {
	token, _ := bearer(r)
	return cmp.Or(token, fromCookie(r))
}

// bearer returns the token of the Authorization header, empty if there is none. Any other
// scheme is an error under /api; on a page it may be meant for a proxy.
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

// fromCookie returns the token in a request's cookie, empty if there is none.
func fromCookie(r *http.Request) string {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return ""
	}
	token, _ := parseToken(c.Value)
	return token
}

// SetToken switches this browser to the workspace of another token. It returns param.Problems for
// the field "token" if the token is invalid.
func SetToken(w http.ResponseWriter, r *http.Request, token string) error {
	token, ok := parseToken(token)
	if !ok {
		return param.Problems{{Field: "token", Message: "A workspace key has 32 hexadecimal digits."}}
	}
	setCookie(w, r, token)
	return nil
}

func setCookie(w http.ResponseWriter, r *http.Request, token string) {
	w.Header().Del("Set-Cookie") // the only cookie
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: token, Path: "/", MaxAge: 365 * 24 * 60 * 60,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secureTransport(r),
	})
}

func parseToken(s string) (token string, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if b, err := hex.DecodeString(s); err != nil || len(b) != 16 {
		return "", false
	}
	return s, true
}
