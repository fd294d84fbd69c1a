package cmdline_test

import (
	"os/exec"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// TestCompletion asks a shell to complete as a person would, with the script that it is given.
func TestCompletion(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	script := must(t, "completion", "bash")
	for _, c := range []struct{ words, want string }{
		{"marginlab c", "cv change check completion"},
		{"marginlab fit --kernel p", "poly precomputed"},
		{"marginlab fit --mis", "--missing"},
		{"marginlab cv --qu", "--quiet"},
		{"marginlab gram --kernel wl --ite", "--iterations"},
		{"marginlab fit --data poi", ""}, // files are for the shell
		{"marginlab nothing --", ""},
		{"marginlab generate mo", "moons molecules"},
		{"marginlab study lec", "lecture"},
		{"marginlab completion z", "zsh"},
	} {
		words := strings.Fields(c.words)
		run := exec.CommandContext(t.Context(), bash, "--norc", "-c", script+"\nCOMP_WORDS=(\"$@\")\nCOMP_CWORD=$(($#-1))\n_marginlab\necho \"${COMPREPLY[*]}\"", "bash")
		run.Args = append(run.Args, words...)
		require.Equal(t, strings.TrimSpace(string(require.Value(run.Output())(t))), c.want, "%s", c.words)
	}
	out := must(t, "completion", "zsh")
	require.SaysAll(t, out, []string{"#compdef marginlab\n", "'rbf:Similarity that fades with distance; the width is s = 1/√(2γ)'", "'--kernel:Similarity of two points; determines which boundaries are possible'", "generate) words_=("}, "zsh: no")
	if zsh, err := exec.LookPath("zsh"); err == nil {
		// _describe and _files stand for those of zsh, and print what they are asked for.
		check := exec.CommandContext(t.Context(), zsh, "-f", "-c", "compdef() { : }; _describe() { print -l -- \"${(@P)@[-1]}\" }; _files() { print files }\n"+out+"\nwords=(marginlab fit --kernel ra); CURRENT=4; PREFIX=ra; _marginlab\nwords=(marginlab fit ''); CURRENT=3; PREFIX=; _marginlab")
		said, err := check.CombinedOutput()
		require.Check(t, err == nil && strings.Contains(string(said), "random-walk:Counts the walks") && strings.HasSuffix(string(said), "files\n"), "%v\n%s", err, said)
	}
	fit := "complete -c marginlab -n '__fish_seen_subcommand_from fit' -l "
	require.SaysAll(t, must(t, "completion", "fish"), []string{fit + "multiclass -x -a 'ovo ovr ww cs' -d '", fit + "C -r -d '", fit + "json -d '"}, "fish: no")
	fails(t, 2, `expected bash, zsh or fish, not "tcsh"`, "completion", "tcsh")
}
