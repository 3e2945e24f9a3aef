package storage

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// processReadyLine matches the readiness line that docs/testing.md documents for scripts.
var processReadyLine = regexp.MustCompile(`^troupe ready: (https://\S+) \(naming kubernetes\), KUBECONFIG=(.+) in \d+ ms\n$`)

// TestEphemeral checks that an ephemeral daemon serves at the address that it prints, and leaves no
// files behind.
func TestEphemeral(t *testing.T) {
	for name, named := range map[string]bool{"kubeconfig by itself": false, "kubeconfig where it is wanted": true} {
		t.Run(name, func(t *testing.T) {
			working, temporary := t.TempDir(), t.TempDir()
			cmd := exec.Command(client.TroupeBinary(t), "serve", "--ephemeral", "--secure-port", "0", "--naming", "kubernetes")
			cmd.Dir, cmd.Env = working, append(os.Environ(), "TMPDIR="+temporary)
			want := ""
			if named {
				want = filepath.Join(temporary, "wanted")
				cmd.Args = append(cmd.Args, "--write-kubeconfig", want)
			}
			p := client.StartDaemon(t, cmd)
			parts := processReadyLine.FindStringSubmatch(p.ReadyLine)
			if parts == nil || named && parts[2] != want {
				t.Fatalf("the ready line is %q", p.ReadyLine)
			}
			c := must.Get(client.New(parts[2]))(t)
			defer c.Close()
			if c.URL != parts[1] {
				t.Errorf("the kubeconfig is of %s, the ready line of %s", c.URL, parts[1])
			}
			answer, err := c.Create(t.Context(), "/api/v1/namespaces/default/configmaps", client.Object{"metadata": map[string]any{"name": "a"}})
			if err != nil || answer.Code != 201 {
				t.Fatalf("%v, %v", answer, err)
			}
			p.Stop()
			for _, dir := range []string{working, temporary} {
				entries := must.Get(os.ReadDir(dir))(t)
				for _, e := range entries {
					t.Errorf("it left %s", filepath.Join(dir, e.Name()))
				}
			}
			if strings.Contains(p.Log.String(), "level=WARN") {
				t.Errorf("it warns:\n%s", p.Log)
			}
		})
	}
}
