package command

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
)

// TestVersion checks the output of troupe version, which omits most subcommands for a fast start.
func TestVersion(t *testing.T) {
	run := func(args ...string) (string, error) {
		var out strings.Builder
		args = append([]string{"version"}, args...)
		c := root(args...)
		c.SetArgs(args)
		c.SetOut(&out)
		err := c.Execute()
		return out.String(), err
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	for output, want := range map[string]string{
		"text": `^troupe ` + daemon.Version + `\n(commit +\w+.*\ndate +\S+\n)?go +` + runtime.Version() + `\nplatform +` + platform + `\nkubernetes +v1\.\d+\.\d+\n$`,
		"json": `^{\n  "version": "` + daemon.Version + `",\n[^}]*"goVersion": "` + runtime.Version() + `",\n  "platform": "` + platform + `",\n  "kubernetesVersion": "v1[.0-9]+"\n}\n$`,
	} {
		if got, err := run("--output", output); err != nil || !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: got %s, %v, want %s", output, got, err, want)
		}
	}
	if first, err := run(); err != nil || !strings.HasPrefix(first, "troupe "+daemon.Version+"\n") {
		t.Errorf("without flags: got %s, %v", first, err)
	}
	if _, err := run("-o", "xml"); err == nil || !strings.Contains(err.Error(), `--output: "xml": must be text or json`) {
		t.Errorf("--output xml: %v", err)
	}
}

// TestHelpCommands checks that the commands in help texts parse, and that their files in the data
// directory exist.
func TestHelpCommands(t *testing.T) {
	config := daemon.Default()
	config.DataDir, config.Serving.SecurePort = filepath.Join(t.TempDir(), "data"), 0
	d := must.Get(daemon.New(config, t.Output()))(t)
	must.Succeed(t, d.Start())
	defer func() {
		if err := d.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	files := regexp.MustCompile(`(?:troupe|cluster)-data/\S+`)
	commands := 0
	for _, c := range append(root().Commands(), root()) {
		for line := range strings.Lines(strings.ReplaceAll(c.Long, "\\\n", "")) {
			if !strings.HasPrefix(line, "  ") { // not a command
				continue
			}
			commands++
			if args := strings.Fields(line); args[0] == "troupe" {
				if err := parse(args[1:]); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
			for _, file := range files.FindAllString(line, -1) {
				_, inside, _ := strings.Cut(file, "/")
				if _, err := os.Stat(filepath.Join(config.DataDir, inside)); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
		}
	}
	if commands < 6 {
		t.Errorf("found only %d commands in the help texts", commands)
	}
	if !strings.Contains(serveHelp, d.URL()[:strings.LastIndex(d.URL(), ":")]+":6443/") || daemon.Default().Serving.SecurePort != 6443 {
		t.Error("the help of serve names another address than the default one")
	}
}

// TestDocumentedCommands checks that the troupe commands in the docs' code blocks parse. TestDocs
// in test/clients runs most of them.
func TestDocumentedCommands(t *testing.T) {
	files := must.Get(filepath.Glob("../../../docs/*.md"))(t)
	command := regexp.MustCompile(`(?m)^ *(?:\$ )?(?:bin/)?troupe( [a-z][^#&>|\n]*)`)
	commands := 0
	for _, file := range append(files, "../../../README.md", "../../../docs/deploy/README.md") {
		text := strings.ReplaceAll(string(must.Get(os.ReadFile(file))(t)), "\\\n", "")
		for i, block := range strings.Split(text, "```") {
			if i%2 == 0 || !strings.HasPrefix(block, "sh\n") && !strings.HasPrefix(block, "console\n") {
				continue
			}
			for _, m := range command.FindAllStringSubmatch(block, -1) {
				if strings.HasPrefix(m[1], " ready: ") { // output
					continue
				}
				commands++
				if err := parse(strings.Fields(strings.ReplaceAll(m[1], "'", ""))); err != nil {
					t.Errorf("%s: troupe%s: %v", file, m[1], err)
				}
			}
		}
	}
	if commands < 20 {
		t.Errorf("found only %d commands in the documents", commands)
	}
}

func parse(args []string) error {
	top := root()
	top.SetOut(io.Discard)
	c, rest, err := top.Find(args)
	if err != nil {
		return err
	}
	if err := c.ParseFlags(rest); err != nil && err != pflag.ErrHelp {
		return err
	}
	return c.ValidateArgs(c.Flags().Args())
}

func TestServeHelp(t *testing.T) {
	help := func(flag string) string {
		var out strings.Builder
		top := root()
		top.SetOut(&out)
		top.SetArgs([]string{"serve", flag})
		must.Succeed(t, top.Execute())
		return out.String()
	}
	main, all := help("--help"), help("--help=all")
	if n := strings.Count(main, "\n"); n > 200 {
		t.Errorf("the help of serve has %d lines", n)
	}
	if !strings.Contains(main, "\nLimits:\n") || strings.Contains(main, "--actor-strategy") || !strings.Contains(all, "--actor-strategy") {
		t.Error("the help of serve lacks the limits, or --help=all the actors")
	}
}
