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

// processReadyLine matches the ready line documented for scripts in docs/testing.md.
var processReadyLine = regexp.MustCompile(`^troupe ready: (https://\S+) \(naming kubernetes\), KUBECONFIG=(.+) in \d+ ms\n$`)

// TestEphemeral checks that an ephemeral daemon serves at the address that it prints and leaves no
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

// TestForkCommand forks a running server through its API, its data directory in use, and a backup.
// Each fork must have the server's objects, and changes to it must not affect the server.
func TestForkCommand(t *testing.T) {
	program, dir, temporary := client.TroupeBinary(t), t.TempDir(), t.TempDir()
	data, backup := filepath.Join(dir, "data"), filepath.Join(dir, "backup")
	start := func(args ...string) (*client.Client, *client.Process) {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+temporary)
		p := client.StartDaemon(t, cmd)
		parts := processReadyLine.FindStringSubmatch(p.ReadyLine)
		if parts == nil {
			t.Fatalf("the ready line is %q", p.ReadyLine)
		}
		c := must.Get(client.New(parts[2]))(t)
		t.Cleanup(c.Close)
		return c, p
	}
	const maps = "/api/v1/namespaces/default/configmaps"
	server, _ := start("serve", "--data-dir", data, "--secure-port", "0", "--naming", "kubernetes")
	must.Get(server.Create(t.Context(), maps, client.Object{"metadata": map[string]any{"name": "a"}}))(t)
	kubeconfig := filepath.Join(data, "admin.kubeconfig")
	if out, err := exec.Command(program, "backup", "--kubeconfig", kubeconfig, backup).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, args := range [][]string{{"--kubeconfig", kubeconfig}, {data}, {backup}} {
		fork, p := start(append([]string{"fork"}, args...)...)
		if answer, err := fork.Get(t.Context(), maps+"/a"); err != nil || answer.Code != 200 {
			t.Errorf("fork %v: %v, %v", args, answer, err)
		}
		must.Get(fork.Delete(t.Context(), maps+"/a", nil))(t)
		if answer, err := server.Get(t.Context(), maps+"/a"); err != nil || answer.Code != 200 {
			t.Errorf("after a deletion in fork %v: %v, %v", args, answer, err)
		}
		p.Stop()
	}
	if left := must.Get(filepath.Glob(filepath.Join(temporary, "*")))(t); len(left) > 0 {
		t.Errorf("the forks left %v", left)
	}
}
