package cmdline

import (
	"cmp"
	"fmt"
	"runtime/debug"
)

// version returns the commit that the program was built from, if recorded: go build in a clone
// records it, go run does not.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "marginlab, built without version information"
	}
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	commit := "commit not recorded"
	if c := setting["vcs.revision"]; c != "" {
		commit = "commit " + c
	}
	if setting["vcs.modified"] == "true" {
		commit += " with changes"
	}
	return fmt.Sprintf("marginlab %s, %s, %s %s/%s", cmp.Or(info.Main.Version, "(devel)"), commit, info.GoVersion, setting["GOOS"], setting["GOARCH"])
}
