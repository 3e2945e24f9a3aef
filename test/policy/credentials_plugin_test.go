package policy

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// pluginVariable is an environment variable with the directory of a credential plugin. If it is
// set, the test binary runs as this plugin.
const pluginVariable = "TROUPE_TEST_PLUGIN"

// given is the input of a plugin run.
type given struct {
	Args  []string
	Env   map[string]string
	Stdin string
	Dir   string
}

// runPlugin records its input in dir/run.N and prints the content of dir/answer. If dir contains
// certain other files, it hangs, reads standard input, or fails.
func runPlugin(dir string) int {
	g := given{Args: os.Args, Env: map[string]string{}}
	for _, e := range os.Environ() {
		name, value, _ := strings.Cut(e, "=")
		g.Env[name] = value
	}
	if _, err := os.Stat(filepath.Join(dir, "hang")); err == nil {
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt)
		<-interrupted
	}
	if _, err := os.Stat(filepath.Join(dir, "readstdin")); err == nil {
		line := make([]byte, 100)
		n, _ := io.ReadAtLeast(os.Stdin, line, 1)
		g.Stdin = string(line[:n])
	}
	text, err := json.Marshal(g)
	if err != nil {
		return 3
	}
	for n := 0; ; n++ {
		f, err := os.OpenFile(filepath.Join(dir, "run."+strconv.Itoa(n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			continue
		}
		if _, err := f.Write(text); err != nil || f.Close() != nil {
			return 3
		}
		break
	}
	if _, err := os.Stat(filepath.Join(dir, "flood")); err == nil {
		for {
			if _, err := fmt.Println(strings.Repeat("x", 1000)); err != nil {
				return 4
			}
		}
	}
	answer, err := os.ReadFile(filepath.Join(dir, "answer"))
	if err != nil {
		return 3
	}
	fmt.Fprintln(os.Stderr, "a word to people")
	fmt.Print(string(answer))
	if text, err := os.ReadFile(filepath.Join(dir, "exit")); err == nil {
		code, _ := strconv.Atoi(string(text))
		return code
	}
	return 0
}

// A plugin is a directory with a credential plugin and the kubeconfig that uses it.
type plugin struct {
	t   *testing.T
	dir string // working directory, with the kubeconfig
}

// newPlugin creates a directory in which bin/plugin is a symlink to the test binary.
func newPlugin(t *testing.T) *plugin {
	t.Helper()
	p := &plugin{t, t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(p.dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(p.dir, "bin", "plugin")); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *plugin) write(name, text string) {
	p.t.Helper()
	client.WriteFile(p.t, filepath.Join(p.dir, name), text)
}

func (p *plugin) answer(apiVersion, status string) {
	p.t.Helper()
	p.write("answer", fmt.Sprintf(`{"kind":"ExecCredential","apiVersion":%q,"status":{%s}}`, apiVersion, status))
}

func (p *plugin) runs() int {
	p.t.Helper()
	all, err := filepath.Glob(filepath.Join(p.dir, "run.*"))
	if err != nil {
		p.t.Fatal(err)
	}
	return len(all)
}

func (p *plugin) given() (g given) {
	p.t.Helper()
	text := client.ReadFile(p.t, filepath.Join(p.dir, "run.0"))
	client.Decode(p.t, text, &g)
	return g
}

// apiVersion is the stable version of the credential plugin API.
const apiVersion = "client.authentication.platform.io/v1"

// config writes a kubeconfig for a user of this plugin, and returns its path. cluster and exec are
// YAML fields.
func (p *plugin) config(cluster, exec string) string {
	p.t.Helper()
	p.write("config", fmt.Sprintf(`clusters: [{name: c, cluster: {%s}}]
users: [{name: u, user: {exec: {command: ./bin/plugin, env: [{name: %s, value: "%s"}], %s}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, cluster, pluginVariable, p.dir, exec))
	return filepath.Join(p.dir, "config")
}

// never contains the exec fields for a plugin that does not read standard input.
const never = "apiVersion: " + apiVersion + ", interactiveMode: Never"
