package extension

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestKubectl runs the kubectl commands that need a kubelet over SPDY and WebSocket.
func TestKubectl(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newCluster(t, "127.0.0.1")
	client.WriteFile(t, filepath.Join(dir, "file"), "content")
	for _, webSockets := range []string{"true", "false"} {
		command := func(args ...string) *exec.Cmd {
			cmd := exec.CommandContext(t.Context(), client.KubectlBinary(t), args...)
			cmd.Dir, cmd.Env = dir, []string{
				"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "KUBECONFIG=" + c.server.Kubeconfig(),
				"KUBECTL_REMOTE_COMMAND_WEBSOCKETS=" + webSockets, "KUBECTL_PORT_FORWARD_WEBSOCKETS=" + webSockets,
			}
			return cmd
		}
		for _, try := range []struct{ command, want string }{
			{"logs one --timestamps --tail=3", "log /containerLogs/default/one/main?stream=All&tailLines=3&timestamps=true\n"},
			{"logs two -c side --since=1m", "log /containerLogs/default/two/side?sinceSeconds=60&stream=All\n"},
			{"exec one -- echo hello", "hello\n"},
			{"exec one -- false", "command terminated with exit code 1\n"},
			{"cp file one:" + dir + "/there", ""},
			{"cp one:" + dir + "/there back", ""},
			{"exec one -- cat " + dir + "/there " + dir + "/back", "contentcontent"},
			{"exec unbound -- true", "error: unable to upgrade connection: pod unbound does not have a host assigned\n"},
			{"logs two -c none", "error: container none is not valid for pod two out of: main, side\n"},
			{"get --raw /api/v1/nodes/here/proxy/metrics", "Error from server (BadRequest): address not allowed\n"},
			{"attach two -c side", "attached\n"},
		} {
			out, err := command(strings.Fields(try.command)...).CombinedOutput()
			if got := withoutNotes(string(out)); got != try.want {
				t.Errorf("WebSockets %s: kubectl %s\ngot  %q\nwant %q, %v", webSockets, try.command, got, try.want, err)
			}
		}
		forwardPort(t, command)
	}
}

// withoutNotes removes hints of tar and kubectl from their output.
func withoutNotes(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "tar: ") && !strings.HasPrefix(line, "If you don't see") && !strings.HasPrefix(line, "All commands and output") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func forwardPort(t *testing.T, command func(...string) *exec.Cmd) {
	t.Helper()
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "behind") }))
	defer behind.Close()
	u, err := url.Parse(behind.URL)
	must(t, err)
	cmd := command("port-forward", "pod/one", ":"+u.Port(), "--address=127.0.0.1")
	out, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Stderr = t.Output()
	must(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	line, err := bufio.NewReader(out).ReadString('\n') // Forwarding from 127.0.0.1:1234 -> 80
	must(t, err)
	address := strings.Fields(line)[2]
	r, err := http.NewRequestWithContext(context.Background(), "GET", "http://"+address, nil)
	must(t, err)
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); string(body) != "behind" || err != nil {
		t.Errorf("%q %v", body, err)
	}
}
