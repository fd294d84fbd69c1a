package store

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Link is a view with its own address, which anyone who has the address can open.
type Link struct {
	Token   string
	Title   string
	Target  string // address of the page, with its query
	Hash    string // of its own points; empty: Target is available to everyone
	Data    string // name of these points
	Created time.Time
}

// NewLink describes a link to create.
type NewLink struct {
	Title, Target string
	Points        *dataset.Data // points that others could not open otherwise; nil: none
	Data          string        // their name
	Request       Request       // as of a NewRun
}

// maxLinks is the largest number of links in a workspace.
const maxLinks = 500

// tokenLength letters of base 32 are 80 random bits: short enough for a blackboard, infeasible to
// guess.
const tokenLength = 16

// CreateLink stores a view with a copy of its points. It is idempotent. It returns
// param.Problems for an invalid n, and an *Error if the workspace has too many links.
func (s *Store) CreateLink(ctx context.Context, ws Workspace, n NewLink) (l Link, err error) {
	if !strings.HasPrefix(n.Target, "/") || strings.HasPrefix(n.Target, "//") || len(n.Target) > maxTarget {
		return l, param.Problems{{Field: "target", Message: "A link cannot store this view."}}
	}
	p, err := encode(n.Points)
	if err != nil {
		return l, err
	}
	request, err := n.Request.of(n.Target, p.hash)
	if err != nil {
		return l, err
	}
	l = Link{strings.ToLower(rand.Text())[:tokenLength], truncate(oneLine(n.Title)), n.Target, p.hash, oneLine(n.Data), fromMillis(s.now())}
	return result(ctx, s.update, func(tx *transaction) Link {
		known, ok := repeated(tx, "links", ws, request, findLink)
		if !ok {
			known, ok = lookup(tx, scanLink, links+`workspace = ? AND target = ? AND coalesce(hash, '') = ?`, ws, l.Target, l.Hash)
		}
		if ok {
			tx.exec(`UPDATE links SET request = coalesce(nullif(?, ''), request) WHERE token = ?`, request, known.Token)
			return known
		}
		s.room(tx, ws, 0, 0)
		if held := value[int](tx, `SELECT count(*) FROM links WHERE workspace = ?`, ws); held >= maxLinks {
			tx.fail(overQuota("You have %s, the maximum. Delete some that nobody needs.", number(held, "link")))
		}
		writePoints(tx, p)
		tx.exec(`INSERT INTO links (token, workspace, title, target, hash, data_name, created, request) VALUES (?, ?, ?, ?, nullif(?, ''), ?, ?, nullif(?, ''))`,
			l.Token, ws, l.Title, l.Target, l.Hash, l.Data, l.Created.UnixMilli(), request)
		return l
	})
}

// truncate truncates a title to the length of a name.
func truncate(s string) string {
	if r := []rune(s); len(r) > maxName {
		return string(r[:maxName-1]) + "…"
	}
	return s
}

// Link returns the link with a token.
func (s *Store) Link(ctx context.Context, token string) (Link, error) {
	return result(ctx, s.view, func(tx *transaction) Link { return findLink(tx, `token = ?`, token) })
}

// Links lists the links of a workspace, newest first.
func (s *Store) Links(ctx context.Context, ws Workspace) ([]Link, error) {
	return listed(ctx, s, scanLink, links+`workspace = ? ORDER BY created DESC, token`, ws)
}

// DeleteLink permanently deletes a link of a workspace.
func (s *Store) DeleteLink(ctx context.Context, ws Workspace, token string) error {
	return s.update(ctx, func(tx *transaction) {
		dropPoints(tx, value[string](tx, `DELETE FROM links WHERE workspace = ? AND token = ? RETURNING coalesce(hash, '')`, ws, token))
	})
}

// links selects the links that meet a condition.
const links = `SELECT token, title, target, coalesce(hash, ''), data_name, created FROM links WHERE `

func scanLink(r row, l *Link) error {
	return r.Scan(&l.Token, &l.Title, &l.Target, &l.Hash, &l.Data, asMillis(&l.Created))
}

func findLink(tx *transaction, where string, args ...any) Link {
	return find(tx, scanLink, links+where, args...)
}
