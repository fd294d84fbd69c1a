package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Request names what asks for something: the same for the same again makes nothing, the
// answer is the stored item.
type Request struct {
	// Key is any text; empty: whatever is asked for is made.
	Key string

	// Strict keys are for one thing of a kind: ErrReused for another. Under one that is not,
	// such as that of a page on which something is saved, changed, and saved again, the other
	// is made as well.
	Strict bool

	// Among holds the whole list of a request that makes several things: a part
	// of each of them, nil where there is but one.
	Among any
}

// of returns a hash of the request; empty if there is no key. For a strict request it starts
// with a hash of the key alone and a dot.
func (r Request) of(asked ...any) (string, error) {
	if r.Key == "" {
		return "", nil
	}
	if r.Among != nil {
		asked = append(asked, r.Among)
	}
	all, err := json.Marshal(append([]any{[]byte(r.Key)}, asked...)) // bytes, as a key may be no text
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

// repeated finds, by find, what the same request has made before in a table. Errors: ErrNotFound and
// ErrReused.
func repeated[T any](tx *transaction, table string, ws Workspace, request string, find func(tx *transaction, where string, args ...any) (T, error)) (T, error) {
	v, err := find(tx, `workspace = ? AND request = nullif(?, '')`, ws, request)
	if err == ErrNotFound {
		err = neverAsked(tx, table, ws, request)
	}
	return v, err
}

// neverAsked is ErrNotFound for a request that no row of the table answers, but ErrReused
// where its key, a strict one, belongs to another.
func neverAsked(tx *transaction, table string, ws Workspace, request string) error {
	key, _, strict := strings.Cut(request, ".")
	if !strict {
		return ErrNotFound
	}
	used, err := value[bool](tx, `SELECT EXISTS (SELECT 1 FROM `+table+` WHERE workspace = ?1 AND request > ?2 || '.' AND request < ?2 || '/')`, ws, key)
	if err == nil && used {
		return ErrReused
	}
	return cmp.Or(err, error(ErrNotFound))
}
