package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// statusOf reads a figure in bytes, such as VmHWM, of what the kernel says of the process.
func (p *process) statusOf(name string) int64 {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	match := regexp.MustCompile(name + `:\s+(\d+) kB`).FindStringSubmatch(string(text))
	if match == nil {
		p.t.Fatalf("no %s in\n%s", name, text)
	}
	n, _ := strconv.ParseInt(match[1], 10, 64)
	return n << 10
}

// metric is the sum of the series of a name.
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

// writeConfig writes a configuration file and answers the flag that names it.
func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "--config=" + path
}

// notes are custom objects, of a kind that takes what a ConfigMap has.
const notes = "/apis/example.com/v1/namespaces/default/notes"

const noteDefinition = `{"metadata":{"name":"notes.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
	"names":{"plural":"notes","singular":"note","kind":"Note","listKind":"NoteList"},
	"versions":[{"name":"v1","served":true,"storage":true,"selectableFields":[{"jsonPath":".data.n"}],"schema":{"openAPIV3Schema":{"type":"object",
		"properties":{"data":{"type":"object","properties":{"n":{"type":"string"},"x":{"type":"string"}}}}}}}]}}`

// churn updates live objects of a size round and round, from a few writers.
func churn(t *testing.T, p *process, path string, live, size, updates int) {
	t.Helper()
	const writers = 8
	var wait sync.WaitGroup
	var fault atomic.Pointer[error]
	for who := range writers {
		c := p.caller()
		wait.Go(func() {
			text := strings.Repeat("x", size)
			for n := who; n < updates && fault.Load() == nil; n += writers {
				name := fmt.Sprint("c", n%live)
				body := fmt.Sprintf(`{"metadata":{"name":%q},"data":{"n":"%d","x":%q}}`, name, n, text)
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

// TestRecoveryNeedsNoMoreThanServing: a daemon whose journal holds many times what it serves and
// what its history may hold comes back in the memory that it had when it served, and its watches go
// on where the history begins.
func TestRecoveryNeedsNoMoreThanServing(t *testing.T) {
	for _, test := range []struct {
		name, path          string
		live, size, updates int
		long                int // updates of the soak
	}{
		{"large objects", configMaps, 60, 100_000, 2500, 10_000},
		{"small objects", configMaps, 1000, 2000, 0, 400_000},
		{"custom objects", notes, 60, 100_000, 1500, 10_000},
	} {
		if soak {
			test.updates = test.long
		}
		if test.updates == 0 {
			continue // small objects tell something only where there are very many
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			config := writeConfig(t, "watches: {historyBytes: 8Mi}\njournal: {sync: none}\nsnapshots: {journalBytes: 64Gi}\n")
			p := serve(t, filepath.Join(t.TempDir(), "data"), config)
			if test.path == notes {
				p.caller().must(t, 201, "POST", "/apis/apiextensions.platform.io/v1/customresourcedefinitions", noteDefinition)
			}
			churn(t, p, test.path, test.live, test.size, test.updates)
			served, before := p.statusOf("VmRSS"), p.caller().states(t, test.path)
			p.kill()
			p = serve(t, p.dir, config)
			peak := p.statusOf("VmHWM")
			t.Logf("when it served %d MiB, peak when it came back %d MiB, then %d MiB", served>>20, peak>>20, p.statusOf("VmRSS")>>20)
			if peak > served*13/10 {
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

// checkResumption finds where the history begins, and reads it all from there: each update once.
func checkResumption(t *testing.T, c caller, path string) {
	t.Helper()
	newest := uint64(0)
	for _, state := range c.states(t, path) {
		version, _, _ := strings.Cut(state, " ")
		n, _ := strconv.ParseUint(version, 10, 64)
		newest = max(newest, n)
	}
	low, high := uint64(1), newest // the first is gone, the newest is there
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
	r, err := c.http.Get(fmt.Sprintf("%s%s?watch=1&resourceVersion=%d&timeoutSeconds=60", c.url, path, high))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	events, last := json.NewDecoder(r.Body), high
	for last < newest {
		var e struct {
			Type   string
			Object object
		}
		if err := events.Decode(&e); err != nil {
			t.Fatalf("after %d of %d: %v", last, newest, err)
		}
		// All that is written at the end are these objects, so that no version is another's.
		if v := e.Object.version(); e.Type != "MODIFIED" || v != last+1 {
			t.Fatalf("%s of version %d follows %d", e.Type, v, last)
		}
		last++
	}
}

// watchable tells whether a watch from a version is answered with events.
func watchable(t *testing.T, c caller, path string, version uint64) bool {
	t.Helper()
	r, err := c.http.Get(fmt.Sprintf("%s%s?watch=1&resourceVersion=%d&timeoutSeconds=60", c.url, path, version))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var e struct{ Type string }
	if r.StatusCode == http.StatusOK {
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			t.Fatal(err)
		}
	}
	return r.StatusCode == http.StatusOK && e.Type != "ERROR"
}

// TestHistoryIsBounded: three large objects that are updated again and again keep no more of the
// past than the setting says, at any time and of all kinds together.
func TestHistoryIsBounded(t *testing.T) {
	p := serve(t, filepath.Join(t.TempDir(), "data"), writeConfig(t, "watches: {historyBytes: 8Mi}\njournal: {sync: none}\n"))
	c, text := p.caller(), strings.Repeat("x", 500_000)
	collections := []string{configMaps, "/api/v1/namespaces/default/secrets", "/api/v1/namespaces/default/podtemplates"}
	body := func(n int) string {
		if n%3 == 2 {
			return fmt.Sprintf(`{"metadata":{"name":"a","annotations":{"n":"%d"}},"template":{"metadata":{"annotations":{"x":%q}},"spec":{"containers":[{"name":"a","image":"a"}]}}}`, n, text[:200_000])
		}
		return fmt.Sprintf(`{"metadata":{"name":"a","annotations":{"n":"%d"}},"data":{"x":%q}}`, n, text)
	}
	for n, path := range collections {
		c.must(t, 201, "POST", path, body(n))
	}
	most := 0.0
	for n := range 300 {
		c.must(t, 200, "PUT", collections[n%3]+"/a", body(n))
		if n%10 == 0 {
			most = max(most, c.metric(t, "troupe_history_bytes"))
		}
	}
	if most > 8<<20 || most < 6<<20 {
		t.Errorf("up to %.1f MiB of history, of 8", most/(1<<20))
	}
	eventually(t, "memory comes to rest", func() bool {
		time.Sleep(100 * time.Millisecond)
		return p.statusOf("VmRSS") < 150<<20
	})
	p.stop()
}

// asUser asks as somebody who may do everything and is no part of the system.
func (c caller) asUser(method, path, body string) (int, http.Header, error) {
	r, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Impersonate-User", "somebody")
	answer, err := c.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, answer.Header, errors.Join(err, answer.Body.Close())
}

// TestScarceMemory: who stores more than there is memory for is told to come again, whoever it is;
// the process stays below its limit and lives, an administrator can read and make room, and then
// everything goes on.
func TestScarceMemory(t *testing.T) {
	const limit = 128 << 20
	t.Setenv("GOMEMLIMIT", fmt.Sprint(limit))
	p := serve(t, filepath.Join(t.TempDir(), "data"), writeConfig(t, "journal: {sync: none}\n"))
	admin := p.caller()
	admin.must(t, 201, "POST", "/apis/rbac.authorization.platform.io/v1/clusterrolebindings",
		`{"metadata":{"name":"somebody"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"apiGroup":"rbac.authorization.platform.io","kind":"User","name":"somebody"}]}`)
	admin.must(t, 201, "POST", configMaps, configMap("small", 0))
	text := strings.Repeat("x", 900_000)
	var stored, refused, faults atomic.Int64
	count := func(code int, header http.Header, err error) {
		switch {
		case err == nil && (code == 200 || code == 201):
			stored.Add(1)
		case err == nil && code == 429 && header.Get("Retry-After") != "":
			refused.Add(1)
			time.Sleep(10 * time.Millisecond)
		default:
			faults.Add(1)
			t.Errorf("%d, %v", code, err)
		}
	}
	done, stop := make(chan struct{}), make(chan struct{})
	var writers, readers sync.WaitGroup
	for who := range 12 {
		c := p.caller()
		writers.Go(func() {
			for n := 0; n < 40 && faults.Load() == 0; n++ {
				name := fmt.Sprintf("c%d-%d", who, n)
				body := fmt.Sprintf(`{"metadata":{"name":%q},"data":{"x":%q}}`, name, text)
				switch who % 3 {
				case 0:
					count(c.asUser("POST", configMaps, body))
				case 1:
					code, _, err := c.do("POST", configMaps, body)
					count(code, http.Header{"Retry-After": {"1"}}, err)
				default: // one object again and again, for the history
					name = fmt.Sprint("again", who)
					body = fmt.Sprintf(`{"metadata":{"name":%q},"data":{"n":"%d","x":%q}}`, name, n, text)
					if code, _, _ := c.asUser("GET", configMaps+"/"+name, ""); code == 404 {
						count(c.asUser("POST", configMaps, body))
					} else {
						count(c.asUser("PUT", configMaps+"/"+name, body))
					}
				}
			}
		})
	}
	for range 2 {
		c := p.caller()
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if code, _, err := c.asUser("GET", configMaps, ""); err != nil || code != 200 && code != 429 {
					t.Errorf("list: %d, %v", code, err)
					return
				}
				if code, _, err := c.asUser("GET", configMaps+"?watch=1&timeoutSeconds=1", ""); err != nil || code != 200 && code != 429 {
					t.Errorf("watch: %d, %v", code, err)
					return
				}
			}
		})
	}
	go func() { writers.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(2 * waitTimeout):
		t.Fatal("the writers do not end")
	}
	close(stop)
	readers.Wait()
	t.Logf("%d stored, %d refused, peak %d MiB, %.0f MiB in use, history %.0f MiB", stored.Load(), refused.Load(), p.statusOf("VmHWM")>>20,
		admin.metric(t, "troupe_memory_used_bytes")/(1<<20), admin.metric(t, "troupe_history_bytes")/(1<<20))
	if refused.Load() == 0 || stored.Load() < 30 || admin.metric(t, "troupe_memory_refused_total") == 0 {
		t.Errorf("%d stored, %d refused", stored.Load(), refused.Load())
	}
	if peak := p.statusOf("VmHWM"); peak > limit*5/4 {
		t.Errorf("up to %d MiB resident, with a limit of %d", peak>>20, limit>>20)
	}
	admin.must(t, 200, "GET", configMaps+"/small", "")
	admin.must(t, 200, "GET", "/api/v1/namespaces?limit=500", "")
	for _, name := range []int{0, 1, 3, 4, 6, 7, 9, 10} {
		for n := range 40 {
			if code, answer, err := admin.do("DELETE", fmt.Sprintf("%s/c%d-%d", configMaps, name, n), ""); err != nil || code != 200 && code != 404 {
				t.Fatalf("delete: %d %s %v", code, answer, err)
			}
		}
	}
	eventually(t, "there is room again", func() bool {
		code, header, err := admin.asUser("PUT", configMaps+"/small", `{"metadata":{"name":"small"},"data":{"x":"`+text+`"}}`)
		if err != nil || code != 200 && code != 429 || code == 429 && header.Get("Retry-After") == "" {
			t.Fatalf("%d, %v", code, err)
		}
		return code == 200
	})
	p.kill()
	p = serve(t, p.dir)
	if peak := p.statusOf("VmHWM"); peak > limit*5/4 {
		t.Errorf("coming back took %d MiB, with a limit of %d", peak>>20, limit>>20)
	}
	p.caller().must(t, 200, "GET", configMaps+"/small", "")
}

// TestOwnersOfLargeObjectsLeaveNothing: what was needed to change large objects goes with the change.
func TestOwnersOfLargeObjectsLeaveNothing(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "1GiB")
	p := serve(t, filepath.Join(t.TempDir(), "data"), writeConfig(t, "journal: {sync: none}\nactors: {idleTime: 1h}\nwatches: {historyBytes: 1Mi}\n"))
	const live, size = 120, 500_000
	churn(t, p, configMaps, live, size, live)
	c := p.caller()
	eventually(t, "only what is stored is in memory", func() bool {
		time.Sleep(100 * time.Millisecond)
		return c.metric(t, "troupe_memory_used_bytes") < live*size+50<<20
	})
}
