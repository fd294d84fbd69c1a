package store

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
)

// Workspaces lists all workspaces that hold something, the largest first.
func (s *Store) Workspaces(ctx context.Context) ([]Holdings, error) {
	return result(ctx, s.view, func(tx *transaction) []Holdings {
		return holdingsOf(tx, listOf(tx, column[Workspace], `SELECT DISTINCT workspace FROM `+used+` ORDER BY workspace`))
	})
}

// FindWorkspace returns the workspace whose name starts with begin, at least eight digits. It fails
// if none or several match.
func (s *Store) FindWorkspace(ctx context.Context, begin string) (Workspace, error) {
	if len(begin) < 8 || strings.Trim(begin, "0123456789abcdef") != "" {
		return "", fmt.Errorf("expected at least eight digits of a workspace name, as marginlab workspaces lists it, not %q", begin)
	}
	names, err := listed(ctx, s, column[Workspace], `SELECT DISTINCT workspace FROM `+used+` WHERE workspace >= ?1 AND workspace < ?1 || 'g' LIMIT 2`, begin)
	switch {
	case err != nil:
		return "", err
	case len(names) == 0:
		return "", fmt.Errorf("no workspace begins with %s: see marginlab workspaces", begin)
	case len(names) > 1:
		return "", fmt.Errorf("several workspaces begin with %s: give more digits", begin)
	}
	return names[0], nil
}

// Barred holds the visitors blocked by the operator.
type Barred struct {
	Workspaces map[Workspace]bool
	Addresses  map[string]bool // in the form of web.Address
}

const barredWorkspace, barredAddress = "workspace ", "address "

// Barred returns the visitors blocked by the operator.
func (s *Store) Barred(ctx context.Context) (b Barred, err error) {
	b = Barred{map[Workspace]bool{}, map[string]bool{}}
	err = s.view(ctx, func(tx *transaction) {
		for _, what := range texts(tx, `SELECT what FROM barred`) {
			if ws, ok := strings.CutPrefix(what, barredWorkspace); ok {
				b.Workspaces[Workspace(ws)] = true
			} else {
				b.Addresses[strings.TrimPrefix(what, barredAddress)] = true
			}
		}
	})
	return b, err
}

// BarWorkspace blocks or unblocks a workspace.
func (s *Store) BarWorkspace(ctx context.Context, ws Workspace, out bool) error {
	return s.bar(ctx, barredWorkspace+string(ws), out)
}

// BarAddress blocks or unblocks a network address, for IPv6 its /64 network. It returns the address
// as stored, in the form of web.Address.
func (s *Store) BarAddress(ctx context.Context, address string, out bool) (string, error) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return "", fmt.Errorf("expected an IP address such as 192.0.2.7, not %q", address)
	}
	if ip = ip.Unmap().WithZone(""); ip.Is6() {
		ip = netip.PrefixFrom(ip, 64).Masked().Addr()
	}
	return ip.String(), s.bar(ctx, barredAddress+ip.String(), out)
}

func (s *Store) bar(ctx context.Context, what string, out bool) error {
	if !out {
		return s.exec(ctx, `DELETE FROM barred WHERE what = ?`, what)
	}
	return s.exec(ctx, `INSERT INTO barred (what, since) VALUES (?, ?) ON CONFLICT DO NOTHING`, what, s.now())
}
