package cmdline

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"marginlab/ml/lists"
	"marginlab/store"
)

var workspaces = Command{"workspaces", "list the workspaces of a server, and block or unblock one, or an address", runWorkspaces}

func runWorkspaces(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("workspaces [flags]", "Lists the workspaces, largest first: their names, which do not reveal their keys, when they were last used and what they hold. A blocked workspace or address gets 403 for every request within five seconds; its content is kept, and queued work is finished. The server may keep running.")
	dir := f.DataDir(directoryHelp)
	change := map[string]*string{}
	for _, c := range []struct{ name, value, help string }{
		{"block", "NAME", "Block the workspace whose name starts with these digits, at least eight."},
		{"unblock", "NAME", "Unblock it."},
		{"block-address", "IP", "Block a network address; for IPv6, its /64 network."},
		{"unblock-address", "IP", "Unblock it."},
	} {
		change[c.name] = f.String(c.name, c.value, "", c.help)
	}
	if err := f.Parse(args); err != nil {
		return err
	}
	st, err := openExisting(ctx, *dir, std)
	if err != nil {
		return err
	}
	defer st.Close()
	changed := false
	for _, name := range []string{"block", "unblock", "block-address", "unblock-address"} {
		text, out := *change[name], name == "block" || name == "block-address"
		if text == "" {
			continue
		}
		if changed = true; name == "block" || name == "unblock" {
			ws, err := st.FindWorkspace(ctx, text)
			if err == nil {
				err = st.BarWorkspace(ctx, ws, out)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(std.Out, "%sed: %.12s\n", name, ws)
			continue
		}
		address, err := st.BarAddress(ctx, text, out)
		if err != nil {
			return err
		}
		fmt.Fprintf(std.Out, "%s: %s\n", name, address)
	}
	if changed {
		return nil
	}
	list, err := st.Workspaces(ctx)
	if err != nil {
		return err
	}
	barred, err := st.Barred(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b store.Holdings) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), b.Seen.Compare(a.Seen)) })
	for _, h := range list {
		note := lists.Either(barred.Workspaces[h.Workspace], ", blocked", "")
		fmt.Fprintf(std.Out, "%.12s, last used %s, %s%s\n", h.Workspace, h.Seen.Format("2 January 2006"), h, note)
	}
	for _, address := range slices.Sorted(maps.Keys(barred.Addresses)) {
		fmt.Fprintf(std.Out, "address %s, blocked\n", address)
	}
	if len(list) == 0 {
		fmt.Fprintln(std.Out, "All workspaces are empty.")
	}
	return nil
}
