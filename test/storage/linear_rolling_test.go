package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// TestRollingRestart restarts one server after another under load. Requests fail only while a
// server is down or draining, and clients retry them at another server. A watch that resumes at
// another server must not miss events.
func TestRollingRestart(t *testing.T) {
	c := newClusterLinear(t)
	before := c.list(c.Client)
	seen := &linearObserver{cluster: c, from: before.Version, state: before}
	watching, stopWatching := context.WithCancel(t.Context())
	var observing, loading sync.WaitGroup
	observing.Go(func() { seen.run(watching) })
	var done atomic.Bool
	versions := make([][]uint64, clients)
	for i := range clients {
		loading.Go(func() {
			for n := 0; !done.Load(); n++ {
				version, err := c.write(fmt.Sprintf("w-%d-%d", i, n))
				if err != nil {
					t.Error(err)
					return
				}
				versions[i] = append(versions[i], version)
			}
		})
	}
	for _, r := range c.replicas {
		r.stop()
		r.start()
	}
	done.Store(true)
	loading.Wait()
	last := c.list(c.Client)
	seen.await(last.Version)
	stopWatching()
	observing.Wait()
	written := 0
	for _, all := range versions {
		for _, version := range all {
			if !seen.has(version) {
				t.Errorf("the watch has not shown version %d", version)
			}
		}
		written += len(all)
	}
	if written < 3*clients {
		t.Errorf("only %d writes", written)
	}
	c.compare(seen, last)
	t.Logf("%d writes", written)
}

// write creates an object and reads it from the next server. It retries the create only if no
// server can have processed it.
func (c *linearCluster) write(name string) (version uint64, err error) {
	a, err := c.again(func(ctx context.Context) (client.Answer, error) {
		return c.Create(ctx, configMaps, client.ConfigMap(name, nil, nil))
	})
	if err != nil || a.Code != 201 {
		return 0, fmt.Errorf("create %s: %v, %w", name, a, err)
	}
	version = a.Object().Version()
	a, err = c.again(func(ctx context.Context) (client.Answer, error) { return c.Get(ctx, configMaps+"/"+name) })
	if err != nil || a.Code != 200 || a.Object().Version() != version {
		return 0, fmt.Errorf("get %s: %v, %w, want version %d", name, a, err, version)
	}
	return version, nil
}

// again retries a request until a server processes it.
func (c *linearCluster) again(ask func(context.Context) (client.Answer, error)) (a client.Answer, err error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), client.Watchdog)
	defer cancel()
	for {
		a, err = ask(ctx)
		retry := errors.Is(err, syscall.ECONNREFUSED) || err == nil && (a.Code == 429 || a.Code == 503) && a.Header.Get("Retry-After") != ""
		if !retry || ctx.Err() != nil {
			return a, err
		}
	}
}

// TestEtcdAway stops a majority of the etcd members. Stale reads, discovery and existing watches
// must continue. Other requests are rejected promptly with Retry-After, and succeed once etcd is
// back.
func TestEtcdAway(t *testing.T) {
	c := newClusterLinear(t)
	r := c.replicas[0]
	if a, err := r.Create(t.Context(), configMaps, client.ConfigMap("a", nil, map[string]string{"k": "v"})); err != nil || a.Code != 201 {
		t.Fatalf("create: %v, %v", a, err)
	}
	watch := must.Get(r.Watch(t.Context(), configMaps, nil))(t)
	defer watch.Close()
	c.etcd.Members[0].Kill()
	c.etcd.Members[1].Kill()
	client.Eventually(t, func() error {
		a, err := r.Get(t.Context(), "/readyz?verbose")
		if err == nil && (a.Code == 200 || !strings.Contains(a.String(), "[-]etcd")) {
			err = &a
		}
		return err
	})
	if a, err := r.Get(t.Context(), "/livez"); err != nil || a.Code != 200 {
		t.Errorf("/livez: %v, %v", a, err)
	}
	expect := func(label string, codes string, retryAfter bool, ask func(context.Context) (client.Answer, error)) {
		t.Helper()
		quick := client.Quick(t, 15*time.Second, label) // immediate once the server detects the outage
		a, err := ask(t.Context())
		quick()
		if err != nil || !strings.Contains(codes, fmt.Sprint(a.Code)) || retryAfter && a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %v, %v, want %s", label, a, err, codes)
		}
	}
	get := func(path string) func(context.Context) (client.Answer, error) {
		return func(ctx context.Context) (client.Answer, error) { return r.Get(ctx, path) }
	}
	expect("an old get", "200", false, get(configMaps+"/a?resourceVersion=0"))
	expect("an old list", "200", false, get(configMaps+"?resourceVersion=0"))
	expect("a get", "503", true, get(configMaps+"/a"))
	expect("a list", "503", true, get(configMaps))
	expect("discovery", "200", false, get("/apis"))
	expect("a create", "503", true, func(ctx context.Context) (client.Answer, error) {
		return r.Create(ctx, configMaps, client.ConfigMap("b", nil, nil))
	})
	expect("a delete", "503", true, func(ctx context.Context) (client.Answer, error) { return r.Delete(ctx, configMaps+"/a", nil) })
	c.etcd.Members[0].Run()
	c.etcd.Members[1].Run()
	c.awaitReady()
	for i, other := range c.replicas {
		name := fmt.Sprint("after-", i)
		client.Eventually(t, func() error {
			a, err := other.Create(t.Context(), configMaps, client.ConfigMap(name, nil, nil))
			if err == nil && a.Code != 201 {
				err = &a
			}
			return err
		})
		for {
			e, err := watch.Next()
			if err != nil || e.Type == client.Error {
				t.Fatalf("the watch from before: %v, %v", e, err)
			}
			if e.Object.Name() == name {
				break
			}
		}
	}
}
