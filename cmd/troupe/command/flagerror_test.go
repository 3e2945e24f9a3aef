package command

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
)

func TestFlagErrors(t *testing.T) {
	for args, want := range map[string]string{
		"serve --storage-media-type=application/json": "unsupported flag: --storage-media-type: Objects are stored as JSON.",
		"serve --version":                  "unsupported flag: --version: Use troupe version.",
		"serve --tls-cert-fil=x":           "unknown flag: --tls-cert-fil; did you mean --tls-cert-file?",
		"serve --zzzzzzzz":                 "unknown flag: --zzzzzzzz; troupe serve --help lists the flags",
		"rollot undo web --to-revision=1":  `unknown command "rollot"; troupe --help lists the commands`,
		"rollout undo web --to-revision=1": `error: troupe has no "rollout": use kubectl rollout`,
		"auth reconsile -f x":              "error: unknown command \"reconsile\" for \"troupe auth\"\nUsage: troupe auth [flags]",
		"auth reconcile -f x":              `error: troupe has no "auth reconcile": use kubectl auth reconcile`,
		"create cronjob c --image=i":       `error: troupe has no "create cronjob": use kubectl create cronjob`,
		"create gadget g --image=i":        "error: no generator for \"gadget\": write the object to a file and create it with -f (troupe explain gadget lists its fields)\nUsage: troupe create -f FILE… [flags]",
		"top pods -A --sort-by=cpu":        `error: troupe has no "top": use kubectl top`,
		"verify --data-dri=x":              "unknown flag: --data-dri; did you mean --data-dir?",
	} {
		c := root()
		c.SetFlagErrorFunc(flagError)
		c.SetOut(io.Discard)
		c.SetArgs(strings.Fields(args))
		if err := c.Execute(); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

func TestUnsupportedFlags(t *testing.T) {
	text := must.Get(os.ReadFile("../../../docs/settings.md"))(t)
	_, section, _ := strings.Cut(string(text), "\n## Unsupported flags of kube-apiserver\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows, want []string
	for line := range strings.Lines(section) {
		if row, ok := strings.CutPrefix(line, "| `--"); ok {
			rows = append(rows, strings.ReplaceAll(row, "`", ""))
		}
	}
	c := root()
	serve, _, err := c.Find([]string{"serve"})
	must.Succeed(t, err)
	for _, f := range daemon.UnsupportedFlags() {
		want = append(want, f.Name+" | "+f.Reason+" |\n")
		if serve.Flags().Lookup(f.Name) != nil {
			t.Errorf("serve has the flag --%s", f.Name)
		}
	}
	if got, want := strings.Join(rows, ""), strings.Join(want, ""); got != want {
		t.Errorf("docs/settings.md has\n%s\nand the declaration\n%s", got, want)
	}
}
