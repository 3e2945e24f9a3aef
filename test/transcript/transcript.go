package transcript

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// Update is the -update flag, which all suites share.
var Update = flag.Bool("update", false, "write the golden files of the selected tests")

// Options configures a run of transcripts.
type Options struct {
	Profile   string            // naming profile of the server; "" is platform
	Tokens    map[string]string // bearer tokens by user
	Variables map[string]string // values of {name}
}

// Run replays transcripts in parallel against one server. pattern is a directory or a glob.
func Run(t *testing.T, c *client.Client, pattern string, o Options) {
	t.Helper()
	if info, err := os.Stat(pattern); err == nil && info.IsDir() {
		pattern = filepath.Join(pattern, "*.txt")
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no transcripts: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			runFile(t, c, file, o)
		})
	}
}

// RunServer is like Run, but starts a server for the transcripts. change, which may be nil,
// modifies its configuration.
func RunServer(t *testing.T, pattern string, change func(*daemon.Config), o Options) {
	t.Helper()
	s := client.Serve(t, t.TempDir(), func(c *daemon.Config) {
		if o.Profile != "" {
			c.Naming = o.Profile
		}
		if change != nil {
			change(c)
		}
	})
	Run(t, s.Client, pattern, o)
}

// RunInProfiles is like RunServer, but runs the transcripts once per naming profile. Transcripts
// contain names of the platform profile.
func RunInProfiles(t *testing.T, pattern string, change func(*daemon.Config), o Options) {
	t.Helper()
	client.InProfiles(t, func(t *testing.T, profile string) {
		if *Update && profile != client.Profiles[0] {
			return // recorded with the names of the first profile
		}
		o.Profile = profile
		RunServer(t, pattern, change, o)
	})
}

func runFile(t *testing.T, c *client.Client, file string, o Options) {
	blocks, err := parse(file, string(client.ReadFile(t, file)))
	if err != nil {
		t.Fatal(err)
	}
	p := newPlayer(t, c, file, o)
	for _, b := range blocks {
		if b.method == "" {
			p.setDefaults(b)
			continue
		}
		answer, err := p.play(b)
		if err != nil {
			t.Fatalf("%s:%d: %s %s: %v", file, b.line, b.method, b.path, err)
		}
		if *Update {
			b.answer = answer
		} else if failure := p.compare(b, answer); failure != "" {
			t.Errorf("%s:%d: %s %s: %s", file, b.line, b.method, b.path, failure)
		}
	}
	if *Update {
		client.WriteFile(t, file, format(blocks))
	}
}

func (p *player) compare(b *block, answer string) string {
	switch {
	case b.answer == "":
		return "no recorded answer, run with -update; received\n" + answer
	case !p.matches(b.answer, answer):
		return "the answer differs (- recorded, + received):\n" + diff(p.expected(b.answer), canonical(answer))
	}
	return ""
}

// Golden compares got with the golden file at path. With -update, it writes got to the file.
func Golden(t testing.TB, path, got string) {
	t.Helper()
	if *Update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		client.WriteFile(t, path, got)
	}
	if want := string(client.ReadFile(t, path)); got != want {
		t.Errorf("%s differs (- golden, + received):\n%s", path, diff(want, got))
	}
}

// diff returns the lines from the first to the last difference, with context.
func diff(want, got string) string {
	const context = 3
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	first := 0
	for first < min(len(a), len(b)) && a[first] == b[first] {
		first++
	}
	last := 0
	for last < min(len(a), len(b))-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	var lines []string
	add := func(mark string, all []string) {
		for _, line := range all {
			lines = append(lines, mark+line)
		}
	}
	add("  ", a[max(0, first-context):first])
	add("- ", a[first:len(a)-last])
	add("+ ", b[first:len(b)-last])
	add("  ", a[len(a)-last:min(len(a), len(a)-last+context)])
	return strings.Join(lines, "\n")
}
