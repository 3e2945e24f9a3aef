package cluster

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestTables runs the test tables in testdata/cluster, each in its own namespace of one cluster.
// They run sequentially, because killing the daemon affects the whole cluster.
func TestTables(t *testing.T) {
	patterns := []string{"testdata/cluster/*.txt"}
	if built.Get(t).manager != "" {
		patterns = append(patterns, "testdata/cluster/programs/*.txt")
	}
	c := newCluster(t, built.Get(t), 5)
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no tables (%v)", pattern, err)
		}
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { play(t, c, file) })
		}
	}
}

func play(t *testing.T, c *testCluster, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	namespace := strings.TrimSuffix(filepath.Base(file), ".txt")
	if out, err := c.shell("default", "kubectl create namespace "+namespace); err != nil {
		t.Fatal(out)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		want, command, waits := strings.Cut(line, " = ")
		failing, fails := strings.CutPrefix(line, "fails ")
		load, loads := strings.CutPrefix(line, "load ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case line == "kill":
			c.restart(t, built.Get(t).troupe)
		case loads:
			n, err := strconv.ParseInt(load, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			c.metrics.load.Store(n)
		case fails:
			if out, err := c.shell(namespace, failing); err == nil {
				t.Fatalf("%s succeeds\n%s", failing, out)
			}
		case waits && !strings.HasPrefix(want, "k "):
			c.eventuallyIn(t, namespace, want, command)
		default:
			if out, err := c.shell(namespace, line); err != nil {
				t.Fatalf("%s: %v\n%s\n%s", line, err, out, c.logs())
			}
		}
	}
	c.checkAlive(t)
	if out, err := c.shell("default", "kubectl delete namespace --timeout=300s "+namespace); err != nil {
		t.Fatalf("the namespace stays: %s\n%s", out, c.logs())
	}
}
