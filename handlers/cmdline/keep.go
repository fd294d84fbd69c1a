package cmdline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"marginlab/store"
)

var (
	backup  = Command{"backup", "copy the database of a server, which may be running, into a file", runBackup}
	restore = Command{"restore", "put a copy of the database in its place", runRestore}
	check   = Command{"check", "check the whole database for damage", runCheck}
	purge   = Command{"purge", "delete workspaces that have long been unused", runPurge}
)

// DataDir adds the flag of the directory that a server keeps its database in.
func (f *Flags) DataDir(help string) *string {
	def := dataDir()
	return f.String("data-dir", "DIR", def, help+" (default "+def+")")
}

// dataDir is where programs of this user keep their data.
func dataDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return "marginlab-data"
	}
	switch {
	case os.Getenv("XDG_DATA_HOME") != "":
		return filepath.Join(os.Getenv("XDG_DATA_HOME"), "marginlab")
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", "marginlab")
	case runtime.GOOS == "windows" && os.Getenv("LocalAppData") != "":
		return filepath.Join(os.Getenv("LocalAppData"), "marginlab")
	}
	return filepath.Join(home, ".local", "share", "marginlab")
}

const directoryHelp = "Data directory of the server."

func runBackup(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("backup [flags] FILE", "Copies the database into a new file, which holds everything that was saved before the copy was begun, and nothing by half. The server may go on working meanwhile. To copy the database file by other means loses what is in its log.")
	file := f.Required("the name of the file to write")
	dir := f.DataDir(directoryHelp)
	if err := f.Parse(args); err != nil {
		return err
	}
	have, err := store.Backup(ctx, *dir, *file)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "Saved in %s: %s\n", *file, have)
	return nil
}

func runRestore(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("restore [flags] FILE", "Puts the database in a file that backup has written into the data directory, where no server may be at work. What was there before is kept aside, under a name that is told. A file that is damaged, of another program or of a newer version is refused.")
	file := f.Required("the name of the file to restore")
	dir := f.DataDir(directoryHelp)
	if err := f.Parse(args); err != nil {
		return err
	}
	aside, have, err := store.Restore(ctx, *dir, *file)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "Restored in %s: %s\n", *dir, have)
	if aside != "" {
		fmt.Fprintf(std.Out, "What was there before is kept in %s\n", aside)
	}
	return nil
}

func runCheck(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("check [flags] [FILE]", "Reads the whole database, or a copy of it in a file, and tells what is damaged, a line each: pages, indexes and references, and every point set, data set, run, model, search and course that cannot be read. It changes nothing; the server may go on working meanwhile.")
	file := f.Argument()
	dir := f.DataDir(directoryHelp)
	if err := f.Parse(args); err != nil {
		return err
	}
	path := *file
	switch {
	case path == "":
		path = store.DatabaseIn(*dir)
	case f.Given("data-dir"):
		return usage("FILE and --data-dir exclude each other")
	}
	if err := inspectLog(filepath.Dir(path), std); err != nil {
		return err
	}
	damage, have, err := store.Check(ctx, path)
	if err != nil {
		return err
	}
	for _, line := range damage {
		fmt.Fprintln(std.Out, line)
	}
	if len(damage) > 0 {
		return fmt.Errorf("database %s: not all is well; marginlab restore puts a backup in its place", path)
	}
	fmt.Fprintf(std.Out, "Whole: %s in %s\n", have, path)
	return nil
}

func runPurge(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("purge --older DAYS [flags]", "Lists the workspaces that nobody has used for long and, with --yes, marks them for deletion. A day later the server, or the next purge --yes, deletes those that nobody has used meanwhile, with all they hold; if they are many, after a copy of the database beside it, which is kept for 30 days. A workspace with an open course stays, and so does what was handed in to the courses of others. The server may go on working meanwhile.")
	dir := f.DataDir(directoryHelp)
	older := f.String("older", "DAYS", "", "For how many days nobody may have used a workspace: 90d.")
	yes := f.Switch("yes", "Mark what is listed for deletion, and delete what was marked a day ago.")
	force := f.Switch("force", "With --yes: also when most workspaces would go, or the clock is more than 30 days beyond the last use of any.")
	undo := f.Switch("undo", "Keep all workspaces that are marked.")
	if err := f.Parse(args); err != nil {
		return err
	}
	days := 0
	if !*undo {
		err := f.require("older")
		if err != nil {
			return err
		}
		if days, err = strconv.Atoi(strings.TrimSuffix(*older, "d")); err != nil || days < 1 || days > 36500 {
			return usage("--older expects a number of days from 1 to 36500, as in 90d, not %q", *older)
		}
	} else if *yes || *force || *older != "" {
		return usage("--undo stands alone: it keeps what is marked")
	}
	st, err := openExisting(ctx, *dir, std)
	if err != nil {
		return err
	}
	defer st.Close()
	if *undo {
		n, err := st.Spare(ctx)
		if err == nil {
			fmt.Fprintf(std.Out, "Workspaces kept that were marked for deletion: %d\n", n)
		}
		return err
	}
	since := st.Now().AddDate(0, 0, -days)
	if *yes {
		n, err := st.Sweep(ctx)
		if err != nil {
			return err
		}
		if n > 0 {
			fmt.Fprintf(std.Out, "Workspaces deleted that were marked a day ago: %d\n", n)
		}
	}
	list, err := st.Unseen(ctx, since)
	if err != nil {
		return err
	}
	for _, h := range list {
		fmt.Fprintf(std.Out, "%.12s, last used %s, %s\n", h.Workspace, h.Seen.Format("2 January 2006"), h)
	}
	switch {
	case len(list) == 0:
		fmt.Fprintf(std.Out, "Every workspace was in use within %d days, or has an open course.\n", days)
		return nil
	case !*yes:
		fmt.Fprintln(std.Out, "Nothing was deleted: --yes marks them for deletion.")
		return nil
	}
	if _, err := st.Expire(ctx, since, *force); err != nil {
		return err
	}
	fmt.Fprintln(std.Out, "Marked for deletion: in a day the server deletes those that nobody has used by then, or purge --yes does. purge --undo keeps them.")
	return nil
}

// openExisting opens the database of a data directory, which must be there.
func openExisting(ctx context.Context, dir string, std Streams) (*store.Store, error) {
	if _, err := os.Stat(store.DatabaseIn(dir)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("data directory %s: there is no database", dir)
	}
	if err := inspectLog(dir, std); err != nil {
		return nil, err
	}
	return store.Open(ctx, dir)
}

// inspectLog reports a damaged write-ahead log in a data directory without a running server.
func inspectLog(dir string, std Streams) error {
	if _, err := os.Stat(store.DatabaseIn(dir) + "-wal"); err != nil {
		return nil // no log; do not leave a lock beside a copy
	}
	lock, err := store.TakeLock(dir, "inspect")
	if err != nil {
		return nil // checked by a running server, or the directory is not writable
	}
	defer lock.Release()
	damage, err := lock.InspectLog()
	if damage.Frames > 0 {
		fmt.Fprintln(std.Err, damage)
	}
	return err
}
