package web

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

// Keys creates and recognises workspace keys without storing them: a key is 96 random bits
// followed by a 32-bit signature with the server's secret. A mistyped key, or one of another
// server, is refused instead of opening an empty workspace. A nil *Keys creates unsigned keys
// and accepts any 32 hexadecimal digits.
type Keys struct {
	secret []byte
	used   func(ctx context.Context, token string) bool
}

// NewKeys returns Keys that sign with secret. For unsigned keys of earlier versions, used
// reports whether their workspace holds anything.
func NewKeys(secret []byte, used func(ctx context.Context, token string) bool) *Keys {
	return &Keys{secret, used}
}

// Bytes of a key, and how many of them are random.
const keyBytes, keyRandom = 16, 12

// New returns a new key.
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

// sign returns the signature that completes a key beginning with random.
func (k *Keys) sign(random []byte) []byte {
	h := hmac.New(sha256.New, k.secret)
	h.Write(random)
	return h.Sum(nil)[:keyBytes-keyRandom]
}
