package proxying

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
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestKubectl runs the commands of kubectl that need a kubelet, by both protocols.
func TestKubectl(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary, err := client.BuildKubectl(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, "127.0.0.1")
	must(t, os.WriteFile(filepath.Join(dir, "file"), []byte("content"), 0o600))
	for _, webSockets := range []string{"true", "false"} {
		command := func(args ...string) *exec.Cmd {
			cmd := exec.CommandContext(t.Context(), binary, args...)
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
			{"exec unbound -- true", "Error from server (BadRequest): pod unbound does not have a host assigned\n"},
			{"logs two -c none", "error: container none is not valid for pod two\n"},
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

// withoutNotes is what kubectl has said, less what it says about itself.
func withoutNotes(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "tar: ") && !strings.HasPrefix(line, "If you don't see") && !strings.HasPrefix(line, "All commands and output") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// forwardPort reaches a server through kubectl port-forward.
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

// TestTroupe runs the commands of troupe that need a kubelet.
func TestTroupe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary, err := client.BuildTroupe(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, "127.0.0.1")
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), binary, args...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "KUBECONFIG=" + c.server.Kubeconfig()}
		return cmd
	}
	for _, try := range []struct {
		command, stdin, want string
		code                 int
	}{
		{"logs one --timestamps --tail=3", "", "log /containerLogs/default/one/main?stream=All&tailLines=3&timestamps=true\n", 0},
		{"logs two -c side --since=1m", "", "log /containerLogs/default/two/side?sinceSeconds=60&stream=All\n", 0},
		{"logs two --prefix", "", "Defaulted container \"main\" out of: main, side\n[pod/two/main] log /containerLogs/default/two/main?stream=All\n", 0},
		{"exec one -- echo hello", "", "hello\n", 0},
		{"exec pod/one -c main -- echo hello", "", "hello\n", 0},
		{"exec -i one -- cat", "some text", "some text", 0},
		{"exec one -- cat", "some text", "", 0}, // which is not passed on
		{"exec one -- false", "", "command terminated with exit code 1\n", 1},
		{"exec one -- sh -c exit${IFS}7", "", "command terminated with exit code 7\n", 7},
		{"exec one -- sh -c echo${IFS}1;echo${IFS}2>&2", "", "1\n2\n", 0},
		{"exec unbound -- true", "", "Error from server (BadRequest): pod unbound does not have a host assigned\n", 1},
		{"exec none -- true", "", "Error from server (NotFound): pods \"none\" not found\n", 1},
		{"logs two -c none", "", "error: container none is not valid for pod two: it has main, side\n", 1},
		{"get --raw /api/v1/nodes/here/proxy/metrics", "", "Error from server (BadRequest): address not allowed\n", 1},
		{"port-forward unbound 80", "", "Error from server (BadRequest): pod unbound does not have a host assigned\n", 1},
		{"port-forward one nothing", "", "error: \"nothing\" names no port: it is PORT, LOCAL:PORT or :PORT, a number or a name of a container's port\n", 1},
	} {
		cmd := command(strings.Fields(try.command)...)
		cmd.Stdin = strings.NewReader(try.stdin)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		if code := cmd.ProcessState.ExitCode(); string(out) != try.want && !sameLines(string(out), try.want) || code != try.code {
			t.Errorf("troupe %s\ngot  %q, exit code %d\nwant %q, exit code %d", try.command, out, code, try.want, try.code)
		}
	}
	forwardPort(t, command)
}

// sameLines tells whether two texts have the same lines: those of standard output and error come in any order.
func sameLines(a, b string) bool {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
