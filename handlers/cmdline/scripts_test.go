package cmdline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"marginlab/handlers/cmdline"
)

// TestScripts runs the sessions of testdata/scripts. To the commands of testscript they have
//
//	marginlab WORDS [<FILE] [>FILE] [2>notes]
//	misuse TEXT WORDS    what ! marginlab WORDS says contains TEXT, and it exits with 2
//	failure TEXT WORDS   the same, where … in TEXT stands for anything, and it exits with 1
//	keys NAMES           the names in the JSON object of the output
//	picture FILES        an SVG or PNG picture
//
// where marginlab runs in the test's own process. It must say nothing on standard error unless
// there is 2>notes. Behind "!" it must say one line there, which ends with "see marginlab … --help" just where it exits
// with 2, and nothing on standard output.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/scripts",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"marginlab": func(ts *testscript.TestScript, fails bool, words []string) { session(ts, fails, words) },
			"misuse":    misuse, "failure": failure, "keys": keysOf, "picture": picture,
		},
	})
}

// fileName is an argument that names a file, whether there is one or not.
var fileName = regexp.MustCompile(`^[\w./-]+\.[a-z]+$`)

// session runs marginlab and returns its exit status and what it says on standard error.
func session(ts *testscript.TestScript, fails bool, words []string) (code int, said string) {
	var in io.Reader = strings.NewReader("")
	var out, errs bytes.Buffer
	var args []string
	noted, to := false, ""
	for _, w := range words {
		_, err := os.Stat(ts.MkAbs(w))
		switch {
		case w == "2>notes":
			noted = true
		case strings.HasPrefix(w, "<"):
			in = strings.NewReader(ts.ReadFile(w[1:]))
		case strings.HasPrefix(w, ">"):
			to = ts.MkAbs(w[1:])
		case err == nil || fileName.MatchString(w):
			args = append(args, ts.MkAbs(w)) // the test has another working directory
		default:
			args = append(args, w)
		}
	}
	code = cmdline.Run(context.Background(), cmdline.Commands, args, cmdline.Streams{In: in, Out: &out, Err: &errs})
	said = errs.String()
	if to != "" {
		ts.Check(os.WriteFile(to, out.Bytes(), 0o600))
	}
	_, _ = ts.Stdout().Write(out.Bytes())
	_, _ = io.WriteString(ts.Stderr(), said)
	switch {
	case fails && (code != 1 && code != 2 || out.Len() > 0 || strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "marginlab")):
		ts.Fatalf("exit %d, want one line of error and no output: %s%s", code, &out, said)
	case fails && (code == 2) != strings.Contains(said, "; see marginlab "):
		ts.Fatalf("exit %d: %s", code, said)
	case !fails && (code != 0 || said != "" && !noted):
		ts.Fatalf("exit %d: %s", code, said)
	}
	return code, said
}

func misuse(ts *testscript.TestScript, _ bool, words []string) {
	if code, said := session(ts, true, words[1:]); code != 2 || !strings.Contains(said, words[0]) {
		ts.Fatalf("exit %d, want 2 and %q: %s", code, words[0], said)
	}
}

func failure(ts *testscript.TestScript, _ bool, words []string) {
	code, said := session(ts, true, words[1:])
	rest, found := said, true
	for part := range strings.SplitSeq(words[0], " … ") {
		if _, rest, found = strings.Cut(rest, part); code != 1 || !found {
			ts.Fatalf("exit %d, want 1 and %q: %s", code, words[0], said)
		}
	}
}

func keysOf(ts *testscript.TestScript, none bool, names []string) {
	var object map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &object))
	for _, name := range strings.Fields(strings.Join(names, " ")) {
		if _, ok := object[name]; ok == none {
			ts.Fatalf("%s: %t", name, ok)
		}
	}
}

func picture(ts *testscript.TestScript, _ bool, files []string) {
	for _, name := range files {
		text := ts.ReadFile(name)
		if filepath.Ext(name) == ".svg" {
			if !strings.Contains(text[:min(200, len(text))], "<svg") || !strings.Contains(text, "</svg>") {
				ts.Fatalf("%s: %.200s", name, text)
			}
			continue
		}
		img, err := png.Decode(strings.NewReader(text))
		ts.Check(err)
		if img.Bounds().Dx() < 400 {
			ts.Fatalf("%s is %v", name, img.Bounds())
		}
	}
}
