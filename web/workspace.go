package web

import (
	"cmp"
	"context"
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
// of its cookie. With neither, a page gets a new one, and a program under /api is refused:
// what it made would be in a workspace that nobody finds again; so is one with a key that is none
// of s.Keys. Answers are private to the browser unless their handler says otherwise.
func (s *Site) Workspace(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, err := bearer(r)
		if err != nil {
			s.Error(w, r, err)
			return
		}
		if token != "" && ForPrograms(r) && !s.Keys.Known(r.Context(), token) {
			s.Error(w, r, Errorf(Unauthorized, "This server does not know the key. %s", wayToKey))
			return
		}
		if token == "" {
			if token = fromCookie(r); token == "" {
				if ForPrograms(r) {
					s.Error(w, r, Errorf(Unauthorized, "The request has no key. %s", wayToKey))
					return
				}
				token = s.Keys.New()
			}
			setCookie(w, r, token) // also for a known token: the year begins anew
		}
		w.Header().Set("Cache-Control", "private, no-cache")
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, token)))
	})
}

// wayToKey tells programs how to get a key.
const wayToKey = `POST /api/workspaces answers with a new one; the settings page shows that of a browser. Send it as "Authorization: Bearer KEY".`

// sentToken is the token that a request brings along, empty when it has none.
func sentToken(r *http.Request) string {
	token, _ := bearer(r)
	return cmp.Or(token, fromCookie(r))
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

func parseToken(s string) (token string, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if b, err := hex.DecodeString(s); err != nil || len(b) != 16 {
		return "", false
	}
	return s, true
}
