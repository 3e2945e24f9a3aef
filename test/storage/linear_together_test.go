package storage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
	"github.com/troupe-api/troupe/test/client"
)

// TestCompactedPastADaemon cuts a server off from etcd while etcd compacts changes that it has not
// seen. Afterwards, the server must have the current objects. Its old watches must end with 410,
// even if resumed. New watches must deliver every change.
func TestCompactedPastADaemon(t *testing.T) {
	c := newClusterLinear(t)
	behind, ahead := c.replicas[0], c.replicas[1]
	create := func(r *replica, name string) uint64 {
		t.Helper()
		a, err := r.Create(t.Context(), configMaps, client.ConfigMap(name, nil, map[string]string{"k": name}))
		if err != nil || a.Code != 201 {
			t.Fatalf("create %s: %v, %v", name, a, err)
		}
		return a.Object().Version()
	}
	from := url.Values{"resourceVersion": {strconv.FormatUint(create(behind, "a"), 10)}}
	watch := must.Get(behind.Watch(t.Context(), configMaps, from))(t)
	defer watch.Close()
	behind.block((*etcdtest.Link).Block)
	create(ahead, "b")
	if a, err := ahead.Delete(t.Context(), configMaps+"/a", nil); err != nil || a.Code != 200 {
		t.Fatalf("delete: %v, %v", a, err)
	}
	last := create(ahead, "c")
	etcd := c.etcd.Client()
	found := must.Get(etcd.Get(t.Context(), "none"))(t)
	must.Get(etcd.Compact(t.Context(), found.Header.Revision))(t)
	behind.reset()
	behind.mend()
	e, err := watch.Next()
	if err != nil || e.Type != client.Error || e.Code() != 410 {
		t.Errorf("the watch from before: %v, %v, want 410", e, err)
	}
	resumed := must.Get(behind.Watch(t.Context(), configMaps, from))(t)
	defer resumed.Close()
	if e, err := resumed.Next(); err != nil || e.Code() != 410 {
		t.Errorf("the watch from before, resumed: %v, %v, want 410", e, err)
	}
	c.awaitReady()
	want, got := c.list(ahead.Client), c.list(behind.Client)
	if contents(got) != contents(want) || len(got.Items) != 2 || got.Version < last {
		t.Errorf("at version %d it holds\n%s\nwant, at %d\n%s", got.Version, contents(got), want.Version, contents(want))
	}
	w := must.Get(behind.Watch(t.Context(), configMaps, url.Values{"resourceVersion": {strconv.FormatUint(got.Version, 10)}}))(t)
	defer w.Close()
	version := create(ahead, "d")
	if e, err := w.Next(); err != nil || e.Type != client.Added || e.Object.Version() != version {
		t.Errorf("the watch from then on: %v, %v, want d at version %d", e, err, version)
	}
}

// TestTogether checks that all servers accept a service account token, continue token, permission
// or CRD as soon as one server has issued or stored it.
func TestTogether(t *testing.T) {
	c := newClusterLinear(t)
	one, other := c.replicas[0], c.replicas[1]
	send := func(r *replica, code int, method, path, token string, body any) client.Answer {
		t.Helper()
		a, err := r.send(t, method, path, token, body)
		if err != nil || a.Code != code {
			t.Fatalf("%s %s: %v, %v, want %d", method, path, a, err, code)
		}
		return a
	}
	for i := range 3 {
		name := fmt.Sprint("n", i)
		send(one, 201, "POST", "/api/v1/namespaces/default/serviceaccounts", "", linearObject{"metadata": linearObject{"name": name}})
		var token struct{ Status struct{ Token string } }
		client.Decode(t, send(one, 201, "POST", "/api/v1/namespaces/default/serviceaccounts/"+name+"/token", "", linearObject{}).Body, &token)
		send(other, 403, "GET", configMaps, token.Status.Token, nil)
		send(one, 201, "POST", "/apis/rbac.authorization.platform.io/v1/namespaces/default/rolebindings", "", linearObject{
			"metadata": linearObject{"name": name}, "roleRef": linearObject{"apiGroup": "rbac.authorization.platform.io", "kind": "ClusterRole", "name": "view"},
			"subjects": []any{linearObject{"kind": "ServiceAccount", "name": name, "namespace": "default"}},
		})
		send(other, 200, "GET", configMaps, token.Status.Token, nil)

		group := name + ".example.com"
		send(one, 201, "POST", "/apis/apiextensions.platform.io/v1/customresourcedefinitions", "", linearObject{
			"metadata": linearObject{"name": "things." + group},
			"spec": linearObject{"group": group, "scope": "Namespaced", "names": linearObject{"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
				"versions": []any{linearObject{"name": "v1", "served": true, "storage": true, "schema": linearObject{"openAPIV3Schema": linearObject{"type": "object"}}}}},
		})
		send(other, 201, "POST", "/apis/"+group+"/v1/namespaces/default/things", "", linearObject{"apiVersion": group + "/v1", "kind": "Thing", "metadata": linearObject{"name": "t"}})
		send(one, 200, "GET", "/openapi/v3/apis/"+group+"/v1", "", nil)

		send(one, 201, "POST", configMaps, "", client.ConfigMap(name, nil, nil))
	}
	first := must.Get(one.List(t.Context(), configMaps, url.Values{"limit": {"2"}}))(t)
	send(one, 201, "POST", configMaps, "", client.ConfigMap("z", nil, nil))
	rest, err := other.List(t.Context(), configMaps, url.Values{"limit": {"2"}, "continue": {first.Continue}})
	if err != nil || len(first.Items)+len(rest.Items) != 3 || rest.Version != first.Version {
		t.Errorf("the list goes on with %d objects at version %d, %v, after %d at version %d", len(rest.Items), rest.Version, err, len(first.Items), first.Version)
	}
}

// send sends a request with a bearer token, or as the administrator if token is "".
func (r *replica) send(t *testing.T, method, path, token string, body any) (client.Answer, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return client.Answer{}, err
	}
	request, err := http.NewRequestWithContext(t.Context(), method, r.URL+path, bytes.NewReader(text))
	if err != nil {
		return client.Answer{}, err
	}
	request.Header.Set("Content-Type", client.JSON)
	config := r.TLS.Clone()
	if token != "" {
		config.Certificates = nil
		request.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return client.Answer{}, err
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	return client.Answer{Code: answer.StatusCode, Header: answer.Header, Body: text}, err
}

// TestReadsAcrossDaemons reads at one server after another, which receive changes with different
// delays, while a client writes. Neither versions nor the object may go back.
func TestReadsAcrossDaemons(t *testing.T) {
	c := newClusterLinear(t)
	path := configMaps + "/counter"
	if a, err := c.Create(t.Context(), configMaps, client.ConfigMap("counter", nil, nil)); err != nil || a.Code != 201 {
		t.Fatal(a, err)
	}
	var writing sync.WaitGroup
	stop := make(chan struct{})
	writing.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if a, err := c.replicas[0].Patch(t.Context(), path, map[string]any{"data": map[string]string{"n": fmt.Sprint(n)}}); err != nil || a.Code != 200 {
				t.Errorf("write %d: %v, %v", n, a, err)
				return
			}
		}
	})
	c.replicas[1].slow(20 * time.Millisecond)
	c.replicas[2].slow(5 * time.Millisecond)
	// Each read returns the version of its state and of the object.
	list := func(query url.Values) func(*replica) (uint64, uint64, error) {
		return func(r *replica) (uint64, uint64, error) {
			list, err := r.List(t.Context(), configMaps, query)
			if err != nil || len(list.Items) == 0 {
				return 0, 0, fmt.Errorf("%d objects: %w", len(list.Items), err)
			}
			return list.Version, list.Items[0].Version(), nil
		}
	}
	since := url.Values{} // with the newest version read so far
	reads := []struct {
		name string
		read func(*replica) (uint64, uint64, error)
	}{
		{"get", func(r *replica) (uint64, uint64, error) {
			a, err := r.Get(t.Context(), path)
			return a.Object().Version(), a.Object().Version(), err
		}},
		{"list", list(nil)},
		{"page", list(url.Values{"limit": {"1"}})},
		{"list not older", list(since)},
		{"watch", func(r *replica) (version, object uint64, err error) {
			query := url.Values{"allowWatchBookmarks": {"1"}, "sendInitialEvents": {"1"}, "resourceVersionMatch": {"NotOlderThan"}, "resourceVersion": since["resourceVersion"]}
			w, err := r.Watch(t.Context(), configMaps, query)
			if err != nil {
				return 0, 0, err
			}
			defer w.Close()
			for {
				e, err := w.Next()
				switch {
				case err != nil || e.Type == client.Error:
					return 0, 0, fmt.Errorf("%v, %w", e, err)
				case e.Type == client.Bookmark:
					return e.Object.Version(), object, nil
				}
				object = e.Object.Version()
			}
		}},
	}
	newest, object := uint64(0), uint64(0)
	for round := range 8 {
		for i, read := range reads {
			replica := (round + i) % len(c.replicas)
			version, got, err := read.read(c.replicas[replica])
			if read.name == "get" { // has no other version than that of the object
				version = max(version, newest)
			}
			if err != nil || version < newest || got < object {
				t.Errorf("%s at daemon %d: version %d with the object at %d after %d with %d: %v", read.name, replica, version, got, newest, object, err)
			}
			newest, object = max(version, newest), max(got, object)
			since.Set("resourceVersion", strconv.FormatUint(newest, 10))
		}
	}
	close(stop)
	writing.Wait()
}

// TestForeignWrites checks that writes to etcd by other programs do not stop a server. All servers
// serve the readable objects, even after a restart. They quarantine unreadable objects, which
// clients can delete.
func TestForeignWrites(t *testing.T) {
	c := newClusterLinear(t)
	etcd := c.etcd.Client()
	for i := range 60 {
		a, err := c.Create(t.Context(), configMaps, client.ConfigMap(fmt.Sprintf("own-%02d", i), nil, nil))
		if err != nil || a.Code != 201 {
			t.Fatal(a, err)
		}
	}
	const below = "/troupe/objects//configmaps/default/"
	found, err := etcd.Get(t.Context(), below, clientv3.WithPrefix())
	if err != nil || len(found.Kvs) < 60 {
		t.Fatalf("%d keys, %v", len(found.Kvs), err)
	}
	var ops []clientv3.Op
	for _, kv := range found.Kvs { // one transaction with many writes, all at the same position
		if name := strings.TrimPrefix(string(kv.Key), below); strings.HasPrefix(name, "own-") {
			ops = append(ops, clientv3.OpPut(below+"foreign"+strings.TrimPrefix(name, "own"), strings.ReplaceAll(string(kv.Value), "own-", "foreign-")))
		}
	}
	for key, value := range map[string]string{
		"broken": "\x01\x00\x00{", "beyond": "\x01\x00\xff\xff\x7f{}", "empty": "", "other-name": string(found.Kvs[0].Value), "Not_A_Name": "\x01\x00\x00{}", "x/y/z": "\x01\x00\x00{}",
	} {
		ops = append(ops, clientv3.OpPut(below+key, value))
	}
	ops = append(ops, clientv3.OpPut("/troupe/objects/x", "x"), clientv3.OpPut("/troupe/objects/\xff/\xfe/\xfd", "\x01\x00\x00x"), clientv3.OpPut("/troupe/claims/x", "x"), clientv3.OpPut("/troupe/compaction", "x"))
	must.Get(etcd.Txn(t.Context()).Then(ops...).Commit())(t)
	if _, err := etcd.Delete(t.Context(), below+"own-0", clientv3.WithPrefix()); err != nil { // deletes ten keys
		t.Fatal(err)
	}
	names := func(r *replica) string {
		var all []string
		for _, o := range c.list(r.Client).Items {
			if strings.HasPrefix(o.Name(), "own-") || strings.HasPrefix(o.Name(), "foreign-") {
				all = append(all, o.Name())
			}
		}
		return strings.Join(all, " ")
	}
	check := func(when string) {
		t.Helper()
		want := names(c.replicas[0])
		if n := len(strings.Fields(want)); n != 110 {
			t.Errorf("%s: %d objects are served, want 110: %s", when, n, want)
		}
		for i, r := range c.replicas {
			if got := names(r); got != want {
				t.Errorf("%s: daemon %d serves\n%s\nwant\n%s", when, i, got, want)
			}
		}
	}
	check("at once")
	c.replicas[1].kill()
	c.replicas[1].start()
	c.replicas[2].stop()
	c.replicas[2].start()
	check("after restarts")
	for _, name := range []string{"foreign-07", "own-11"} {
		c.remove(configMaps + "/" + name)
	}
	if a, err := c.Create(t.Context(), configMaps, client.ConfigMap("own-07", nil, nil)); err != nil || a.Code != 201 {
		t.Errorf("made again: %v, %v", a, err)
	}
}
