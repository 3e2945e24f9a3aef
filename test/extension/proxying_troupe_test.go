package extension

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// A commander runs troupe as a client of a cluster.
type commander struct {
	t      *testing.T
	c      *cluster
	binary string
	dir    string // working directory and home
}

func newCommander(t *testing.T) *commander {
	t.Helper()
	m := &commander{t: t, dir: t.TempDir()}
	m.binary = client.TroupeBinary(t)
	m.c = newCluster(t, "127.0.0.1")
	return m
}

func (m *commander) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(m.t.Context(), m.binary, args...)
	cmd.Dir, cmd.Env = m.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir, "KUBECONFIG=" + m.c.server.Kubeconfig()}
	return cmd
}

func (m *commander) expect(command, stdin, want string, code int) {
	m.t.Helper()
	cmd := m.command(strings.Fields(command)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		m.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); string(out) != want && !sameLines(string(out), want) || got != code {
		m.t.Errorf("troupe %s\ngot  %q, exit code %d\nwant %q, exit code %d", command, out, got, want, code)
	}
}

// sameLines reports whether two texts contain the same lines in any order, because standard output
// and standard error interleave randomly.
func sameLines(a, b string) bool {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// TestTroupe runs the troupe commands that need a kubelet.
func TestTroupe(t *testing.T) {
	t.Parallel()
	m := newCommander(t)
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
		{"exec one -- cat", "some text", "", 0}, // without -i, the input is not sent
		{"exec one -- false", "", "command terminated with exit code 1\n", 1},
		{"exec one -- sh -c exit${IFS}7", "", "command terminated with exit code 7\n", 7},
		{"exec one -- sh -c echo${IFS}1;echo${IFS}2>&2", "", "1\n2\n", 0},
		{"exec -q two -- sh -c echo${IFS}1;echo${IFS}2>&2", "", "1\n2\n", 0},
		{"exec -it one -- cat", "text", "Unable to use a TTY - input is not a terminal or the right kind of file\ntext", 0},
		{"exec unbound -- true", "", "Error from server (BadRequest): pod unbound does not have a host assigned\n", 1},
		{"exec none -- true", "", "Error from server (NotFound): pods \"none\" not found\n", 1},
		{"attach one", "", "attached\n", 0},
		{"attach -i two", "some text", "Defaulted container \"main\" out of: main, side\nsome text", 0},
		{"attach -iq two", "some text", "some text", 0},
		{"attach one -c none", "", "error: container none is not valid for pod one: it has main\n", 1},
		{"attach one two", "", "error: accepts 1 arg(s), received 2\nUsage: troupe attach POD | TYPE/NAME [-c CONTAINER] [flags]\n", 1},
		{"logs two -c none", "", "error: container none is not valid for pod two: it has main, side\n", 1},
		{"get --raw /api/v1/nodes/here/proxy/metrics", "", "Error from server (BadRequest): address not allowed\n", 1},
		{"port-forward unbound 80", "", "Error from server (BadRequest): pod unbound does not have a host assigned\n", 1},
		{"port-forward one nothing", "", "error: invalid port \"nothing\": must be PORT, LOCAL:PORT or :PORT, where PORT is a number or the name of a container port\n", 1},
	} {
		m.expect(try.command, try.stdin, try.want, try.code)
	}
	forwardPort(t, m.command)
}

// TestTroupeAtTerminal checks that exec forwards the terminal size and every key. Without input,
// Ctrl-C ends the command with exit code 130.
func TestTroupeAtTerminal(t *testing.T) {
	t.Parallel()
	m := newCommander(t)
	for _, try := range []struct {
		command, first, keys, want string
		code                       int
	}{
		{"exec -it one -- size", "", "", "123x45\n", 0},                    // reported by the container
		{"exec -it one -- head -c 5", "", "a\x03b\x04c", "a\x03b\x04c", 0}, // the client handles none of these keys
		{"exec -it one -- sh -c exit${IFS}9", "", "", "command terminated with exit code 9\r\n", 9},
		{"attach -it one", "try pressing enter.\r\n", "hello", "hello", 130}, // runs until it is terminated
		{"logs -f one", "follow=true&stream=All\r\n", "\x03", "^C", 130},
		{"exec one -- sleep 60", "", "\x03", "^C", 130},
		{"port-forward one :80", "-> 80\r\n", "\x03", "^C", 130},
	} {
		t.Run(try.command, func(t *testing.T) {
			end, keyboard := client.OpenTerminal(t)
			must(t, client.ResizeTerminal(keyboard, 123, 45))
			before, _, err := client.TerminalMode(end)
			must(t, err)
			cmd := m.command(strings.Fields(try.command)...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = end, end, end
			client.InTerminal(cmd)
			opened := m.c.kubelet.opened.Load()
			must(t, cmd.Start())
			read := &untilText{from: keyboard, want: try.first}
			must(t, read.run())
			if try.keys != "" {
				client.Eventually(t, func() error { // wait for the container
					if m.c.kubelet.opened.Load() == opened {
						return errors.New("nothing is open")
					}
					return nil
				})
				if strings.Contains(try.command, "-it ") {
					awaitRaw(t, end)
				}
				_, err := keyboard.WriteString(try.keys)
				must(t, err)
			}
			if strings.HasPrefix(try.command, "attach") {
				read.want = try.want
				must(t, read.run())
				must(t, cmd.Process.Signal(syscall.SIGTERM))
			} else {
				read.want = try.want
				must(t, read.run())
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != try.code {
				t.Errorf("exit code %d after %q", code, read.all)
			}
			after, _, err := client.TerminalMode(end)
			must(t, err)
			if after != before {
				t.Errorf("the terminal is not as before: %+v, %+v", after, before)
			}
		})
	}
}

func awaitRaw(t *testing.T, end *os.File) {
	t.Helper()
	client.Eventually(t, func() error {
		_, raw, err := client.TerminalMode(end)
		if err == nil && !raw {
			err = errors.New("Ctrl-C is a signal")
		}
		return err
	})
}

// An untilText reads a file until a text appears.
type untilText struct {
	from *os.File
	want string
	all  []byte
}

func (u *untilText) run() error {
	if err := u.from.SetReadDeadline(time.Now().Add(client.Watchdog)); err != nil {
		return err
	}
	for b := make([]byte, 1); !bytes.HasSuffix(u.all, []byte(u.want)); {
		if _, err := u.from.Read(b); err != nil {
			return fmt.Errorf("no %q in %q: %w", u.want, u.all, err)
		}
		u.all = append(u.all, b[0])
	}
	return nil
}
