package storage

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// asUser sends a request as a user who has all permissions but is not in system:masters.
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

// TestScarceMemory checks that users get Retry-After when they store more than fits into memory,
// while the process stays below its limit. An administrator can still read and delete objects.
// Afterwards, writes succeed again.
func TestScarceMemory(t *testing.T) {
	const limit = 128 << 20
	t.Setenv("GOMEMLIMIT", fmt.Sprint(limit))
	p := serveProcess(t, filepath.Join(t.TempDir(), "data"), writeConfig(t, "journal-sync: none\n"))
	admin := p.caller()
	admin.must(t, 201, "POST", "/apis/rbac.authorization.platform.io/v1/clusterrolebindings",
		`{"metadata":{"name":"somebody"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"apiGroup":"rbac.authorization.platform.io","kind":"User","name":"somebody"}]}`)
	admin.must(t, 201, "POST", configMaps, numberedConfigMap("small", 0))
	writes := 25 // per writer; with twelve writers, twice as much as fits into memory
	if soak {
		writes = 40
	}
	text := strings.Repeat("x", 900_000)
	var stored, refused, faults atomic.Int64
	count := func(code int, header http.Header, err error) {
		switch {
		case err == nil && (code == 200 || code == 201):
			stored.Add(1)
		case err == nil && code == 429 && header.Get("Retry-After") != "":
			refused.Add(1)
		default:
			faults.Add(1)
			t.Errorf("%d, %v", code, err)
		}
	}
	peakMemory := p.sampleMemory()
	done, stop := make(chan struct{}), make(chan struct{})
	var writers, readers sync.WaitGroup
	for user := range 12 {
		c := p.caller()
		writers.Go(func() {
			for n := 0; n < writes && faults.Load() == 0; n++ {
				name := fmt.Sprintf("c%d-%d", user, n)
				body := fmt.Sprintf(`{"metadata":{"name":%q},"data":{"x":"%s"}}`, name, text)
				switch user % 3 {
				case 0:
					count(c.asUser("POST", configMaps, body))
				case 1:
					code, _, err := c.do("POST", configMaps, body)
					count(code, http.Header{"Retry-After": {"1"}}, err)
				default: // one object repeatedly, for the history
					name = fmt.Sprint("again", user)
					body = fmt.Sprintf(`{"metadata":{"name":%q},"data":{"n":"%d","x":"%s"}}`, name, n, text)
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
	client.Receive(t, done, "the end of the writers")
	close(stop)
	readers.Wait()
	peak := peakMemory()
	t.Logf("%d stored, %d refused, peak %d MiB, %.0f MiB in use, history %.0f MiB", stored.Load(), refused.Load(), peak>>20,
		admin.metric(t, "troupe_memory_used_bytes")/(1<<20), admin.metric(t, "troupe_history_bytes")/(1<<20))
	if refused.Load() == 0 || stored.Load() < 30 || admin.metric(t, "troupe_memory_refused_total") == 0 {
		t.Errorf("%d stored, %d refused", stored.Load(), refused.Load())
	}
	if soak && peak > limit*9/8 {
		t.Errorf("up to %d MiB resident, with a limit of %d", peak>>20, limit>>20)
	}
	admin.must(t, 200, "GET", configMaps+"/small", "")
	admin.must(t, 200, "GET", "/api/v1/namespaces?limit=500", "")
	for _, name := range []int{0, 1, 3, 4, 6, 7, 9, 10} {
		for n := range writes {
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
	p.Kill()
	p = serveProcess(t, p.dir)
	if held := p.statusOf("RssAnon"); soak && held > limit*9/8 {
		t.Errorf("after coming back it holds %d MiB, with a limit of %d", held>>20, limit>>20)
	}
	p.caller().must(t, 200, "GET", configMaps+"/small", "")
}
