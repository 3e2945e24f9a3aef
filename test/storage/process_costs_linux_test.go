package storage

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// costs holds the machine-independent costs of serial requests.
type costs struct {
	allocations, writes, journal float64 // allocations, write system calls, and journal bytes
}

var counters = regexp.MustCompile(`(?m)^(?:# Mallocs = |troupe_journal_bytes |syscw: )(\d+)`)

func (p *daemonProcess) costs(c caller) costs {
	text := c.must(p.t, 200, "GET", "/debug/pprof/allocs?debug=1", "") + c.must(p.t, 200, "GET", "/metrics", "") +
		string(client.ReadFile(p.t, fmt.Sprintf("/proc/%d/io", p.Cmd.Process.Pid)))
	found := counters.FindAllStringSubmatch(text, -1)
	if len(found) != 3 {
		p.t.Fatalf("%d counters, want 3", len(found))
	}
	var values [3]float64
	for i, m := range found {
		values[i], _ = strconv.ParseFloat(m[1], 64)
	}
	return costs{allocations: values[0], journal: values[1], writes: values[2]}
}

func (c costs) minus(d costs) costs {
	return costs{c.allocations - d.allocations, c.writes - d.writes, c.journal - d.journal}
}

func (c costs) per(operations float64) costs {
	return costs{c.allocations / operations, c.writes / operations, c.journal / operations}
}

// matches reports whether costs are about equal. They vary slightly with caches, pools and batches.
func (c costs) matches(want costs) bool {
	near := func(got, want, share, more float64) bool { return math.Abs(got-want) <= share*want+more }
	return near(c.allocations, want.allocations, 0.06, 4) && near(c.writes, want.writes, 0.1, 0) && near(c.journal, want.journal, 0.05, 16)
}

// TestCosts compares the costs of serial requests with testdata/costs.txt. Update that file if a
// change lowers the costs.
func TestCosts(t *testing.T) {
	const warmUp, count, tries = 100, 200, 4
	p := serveProcess(t, filepath.Join(t.TempDir(), "data"), "--naming", "kubernetes")
	c := p.caller()
	body := func(n int) string {
		return configMap(fmt.Sprint("object-", n), `"text":"`+strings.Repeat("x", 1024)+fmt.Sprintf(`","n":"%d"`, n))
	}
	path := func(n int) string { return fmt.Sprint(configMaps, "/object-", n) }
	round := 0
	for _, line := range strings.Split(strings.TrimSpace(string(client.ReadFile(t, "testdata/costs.txt"))), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var name string
		var want costs
		if _, err := fmt.Sscan(line, &name, &want.allocations, &want.writes, &want.journal); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		round++
		send := map[string]func(n int){
			"create": func(n int) { c.must(t, 201, "POST", configMaps, body(n)) },
			"get":    func(n int) { c.must(t, 200, "GET", path(n), "") },
			"list":   func(int) { c.must(t, 200, "GET", configMaps+"?limit=100", "") },
			"update": func(n int) { c.must(t, 200, "PUT", path(n), strings.Replace(body(n), `"n":"`, `"n":"new `, 1)) },
			"patch":  func(n int) { c.must(t, 200, "PATCH", path(n), fmt.Sprintf(`{"data":{"n":"patch %d"}}`, n)) },
			"delete": func(n int) { c.must(t, 200, "DELETE", path(n), "") },
		}[name]
		for n := range warmUp {
			send(n)
		}
		// Try several times, because background work adds to the costs, especially on a slow
		// machine.
		var got costs
		matches := false
		for try := range tries {
			idle := p.costs(c) // reading the counters has a cost, too
			before := p.costs(c)
			for n := range count {
				send(warmUp + try*count + n)
			}
			got = p.costs(c).minus(before).minus(before.minus(idle)).per(count)
			matches = matches || got.matches(want)
		}
		if !matches {
			t.Errorf("%s costs %+v, want %+v; the line is\n%s %.0f %.2f %.0f", name, got, want, name, got.allocations, got.writes, got.journal)
		}
	}
	if round != 6 {
		t.Errorf("%d operations, want 6", round)
	}
}
