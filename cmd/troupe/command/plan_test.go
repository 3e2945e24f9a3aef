package command

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client"
	"github.com/troupe-api/troupe/internal/must"
)

var update = flag.Bool("update", false, "record the sessions in testdata")

// TestPlan runs the commands in the sessions of testdata/plan, and compares their output and exit
// codes. DIR stands for the session's directory.
func TestPlan(t *testing.T) {
	t.Parallel()
	for _, file := range must.Get(filepath.Glob("testdata/plan/*/session.txt"))(t) {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			compareSession(t, file, func(args string) string { return strings.ReplaceAll(args, "DIR", dir) })
		})
	}
}

// compareSession runs the commands in a session and compares their output. expand replaces the
// placeholders in arguments.
func compareSession(t *testing.T, file string, expand func(args string) string) {
	t.Helper()
	recorded := string(must.Get(os.ReadFile(file))(t))
	var got bytes.Buffer
	for line := range strings.Lines(recorded) {
		if args, ok := strings.CutPrefix(strings.TrimSpace(line), "$ troupe "); ok {
			fmt.Fprintf(&got, "$ troupe %s\n%s", args, variable.ReplaceAllString(runCommand(t, strings.Fields(expand(args))), "$1: …"))
		}
	}
	if *update {
		must.Succeed(t, os.WriteFile(file, got.Bytes(), 0o644))
	}
	if got.String() != recorded && !*update {
		t.Errorf("%s: got\n%s\nwant\n%s", file, &got, recorded)
	}
}

// runCommand runs a command in this process. It returns its output and, if it fails, the error and
// the exit code.
func runCommand(t *testing.T, args []string) string {
	t.Helper()
	var out bytes.Buffer
	c := root(args...)
	c.SetArgs(args)
	c.SetIn(strings.NewReader("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Stdin}\n"))
	c.SetOut(&out)
	c.SetErr(&out)
	c.SetFlagErrorFunc(flagError)
	err := c.ExecuteContext(t.Context())
	var end *client.Error
	if errors.As(err, &end) {
		if end.Text != "" {
			fmt.Fprintln(&out, end.Text)
		}
		fmt.Fprintf(&out, "[exit %d]\n", end.Code)
	} else if err != nil {
		fmt.Fprintf(&out, "error: %v\n[exit 1]\n", err)
	}
	return out.String()
}
