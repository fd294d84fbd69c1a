package web

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

// Keys makes the keys of workspaces, and knows those that it made without keeping them: a key
// is 96 random bits and 32 bits that only the server's secret gives for these. So a key that was
// mistyped, or that comes from another server, is refused instead of opening an empty workspace.
// A nil *Keys makes keys as well, and takes any 32 hexadecimal digits for one.
type Keys struct {
	secret []byte
	used   func(ctx context.Context, token string) bool
}

// NewKeys returns the keys of a secret. used tells of keys that were made otherwise, by earlier
// versions, whether their workspace holds anything.
func NewKeys(secret []byte, used func(ctx context.Context, token string) bool) *Keys {
	return &Keys{secret, used}
}

// A key has so many bytes, and so many of them are random.
const keyBytes, keyRandom = 16, 12

// New makes a key.
func (k *Keys) New() string {
	b := make([]byte, keyBytes)
	rand.Read(b) // never fails
	if k != nil {
		copy(b[keyRandom:], k.sign(b[:keyRandom]))
	}
	return hex.EncodeToString(b)
}

// Known reports whether a token is a key of this server.
func (k *Keys) Known(ctx context.Context, token string) bool {
	token, ok := parseToken(token)
	if !ok || k == nil {
		return ok
	}
	b, _ := hex.DecodeString(token)
	return hmac.Equal(b[keyRandom:], k.sign(b[:keyRandom])) || k.used(ctx, token)
}

// sign returns the last bytes of the key that begins with random.
func (k *Keys) sign(random []byte) []byte {
	h := hmac.New(sha256.New, k.secret)
	h.Write(random)
	return h.Sum(nil)[:keyBytes-keyRandom]
}
