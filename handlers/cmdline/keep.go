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
	backup  = Command{"backup", "back up the database of a server, even while it runs", runBackup}
	restore = Command{"restore", "restore the database from a backup", runRestore}
	check   = Command{"check", "check the whole database for damage", runCheck}
	purge   = Command{"purge", "delete workspaces that have not been used for a long time", runPurge}
)

// DataDir adds the flag for a server's data directory.
func (f *Flags) DataDir(help string) *string {
	def := dataDir()
	return f.String("data-dir", "DIR", def, help+" (default "+def+")")
}

// dataDir returns the default data directory for this user.
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
	f := NewFlags("backup [flags] FILE", "Copies the database into a new file: a consistent snapshot of everything saved before the backup started. The server may keep running. Copying the file by other means loses data still in the write-ahead log.")
	file := f.Required("the name of the file to write")
	dir := f.DataDir(directoryHelp)
	if err := f.Parse(args); err != nil {
		return err
	}
	if err := requireDatabase(*dir); err != nil {
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
	f := NewFlags("restore [flags] FILE", "Restores a backup file into the data directory; stop the server first. The previous database is kept under another name, which is printed. Files that are damaged, from another program or from a newer version are refused.")
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
		fmt.Fprintf(std.Out, "The previous database is kept in %s\n", aside)
	}
	return nil
}

func runCheck(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("check [flags] [FILE]", "Reads the whole database, or a backup file, and prints one line for each damaged page, index or reference, and for each point set, data set, run, model, search and course that cannot be read. It changes nothing; the server may keep running.")
	file := f.Argument()
	dir := f.DataDir(directoryHelp)
	if err := f.Parse(args); err != nil {
		return err
	}
	path := *file
	switch {
	case path == "":
		if err := requireDatabase(*dir); err != nil {
			return err
		}
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
		return fmt.Errorf("database %s is damaged; use marginlab restore to restore a backup", path)
	}
	fmt.Fprintf(std.Out, "OK: %s in %s\n", have, path)
	return nil
}

func runPurge(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("purge --older DAYS [flags]", "Lists workspaces that have not been used for a long time and, with --yes, marks them for deletion. A day later the server, or the next purge --yes, deletes those still unused, with all their content; if there are many, it first backs up the database next to it and keeps the backup for 30 days. Workspaces with an open course and submissions to other courses are kept. The server may keep running.")
	dir := f.DataDir(directoryHelp)
	older := f.String("older", "DAYS", "", "Number of days without use, such as 90d.")
	yes := f.Switch("yes", "Mark the listed workspaces for deletion, and delete those marked a day ago.")
	force := f.Switch("force", "With --yes: even if most workspaces would be deleted, or if the clock is more than 30 days past the last use of any workspace.")
	undo := f.Switch("undo", "Keep all marked workspaces.")
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
			return usage("--older expects a number of days from 1 to 36500, such as 90d, not %q", *older)
		}
	} else if *yes || *force || *older != "" {
		return usage("--undo excludes the other flags: it keeps all marked workspaces")
	}
	st, err := openExisting(ctx, *dir, std)
	if err != nil {
		return err
	}
	defer st.Close()
	if *undo {
		n, err := st.Spare(ctx)
		if err == nil {
			fmt.Fprintf(std.Out, "Marked workspaces kept: %d\n", n)
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
			fmt.Fprintf(std.Out, "Workspaces deleted: %d\n", n)
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
		fmt.Fprintf(std.Out, "Every workspace was used within the last %d days or has an open course.\n", days)
		return nil
	case !*yes:
		fmt.Fprintln(std.Out, "Nothing was deleted. Use --yes to mark these workspaces for deletion.")
		return nil
	}
	if _, err := st.Expire(ctx, since, *force); err != nil {
		return err
	}
	fmt.Fprintln(std.Out, "Marked for deletion: in a day the server, or purge --yes, deletes those still unused. Use purge --undo to keep them.")
	return nil
}

// requireDatabase returns an error if a data directory holds no database.
func requireDatabase(dir string) error {
	if _, err := os.Stat(store.DatabaseIn(dir)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data directory %s: no database; name the directory of the server with --data-dir", dir)
	}
	return nil
}

// openExisting opens an existing database in a data directory.
func openExisting(ctx context.Context, dir string, std Streams) (*store.Store, error) {
	if err := requireDatabase(dir); err != nil {
		return nil, err
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
