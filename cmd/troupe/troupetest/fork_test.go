package troupetest_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/internal/must"
)

const widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
	"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},
	"versions":[{"name":"v1","served":true,"storage":true,"selectableFields":[{"jsonPath":".spec.size"}],
	"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"string"}}}}}}}]}}`

// TestFork checks that a fork begins with the objects, credentials and resource versions of its
// base, and that neither sees later changes of the other.
func TestFork(t *testing.T) {
	base := troupetest.Start(t)
	const maps, things = "/api/v1/namespaces/default/configmaps", "/apis/example.com/v1/namespaces/default/widgets"
	mustDo(t, base, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", widgets)
	small := mustDo(t, base, 201, "POST", things, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"small"},"spec":{"size":"1"}}`)
	before := mustDo(t, base, 201, "POST", maps, `{"metadata":{"name":"a"},"data":{"from":"base"}}`)
	gone := mustDo(t, base, 201, "POST", maps, `{"metadata":{"name":"gone"}}`)
	mustDo(t, base, 200, "DELETE", maps+"/gone", "")

	fork, second := troupetest.Fork(t, base), troupetest.Fork(t, base)
	if code, o := do(t, base.Credentials, "GET", fork.URL+maps+"/a", ""); code != 200 || fmt.Sprint(o) != fmt.Sprint(before) {
		t.Errorf("the fork answers %d %v to the administrator of base, want %v", code, o, before)
	}
	mustDo(t, fork, 404, "GET", maps+"/gone", "")
	awaitDeletion(t, fork, maps, gone)
	found := mustDo(t, fork, 200, "GET", things+"?fieldSelector=spec.size%3D1", "")["items"].([]any)
	if len(found) != 1 || fmt.Sprint(found[0]) != fmt.Sprint(small) {
		t.Errorf("the widgets of size 1 are %v, want %v", found, small)
	}

	mustDo(t, fork, 200, "PUT", maps+"/a", `{"metadata":{"name":"a"},"data":{"from":"fork"}}`)
	mustDo(t, fork, 201, "POST", maps, `{"metadata":{"name":"only-fork"}}`)
	mustDo(t, base, 200, "DELETE", things+"/small", "")
	mustDo(t, base, 201, "POST", maps, `{"metadata":{"name":"only-base"}}`)
	second.Restart(t)
	for _, c := range []struct {
		server                 *troupetest.Server
		from                   string
		widget, byFork, byBase int
	}{
		{base, "base", 404, 404, 200},
		{fork, "fork", 200, 200, 404},
		{second, "base", 200, 404, 404},
		{troupetest.Fork(t, fork), "fork", 200, 200, 404},
	} {
		if data := mustDo(t, c.server, 200, "GET", maps+"/a", "")["data"].(map[string]any); data["from"] != c.from {
			t.Errorf("a is %v, want it from %s", data, c.from)
		}
		mustDo(t, c.server, c.widget, "GET", things+"/small", "")
		mustDo(t, c.server, c.byFork, "GET", maps+"/only-fork", "")
		mustDo(t, c.server, c.byBase, "GET", maps+"/only-base", "")
	}
}

// TestForkWithOtherKinds checks a fork with other kinds, which reads the journal.
func TestForkWithOtherKinds(t *testing.T) {
	base := troupetest.Start(t)
	const jobs, maps = "/apis/batch/v1/jobs", "/api/v1/namespaces/default/configmaps"
	before := mustDo(t, base, 201, "POST", maps, `{"metadata":{"name":"a"}}`)
	fork := troupetest.Fork(t, base, troupetest.WithConfig(func(c *daemon.Config) { c.API.RuntimeConfig = daemon.Switches{"batch/v1": false} }))
	if o := mustDo(t, fork, 200, "GET", maps+"/a", ""); fmt.Sprint(o) != fmt.Sprint(before) {
		t.Errorf("the fork has %v, want %v", o, before)
	}
	mustDo(t, base, 200, "GET", jobs, "")
	answer := must.Get(fork.Client().Get(fork.URL + jobs))(t)
	defer answer.Body.Close()
	if answer.StatusCode != 404 {
		t.Errorf("Jobs are answered with %s, want 404", answer.Status)
	}
}

// TestForkUnderLoad checks that a fork contains every write that was acknowledged before it began,
// and no partial writes.
func TestForkUnderLoad(t *testing.T) {
	base := troupetest.Start(t)
	const path = "/api/v1/namespaces/default/configmaps"
	acknowledged := make(chan int)
	stop := make(chan struct{})
	go func() {
		defer close(acknowledged)
		for n := 0; ; n++ {
			if code, o := do(t, base.Credentials, "POST", base.URL+path, fmt.Sprintf(`{"metadata":{"name":"m%06d"},"data":{"n":"%d"}}`, n, n)); code != 201 {
				t.Errorf("create %d: %d %v", n, code, o)
				return
			}
			select {
			case acknowledged <- n:
			case <-stop:
				return
			}
		}
	}()
	for range 5 {
		var least int
		for range 20 {
			n, more := <-acknowledged
			if !more {
				return
			}
			least = n
		}
		items := mustDo(t, troupetest.Fork(t, base), 200, "GET", path, "")["items"].([]any)
		if len(items) <= least {
			t.Errorf("the fork has %d of at least %d objects", len(items), least+1)
		}
		for n, item := range items {
			if data := item.(map[string]any)["data"].(map[string]any); data["n"] != fmt.Sprint(n) {
				t.Fatalf("object %d is %v", n, item)
			}
		}
	}
	close(stop)
	for range acknowledged {
	}
}

// TestForkOfStopped checks that a fork outlives its base, and that service account tokens stay
// valid.
func TestForkOfStopped(t *testing.T) {
	s := &scope{TB: t}
	base := troupetest.Start(s, troupetest.WithControllers("serviceaccount-controller"), troupetest.WithNaming(troupetest.Platform))
	mustDo(t, base, 201, "POST", "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"robot"}}`)
	token := mustDo(t, base, 201, "POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", `{"apiVersion":"authentication.platform.io/v1","kind":"TokenRequest","spec":{}}`)["status"].(map[string]any)["token"].(string)
	s.end()
	fork := troupetest.Fork(t, base)
	request := must.Get(http.NewRequest("GET", fork.URL+"/api/v1/namespaces/default/serviceaccounts/robot", nil))(t)
	request.Header.Set("Authorization", "Bearer "+token)
	anonymous := &http.Client{Transport: &http.Transport{TLSClientConfig: fork.TLS()}}
	anonymous.Transport.(*http.Transport).TLSClientConfig.Certificates = nil
	answer := must.Get(anonymous.Do(request))(t)
	defer anonymous.CloseIdleConnections()
	defer answer.Body.Close()
	if answer.StatusCode != 403 { // 401 if the token were invalid
		t.Errorf("a token of the base is answered with %s, want 403", answer.Status)
	}
}

func TestForkOfDirectory(t *testing.T) {
	d := must.Get(daemon.New(daemon.Default(), nil))(t)
	c := daemon.Default()
	c.Ephemeral = true
	if _, err := d.Fork(c, nil); err == nil {
		t.Error("a server that is not ephemeral was forked")
	}
}

// TestBackup starts a server with the objects of a data directory in use, and forks it.
func TestBackup(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	const path = "/api/v1/namespaces/default/configmaps"
	original := troupetest.Start(t, troupetest.WithNaming(troupetest.Platform), troupetest.WithConfig(func(c *daemon.Config) {
		c.Ephemeral, c.DataDir = false, dir
	}))
	mustDo(t, original, 201, "POST", path, `{"metadata":{"name":"a"}}`)
	server := troupetest.Start(t, troupetest.WithBackup(dir))
	mustDo(t, server, 200, "DELETE", path+"/a", "")
	mustDo(t, original, 200, "GET", path+"/a", "")
	mustDo(t, server, 200, "GET", "/apis/rbac.authorization.platform.io", "")
	mustDo(t, troupetest.Fork(t, server), 404, "GET", path+"/a", "")
}
