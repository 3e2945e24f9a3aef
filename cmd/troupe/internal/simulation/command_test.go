package simulation

import (
	"strings"
	"testing"
	"time"
)

func TestInterpret(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command string // words are separated by ¦
		known   bool
		out     string
		code    int
		slept   time.Duration
	}{
		{"echo¦a  b¦c", true, "a  b c\n", 0, 0},
		{"/bin/true", true, "", 0, 0},
		{"false", true, "", 1, 0},
		{"sleep¦90", true, "", 0, 90 * time.Second},
		{"sleep¦1m", true, "", 0, time.Minute},
		{"sleep¦-1", false, "", 0, 0},
		{"sleep¦soon", false, "", 0, 0},
		{"hostname", true, "h\n", 0, 0},
		{"env", true, "A=1\nHOSTNAME=h\n", 0, 0},
		{"sh¦-c¦echo 'one; two' && exit 3; echo never", true, "one; two\n", 3, 0},
		{"sh¦-c¦false || echo yes; true && echo also", true, "yes\nalso\n", 0, 0},
		{"sh¦-c¦true || echo no\nsleep 2", true, "", 0, 2 * time.Second},
		{"/bin/bash¦-c¦exit 300", true, "", 44, 0},
		{"sh¦-c¦echo $HOME", false, "", 0, 0},
		{`sh¦-c¦echo "$HOME"`, false, "", 0, 0},
		{"sh¦-c¦echo a > b", false, "", 0, 0},
		{"sh¦-c¦echo a; ls", false, "", 0, 0},
		{"sh¦-c¦echo a &", false, "", 0, 0},
		{"sh¦-c¦echo 'a", false, "", 0, 0},
		{"sh¦-c¦while true; do sleep 1; done", false, "", 0, 0},
		{"sh", false, "", 0, 0},
		{"cat", true, "in", 0, 0},
		{"cat¦file", false, "", 0, 0},
		{"", false, "", 0, 0},
	} {
		r, known := interpret(strings.Split(c.command, "¦"), map[string]string{"HOSTNAME": "h", "A": "1"}, strings.NewReader("in"))
		if known != c.known || known && (r.out.String() != c.out || r.code != c.code || r.slept != c.slept) {
			t.Errorf("%s: known %v, wrote %q, ended with %d after %s", c.command, known, r.out.String(), r.code, r.slept)
		}
	}
	if r, known := interpret([]string{"sh", "-c", "echo a; sleep infinity; echo b"}, nil, nil); !known || !r.forever || r.out.String() != "a\n" {
		t.Errorf("an endless command: %v %+v", known, r)
	}
}

func TestLogWindow(t *testing.T) {
	t.Parallel()
	lines := []logLine{{epoch, "a"}, {epoch.Add(time.Second), "b"}, {epoch.Add(2 * time.Second), "c"}}
	for query, want := range map[string]string{
		"":                                 "a\nb\nc\n",
		"tailLines=2":                      "b\nc\n",
		"tailLines=0":                      "",
		"limitBytes=3":                     "a\nb",
		"sinceSeconds=9":                   "b\nc\n",
		"sinceTime=2026-01-02T03:04:07Z":   "c\n",
		"timestamps=true tailLines=1":      "2026-01-02T03:04:07Z c\n",
		"sinceSeconds=9 tailLines=1":       "c\n",
		"tailLines=-1":                     "",
		"limitBytes=-1 sinceTime=nonsense": "",
	} {
		ask := func(name string) string {
			for _, field := range strings.Fields(query) {
				if value, ok := strings.CutPrefix(field, name+"="); ok {
					return value
				}
			}
			return ""
		}
		if got := logWindow(lines, ask, epoch.Add(10*time.Second)); got != want {
			t.Errorf("%s: %q", query, got)
		}
	}
}
