package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Request makes a creation idempotent: repeating it with the same content returns the stored
// item.
type Request struct {
	// Key is any text; empty: always create.
	Key string

	// Strict keys allow one item per kind: other content gives ErrReused. With a key that is
	// not strict, such as that of a page saved repeatedly, other content creates another item.
	Strict bool

	// Among holds the whole list of a request that creates several items, and is part of
	// each one's identity; nil for a single item.
	Among any
}

// of returns a hash of the request, empty without a key. For a strict request it starts with a
// hash of the key and a dot.
func (r Request) of(asked ...any) (string, error) {
	if r.Key == "" {
		return "", nil
	}
	if r.Among != nil {
		asked = append(asked, r.Among)
	}
	all, err := json.Marshal(append([]any{[]byte(r.Key)}, asked...)) // as bytes, since a key need not be valid UTF-8
	if err != nil {
		return "", err
	}
	hash := func(b []byte) string {
		sum := sha256.Sum256(b)
		return hex.EncodeToString(sum[:16])
	}
	if r.Strict {
		return hash([]byte(r.Key)) + "." + hash(all), nil
	}
	return hash(all), nil
}

// repeated returns the item that the same request has already created in a table, if any. If the
// strict key belongs to another request, the transaction fails with ErrReused.
func repeated[T any](tx *transaction, table string, ws Workspace, request string, find func(tx *transaction, where string, args ...any) T) (v T, ok bool) {
	const same = `workspace = ? AND request = nullif(?, '')`
	if tx.exists(table+` WHERE `+same, ws, request) {
		return find(tx, same, ws, request), true
	}
	key, _, strict := strings.Cut(request, ".")
	if strict && tx.exists(table+` WHERE workspace = ?1 AND request > ?2 || '.' AND request < ?2 || '/'`, ws, key) {
		tx.fail(ErrReused)
	}
	return v, false
}
