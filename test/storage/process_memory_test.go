package storage

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// statusOf returns a field of /proc/PID/status, such as VmHWM, in bytes.
func (p *daemonProcess) statusOf(name string) int64 {
	p.t.Helper()
	text := client.ReadFile(p.t, fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	match := regexp.MustCompile(name + `:\s+(\d+) kB`).FindStringSubmatch(string(text))
	if match == nil {
		p.t.Fatalf("no %s in\n%s", name, text)
	}
	n, _ := strconv.ParseInt(match[1], 10, 64)
	return n << 10
}

// sampleMemory samples the anonymous memory of the process. It excludes file pages, which the
// kernel can evict. The returned function stops sampling and returns the peak in bytes.
func (p *daemonProcess) sampleMemory() (peak func() int64) {
	stop, most := make(chan struct{}), make(chan int64)
	go func() {
		ticker := time.NewTicker(2 * time.Millisecond)
		defer ticker.Stop()
		for seen := int64(0); ; {
			seen = max(seen, p.statusOf("RssAnon"))
			select {
			case <-stop:
				most <- seen
				return
			case <-ticker.C:
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-most
	}
}

// metric returns the sum of all series of a metric.
func (c caller) metric(t *testing.T, name string) (sum float64) {
	t.Helper()
	for _, line := range strings.Split(c.must(t, 200, "GET", "/metrics", ""), "\n") {
		series, value, _ := strings.Cut(line, " ")
		if series == name || strings.HasPrefix(series, name+"{") {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(line)
			}
			sum += n
		}
	}
	return sum
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	client.WriteFile(t, path, text)
	return "--config=" + path
}

// notes is the collection path of custom resources with the same data fields as ConfigMaps.
const notes = "/apis/example.com/v1/namespaces/default/notes"

const noteDefinition = `{"metadata":{"name":"notes.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
	"names":{"plural":"notes","singular":"note","kind":"Note","listKind":"NoteList"},
	"versions":[{"name":"v1","served":true,"storage":true,"selectableFields":[{"jsonPath":".data.n"}],"schema":{"openAPIV3Schema":{"type":"object",
		"properties":{"data":{"type":"object","properties":{"n":{"type":"string"},"x":{"type":"string"}}}}}}}]}}`

// churnProcess creates objects of a given size and updates them round-robin, with a few writers.
func churnProcess(t *testing.T, p *daemonProcess, path string, live, size, updates int) {
	t.Helper()
	const writers = 8
	var wait sync.WaitGroup
	var fault atomic.Pointer[error]
	for worker := range writers {
		c := p.caller()
		wait.Go(func() {
			text := strings.Repeat("x", size)
			for n := worker; n < updates && fault.Load() == nil; n += writers {
				name := fmt.Sprint("c", n%live)
				body := fmt.Sprintf(`{"metadata":{"name":%q},"data":{"n":"%d","x":"%s"}}`, name, n, text)
				if path == notes {
					body = `{"apiVersion":"example.com/v1","kind":"Note",` + body[1:]
				}
				code, answer, err := 404, "", error(nil)
				if n >= live {
					code, answer, err = c.do("PATCH", path+"/"+name, body)
				}
				if err == nil && code == 404 {
					code, answer, err = c.do("POST", path, body)
				}
				if err == nil && code != 200 && code != 201 && code != 409 {
					err = fmt.Errorf("%d %s", code, answer)
				}
				if err != nil {
					fault.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	wait.Wait()
	if err := fault.Load(); err != nil {
		t.Fatal(*err)
	}
}

// TestRecoveryNeedsNoMoreThanServing restarts a daemon whose journal is many times larger than its
// objects and history. Recovery must not need more memory than serving, and watches must be able to
// resume from the start of the history.
func TestRecoveryNeedsNoMoreThanServing(t *testing.T) {
	for _, test := range []struct {
		name, path          string
		live, size, updates int
		long                int // updates in a soak test
	}{
		{"large objects", configMaps, 60, 100_000, 300, 10_000},
		{"small objects", configMaps, 1000, 2000, 0, 400_000},
		{"custom objects", notes, 60, 100_000, 300, 10_000},
	} {
		if soak {
			test.updates = test.long
		}
		if test.updates == 0 {
			continue // small objects are meaningful only in large numbers
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			config := writeConfig(t, "watch-history-bytes: 8Mi\njournal-sync: none\nsnapshot-journal-bytes: 64Gi\n")
			p := serveProcess(t, filepath.Join(t.TempDir(), "data"), config)
			if test.path == notes {
				p.caller().must(t, 201, "POST", "/apis/apiextensions.platform.io/v1/customresourcedefinitions", noteDefinition)
			}
			churnProcess(t, p, test.path, test.live, test.size, test.updates)
			served, before := p.statusOf("VmRSS"), p.caller().states(t, test.path)
			p.Kill()
			p = serveProcess(t, p.dir, config)
			peak := p.statusOf("VmHWM")
			t.Logf("when it served %d MiB, peak when it came back %d MiB, then %d MiB", served>>20, peak>>20, p.statusOf("VmRSS")>>20)
			if soak && peak > served*13/10 {
				t.Errorf("coming back took %d MiB, serving had taken %d MiB", peak>>20, served>>20)
			}
			after := p.caller().states(t, test.path)
			if len(before) != test.live || fmt.Sprint(before) != fmt.Sprint(after) {
				t.Errorf("%d objects of %d are back, or other ones", len(after), test.live)
			}
			if n := p.caller().metric(t, "troupe_history_bytes"); n > 8<<20 || n < 7<<20 {
				t.Errorf("%.0f bytes of history", n)
			}
			checkResumption(t, p.caller(), test.path)
		})
	}
}

// checkResumption finds the start of the watch history and reads all events from there. Each update
// must occur once.
func checkResumption(t *testing.T, c caller, path string) {
	t.Helper()
	newest := uint64(0)
	for _, state := range c.states(t, path) {
		version, _, _ := strings.Cut(state, " ")
		n, _ := strconv.ParseUint(version, 10, 64)
		newest = max(newest, n)
	}
	low, high := uint64(1), newest // the first version has expired, and the newest has not
	for low+1 < high {
		if middle := (low + high) / 2; watchable(t, c, path, middle) {
			high = middle
		} else {
			low = middle
		}
	}
	if low == 1 || high > newest-20 {
		t.Errorf("the history begins at %d of %d", high, newest)
	}
	r := must.Get(c.http.Get(fmt.Sprintf("%s%s?watch=1&resourceVersion=%d&timeoutSeconds=3600", c.url, path, high)))(t)
	defer r.Body.Close()
	// The history contains only updates of the test's objects, and a few writes by controllers.
	const mostOthers = 5
	events, last, others := json.NewDecoder(r.Body), high, uint64(0)
	for last < newest {
		var e struct {
			Type   string
			Object processObject
		}
		if err := events.Decode(&e); err != nil {
			t.Fatalf("after %d of %d: %v", last, newest, err)
		}
		v := e.Object.version()
		if e.Type != "MODIFIED" || v <= last {
			t.Fatalf("%s of version %d follows %d", e.Type, v, last)
		}
		if others += v - last - 1; others > mostOthers {
			t.Fatalf("%d versions are missing up to %d", others, v)
		}
		last = v
	}
}

// watchable reports whether a watch can resume from a version.
func watchable(t *testing.T, c caller, path string, version uint64) bool {
	t.Helper()
	r := must.Get(c.http.Get(fmt.Sprintf("%s%s?watch=1&resourceVersion=%d&timeoutSeconds=3600", c.url, path, version)))(t)
	defer r.Body.Close()
	var e struct{ Type string }
	if r.StatusCode == http.StatusOK {
		must.Succeed(t, json.NewDecoder(r.Body).Decode(&e))
	}
	return r.StatusCode == http.StatusOK && e.Type != "ERROR"
}

// TestHistoryIsBounded checks that the watch history of large objects never exceeds the configured
// size, which all kinds share.
func TestHistoryIsBounded(t *testing.T) {
	p := serveProcess(t, filepath.Join(t.TempDir(), "data"), writeConfig(t, "watch-history-bytes: 8Mi\njournal-sync: none\n"))
	c, text := p.caller(), strings.Repeat("x", 500_000)
	collections := []string{configMaps, "/api/v1/namespaces/default/secrets", "/api/v1/namespaces/default/podtemplates"}
	body := func(n int) string {
		if n%3 == 2 {
			return fmt.Sprintf(`{"metadata":{"name":"a","annotations":{"n":"%d"}},"template":{"metadata":{"annotations":{"x":"%s"}},"spec":{"containers":[{"name":"a","image":"a"}]}}}`, n, text[:200_000])
		}
		return fmt.Sprintf(`{"metadata":{"name":"a","annotations":{"n":"%d"}},"data":{"x":"%s"}}`, n, text)
	}
	for n, path := range collections {
		c.must(t, 201, "POST", path, body(n))
	}
	most, updates := 0.0, 60
	if soak {
		updates = 300
	}
	for n := range updates {
		c.must(t, 200, "PUT", collections[n%3]+"/a", body(n))
		if n%10 == 0 {
			most = max(most, c.metric(t, "troupe_history_bytes"))
		}
	}
	if most > 8<<20 || most < 6<<20 {
		t.Errorf("up to %.1f MiB of history, of 8", most/(1<<20))
	}
	if soak {
		eventually(t, "memory comes to rest", func() bool { return p.statusOf("VmRSS") < 150<<20 })
	}
	p.Stop()
}

// TestOwnersOfLargeObjectsLeaveNothing checks that changes of large objects release their memory
// afterwards.
func TestOwnersOfLargeObjectsLeaveNothing(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "1GiB")
	p := serveProcess(t, filepath.Join(t.TempDir(), "data"), writeConfig(t, "journal-sync: none\nactor-idle-time: 1h\nwatch-history-bytes: 1Mi\n"))
	const live, size = 60, 500_000
	churnProcess(t, p, configMaps, live, size, live)
	c := p.caller()
	eventually(t, "only what is stored is in memory", func() bool {
		return c.metric(t, "troupe_memory_used_bytes") < live*size+50<<20
	})
}
