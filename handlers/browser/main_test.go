// Package browser tests the whole program as people use it: the binary in a
// process of its own, looked at through Chromium.
package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
)

var (
	binary string          // the program under test
	chrome context.Context // the browser that all tests share; nil: there is none
)

// Two tests for each processor are under way at a time, unless -parallel says otherwise:
// they wait for pages, pictures and processes more than they compute. The race detector makes
// the programs that they look at compute more. Those collect garbage as seldom as the tests, see
// package require, except under load.
func TestMain(m *testing.M) {
	code, err := 1, error(nil)
	if !race {
		err = flag.Set("test.parallel", strconv.Itoa(2*runtime.NumCPU()))
	}
	if err == nil && !load && os.Getenv("GOGC") == "" {
		err = os.Setenv("GOGC", "400")
	}
	if err == nil {
		code, err = prepare(m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// prepare builds the program, starts the browser where there is one, and runs
// the tests.
func prepare(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "marginlab-browser-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)

	binary = filepath.Join(dir, "marginlab")
	args := []string{"build", "-buildvcs=false", "-ldflags=-w", "-o", binary} // without tables for debuggers, which take long to link
	if race {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "marginlab")...)
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("the program does not build: %w\n%s", err, out)
	}

	if path := chromium(); path != "" {
		ctx, stop := launch(path)
		defer stop()
		if err := chromedp.Do(ctx); err != nil {
			return 0, fmt.Errorf("%s does not start: %w", path, err)
		}
		chrome = ctx
	} else {
		flag.Parse()
		notice("handlers/browser: no Chromium found, so the tests that look at pages are skipped: install chromium or google-chrome and put it in PATH\n")
	}
	return m.Run(), nil
}

// notice writes a message to standard error. As go test drops the output of packages that
// pass, it goes to that of the go command as well, where that is a terminal or a pipe.
func notice(message string) {
	fmt.Fprint(os.Stderr, message)
	parent := fmt.Sprintf("/proc/%d/", os.Getppid())
	name, _ := os.ReadFile(parent + "comm")
	at, err := os.Stat(parent + "fd/2")
	if testing.Verbose() || string(name) != "go\n" || err != nil || at.Mode().IsRegular() {
		return
	}
	if out, err := os.OpenFile(parent+"fd/2", os.O_WRONLY, 0); err == nil {
		defer out.Close()
		fmt.Fprint(out, message)
	}
}

// chromium finds a browser; empty when there is none.
func chromium() string {
	for _, name := range []string{
		"chromium-headless-shell", "chrome-headless-shell", // the same engine without a browser around it, for two thirds of the processor time
		"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium",
	} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// launch returns the context of a browser that starts with its first action.
func launch(path string) (context.Context, context.CancelFunc) {
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("disable-renderer-backgrounding", true), chromedp.Flag("disable-background-timer-throttling", true), chromedp.Flag("disable-backgrounding-occluded-windows", true),
		chromedp.WindowSize(1280, 900),
	}
	if !load { // pages live for seconds and never go back: a spare renderer, pages kept for that, optimising compilers, a process for graphics and one for each server that a tab visits cost more than they save
		options = append(options, chromedp.Flag("disable-features", "SpareRendererForSitePerProcess,BackForwardCache"),
			chromedp.Flag("js-flags", "--no-opt --no-maglev"), chromedp.Flag("in-process-gpu", true),
			chromedp.Flag("process-per-site", true))
	}
	ctx, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stopBrowser := chromedp.NewContext(ctx)
	return ctx, func() { stopBrowser(); stopAllocator() }
}

// missing skips a test for want of a tool, or fails it where everything must run.
func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
