package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// A place is a server and a home directory in which commands run.
type place struct {
	client.Session
	dir string
	env []string
}

func newPlace(t *testing.T, profile string) *place {
	t.Helper()
	s := client.Open(t, func(c *daemon.Config) { c.Naming = profile })
	dir := t.TempDir()
	return &place{s, dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "KUBECONFIG=" + s.Kubeconfig(), "LANG=C.UTF-8", "TERM=xterm"}}
}

func (p *place) write(name, text string) string {
	p.T.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		p.T.Fatal(err)
	}
	return path
}

func (p *place) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(p.Ctx, client.TroupeBinary(p.T), args...)
	c.Dir, c.Env = p.dir, p.env
	return c
}

func (p *place) run(args ...string) (output string, code int) {
	p.T.Helper()
	c := p.command(args...)
	out, err := c.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		p.T.Fatal(err)
	}
	return string(out), c.ProcessState.ExitCode()
}

func (p *place) expect(code int, output string, args ...string) {
	p.T.Helper()
	if got, exit := p.run(args...); got != output || exit != code {
		p.T.Errorf("troupe %s\ngot  %q, exit code %d\nwant %q, exit code %d", strings.Join(args, " "), got, exit, output, code)
	}
}

// A terminal is a pseudoterminal that runs a command in the foreground.
type terminal struct {
	p        *place
	screen   *screen
	keyboard *os.File
	ended    chan error
	command  *exec.Cmd

	mu  sync.Mutex
	all bytes.Buffer // all output
}

func (t *terminal) Write(text []byte) (int, error) {
	t.mu.Lock()
	t.all.Write(text)
	t.mu.Unlock()
	return t.screen.Write(text)
}

func (t *terminal) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ReplaceAll(t.all.String(), "\r\n", "\n")
}

func (p *place) open(width, height int, c *exec.Cmd) *terminal {
	p.T.Helper()
	end, keyboard := client.OpenTerminal(p.T)
	t := &terminal{p: p, screen: newScreen(width, height), keyboard: keyboard, ended: make(chan error, 1), command: c}
	t.resize(width, height)
	c.Stdin, c.Stdout, c.Stderr = end, end, end
	client.InTerminal(c)
	if err := c.Start(); err != nil {
		p.T.Fatal(err)
	}
	if err := end.Close(); err != nil { // otherwise reading would not end with the command
		p.T.Fatal(err)
	}
	go func() {
		_, _ = io.Copy(t, keyboard)
		t.ended <- c.Wait()
	}()
	return t
}

// resize changes the size of the terminal and clears the screen, because the command redraws it.
func (t *terminal) resize(width, height int) {
	t.p.T.Helper()
	t.screen.mu.Lock()
	t.screen.width, t.screen.height = width, height
	t.screen.clear()
	t.screen.mu.Unlock()
	if err := client.ResizeTerminal(t.keyboard, width, height); err != nil {
		t.p.T.Fatal(err)
	}
}

func (t *terminal) press(keys string) {
	t.p.T.Helper()
	if _, err := t.keyboard.WriteString(keys); err != nil {
		t.p.T.Fatal(err)
	}
}

func (t *terminal) see(text string) {
	t.p.T.Helper()
	client.Eventually(t.p.T, func() error {
		if all := t.String(); !strings.Contains(all, text) {
			return fmt.Errorf("no %q in\n%s", text, all)
		}
		return nil
	})
}

func (t *terminal) end() int {
	t.p.T.Helper()
	select {
	case err := <-t.ended:
		if err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.p.T.Fatal(err)
		}
		return t.command.ProcessState.ExitCode()
	case <-t.p.Ctx.Done():
		t.p.T.Fatalf("the command goes on:\n%s", t)
		return -1
	}
}

const ctrlC = "\x03"
