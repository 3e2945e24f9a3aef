package command

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// TestTopScreen: one look fits a narrow terminal, whatever the figures are.
func TestTopScreen(t *testing.T) {
	begin := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	before := read(t, `apiserver_request_total{verb="GET",code="200"} 100
process_cpu_seconds_total 1
`, begin)
	text := `troupe_info{version="1.2",naming="platform"} 1
troupe_uptime_seconds 3723.5
apiserver_request_total{verb="GET",code="200"} 3000000
apiserver_request_total{verb="PATCH",code="200"} 20
process_cpu_seconds_total 2
troupe_resource_version 123456789012
`
	for _, name := range []string{"a", "b", "customresourcedefinitions.apiextensions.platform.io", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
		text += `troupe_objects{resource="` + name + `"} 12345678` + "\n" + `troupe_history_bytes{resource="` + name + `"} 123456789` + "\n"
	}
	p := statusReport{server: "https://a-rather-long-name-of-a-host.example.com:6443", before: before, after: read(t, text, begin.Add(2*time.Second))}
	for _, height := range []int{0, 15, 1} {
		var b bytes.Buffer
		p.topScreen(&b, 80, height, "it is starting")
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		for _, line := range lines {
			if len([]rune(line)) > 80 {
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
		if height > 0 && len(lines) > height {
			t.Errorf("%d lines for a terminal of %d", len(lines), height)
		}
		if height == 1 {
			continue // there is no room for anything
		}
		for _, want := range []string{"GET 1499950/s  PATCH 10/s", "50.0% of a CPU", "NO ANSWER: it is starting", "at version 123,456,789,012"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
	}
}

// TestTop: it looks as often as it is told, and refuses to be a load.
func TestTop(t *testing.T) {
	config := daemon.Default()
	config.DataDir, config.Serving.SecurePort = t.TempDir(), 0
	d, err := daemon.New(config, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	var out bytes.Buffer
	c := root()
	c.SetArgs([]string{"top", "--kubeconfig", d.Kubeconfig(), "--interval", "100ms", "--count", "2"})
	c.SetOut(&out)
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "COLLECTION"); n != 2 || strings.Contains(out.String(), "\x1b") {
		t.Errorf("%d looks:\n%s", n, out.String())
	}
	c = root()
	c.SetArgs([]string{"top", "--kubeconfig", d.Kubeconfig(), "--interval", "1ms"})
	if err := c.Execute(); err == nil || !strings.Contains(err.Error(), "100ms at least") {
		t.Error(err)
	}
}
