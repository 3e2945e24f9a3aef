package storage

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// processReadyLine is what scripts rely on, as docs/testing.md has it.
var processReadyLine = regexp.MustCompile(`^troupe ready: (https://\S+) \(naming kubernetes\), KUBECONFIG=(.+) in \d+ ms\n$`)

// TestEphemeral: a daemon that keeps nothing serves what it says in its ready line, and leaves no file anywhere.
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
			log := &client.Log{}
			cmd.Stderr = log
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = cmd.Process.Kill() // it may have ended
				_ = cmd.Wait()
			})
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatalf("no ready line: %v\n%s", err, log)
			}
			parts := processReadyLine.FindStringSubmatch(line)
			if parts == nil || named && parts[2] != want {
				t.Fatalf("the ready line is %q", line)
			}
			c, err := client.New(parts[2])
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if c.URL != parts[1] {
				t.Errorf("the kubeconfig is of %s, the ready line of %s", c.URL, parts[1])
			}
			answer, err := c.Create(t.Context(), "/api/v1/namespaces/default/configmaps", client.Object{"metadata": map[string]any{"name": "a"}})
			if err != nil || answer.Code != 201 {
				t.Fatalf("%v, %v", answer, err)
			}
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("after SIGTERM: %v\n%s", err, log)
			}
			for _, dir := range []string{working, temporary} {
				entries, err := os.ReadDir(dir)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					t.Errorf("it left %s", filepath.Join(dir, e.Name()))
				}
			}
			if strings.Contains(log.String(), "level=WARN") {
				t.Errorf("it warns:\n%s", log)
			}
		})
	}
}
