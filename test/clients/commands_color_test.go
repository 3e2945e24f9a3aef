package clients

import (
	"bytes"
	"io"
	"os/exec"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestColors checks that diffs are colored on a terminal, unless NO_COLOR is set.
func TestColors(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "platform")
	file := p.write("a.yaml", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {k: v}\n")
	for _, c := range []struct {
		env     []string
		colored bool
	}{{nil, true}, {[]string{"NO_COLOR="}, true}, {[]string{"NO_COLOR=1"}, false}} {
		command := p.command("apply", "-f", file, "--diff", "--dry-run=server")
		command.Env = append(command.Env, c.env...)
		text := onTerminal(t, command)
		if !bytes.Contains(text, []byte("k: v")) || bytes.Contains(text, []byte("\x1b[32m")) != c.colored {
			t.Errorf("%q: %q", c.env, text)
		}
	}
}

func onTerminal(t *testing.T, c *exec.Cmd) []byte {
	t.Helper()
	end, keyboard := client.OpenTerminal(t)
	c.Stdin, c.Stdout, c.Stderr = end, end, end
	client.InTerminal(c)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = end.Close()                 // otherwise reading would not end with the command
	text, _ := io.ReadAll(keyboard) // on Linux, reading ends with EIO
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return text
}
