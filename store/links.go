package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"strings"
	"time"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Link holds a view with its own address, which anyone who has it can open.
type Link struct {
	Token   string
	Title   string
	Target  string // address of the page, with its query
	Hash    string // of points that come with it; empty: everybody can open those of Target
	Data    string // name of these points
	Created time.Time
}

// NewLink is a link to be made.
type NewLink struct {
	Title, Target string
	Points        *dataset.Data // those that others could not see otherwise; nil: none
	Data          string        // their name
	Request       Request       // as of a NewRun
}

// MaxLinks is the largest number of links in a workspace.
const MaxLinks = 500

// tokenLength letters of base 32 are 80 random bits: short enough for a blackboard, and too
// many to be tried.
const tokenLength = 16

// CreateLink stores a view with a copy of its points. The same view again gets the same
// link. It returns param.Problems for faults of n, and an *Error if the workspace has
// too many links.
func (s *Store) CreateLink(ctx context.Context, ws Workspace, n NewLink) (l Link, err error) {
	if !strings.HasPrefix(n.Target, "/") || strings.HasPrefix(n.Target, "//") || len(n.Target) > maxTarget {
		return l, param.Problems{{Field: "target", Message: "This view cannot be kept under a link."}}
	}
	var p points
	if n.Points != nil {
		if p, err = encode(n.Points); err != nil {
			return l, err
		}
	}
	request, err := n.Request.of(n.Target, p.hash)
	if err != nil {
		return l, err
	}
	l = Link{strings.ToLower(rand.Text())[:tokenLength], cut(line(n.Title)), n.Target, p.hash, line(n.Data), fromMillis(s.now())}
	err = s.update(ctx, func(tx *sql.Tx) error {
		known, err := requestedLink(ctx, tx, ws, request)
		if err == ErrNotFound {
			known, err = oneLink(ctx, tx, `workspace = ? AND target = ? AND coalesce(hash, '') = ?`, ws, l.Target, l.Hash)
		}
		if err == nil {
			l = known
			_, err = tx.ExecContext(ctx, `UPDATE links SET request = coalesce(nullif(?, ''), request) WHERE token = ?`, request, l.Token)
		}
		if err != ErrNotFound {
			return err
		}
		if err := s.room(ctx, tx, ws, 0, 0); err != nil {
			return err
		}
		var held int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM links WHERE workspace = ?`, ws).Scan(&held); err != nil {
			return err
		}
		if held >= MaxLinks {
			return overQuota("You have %s, the most that are kept. Delete some that nobody needs.", number(held, "link"))
		}
		if n.Points != nil {
			if err := writePoints(ctx, tx, p); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO links (token, workspace, title, target, hash, data_name, created, request) VALUES (?, ?, ?, ?, nullif(?, ''), ?, ?, nullif(?, ''))`,
			l.Token, ws, l.Title, l.Target, l.Hash, l.Data, l.Created.UnixMilli(), request)
		return err
	})
	return l, err
}

// requestedLink is the one that the same request has made, or found, before.
func requestedLink(ctx context.Context, tx *sql.Tx, ws Workspace, request string) (Link, error) {
	l, err := oneLink(ctx, tx, `workspace = ? AND request = nullif(?, '')`, ws, request)
	if err == ErrNotFound {
		err = neverAsked(ctx, tx, "links", ws, request)
	}
	return l, err
}

// cut leaves as much of a title as a name may have.
func cut(s string) string {
	if r := []rune(s); len(r) > maxName {
		return string(r[:maxName-1]) + "…"
	}
	return s
}

// Link returns the link with a token, for anybody who has it.
func (s *Store) Link(ctx context.Context, token string) (l Link, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		l, err = oneLink(ctx, tx, `token = ?`, token)
		return err
	})
	return l, err
}

// Links lists the links that a workspace has made, newest first.
func (s *Store) Links(ctx context.Context, ws Workspace) (list []Link, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		list, err = listLinks(ctx, tx, `workspace = ?`, ws)
		return err
	})
	return list, err
}

// DeleteLink makes a link of a workspace stop working for good.
func (s *Store) DeleteLink(ctx context.Context, ws Workspace, token string) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		var hash sql.NullString
		if err := tx.QueryRowContext(ctx, `DELETE FROM links WHERE workspace = ? AND token = ? RETURNING hash`, ws, token).Scan(&hash); err != nil {
			return found(err)
		}
		return dropPoints(ctx, tx, hash.String)
	})
}

func oneLink(ctx context.Context, tx *sql.Tx, where string, args ...any) (Link, error) {
	list, err := listLinks(ctx, tx, where, args...)
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Link{}, err
	}
	return list[0], nil
}

func listLinks(ctx context.Context, tx *sql.Tx, where string, args ...any) (list []Link, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT token, title, target, coalesce(hash, ''), data_name, created FROM links WHERE `+where+` ORDER BY created DESC, token`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var l Link
		var created int64
		if err := rows.Scan(&l.Token, &l.Title, &l.Target, &l.Hash, &l.Data, &created); err != nil {
			return nil, err
		}
		l.Created = fromMillis(created)
		list = append(list, l)
	}
	return list, rows.Err()
}
