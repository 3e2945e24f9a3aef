package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestEveryRelease opens the data directory of each release. Served objects must be unchanged, and
// deleted objects must stay deleted, even after a restart. Watches must resume from the release's
// resource versions, and new versions must be higher. Field ownership, allocated addresses,
// finalizers and CRDs must still apply.
//
// The test covers promises 2, 14, 17, 19, 29 and 38 of docs/reliability.md.
func TestEveryRelease(t *testing.T) {
	client.OnDisk(t)
	archives, err := filepath.Glob("testdata/*.tar.gz")
	if err != nil || len(archives) < 6 {
		t.Fatalf("%q, %v", archives, err)
	}
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".tar.gz"), func(t *testing.T) { openRelease(t, archive) })
	}
}

func openRelease(t *testing.T, archive string) {
	dir := t.TempDir()
	if err := unpack(archive, dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, recordedFile))
	if err != nil {
		t.Fatal(err)
	}
	u := upgraded{t: t, dir: filepath.Join(dir, dataDir)}
	if err := json.Unmarshal(text, &u.was); err != nil {
		t.Fatal(err)
	}
	u.start()
	u.checkObjects()
	u.checkWatch()
	u.Stop(t)
	u.start()
	u.checkObjects()
	u.checkWatch()
	u.checkRules()
}

// upgraded is a current server that has opened a release's data directory.
type upgraded struct {
	*client.Server
	t   *testing.T
	dir string
	was recorded
}

func (u *upgraded) start() {
	u.t.Helper()
	u.Server = client.Serve(u.t, u.dir, func(c *daemon.Config) {
		c.Naming, c.Controllers, c.Watches.HistoryTime = "kubernetes", "namespace-controller", daemon.Duration(1000*24*time.Hour)
	})
}

func (u *upgraded) send(code int, method, path, contentType, body string) client.Answer {
	u.t.Helper()
	a, err := u.Do(u.t.Context(), method, path, contentType, []byte(body))
	if err != nil || a.Code != code {
		u.t.Fatalf("%s %s %s: %v, %v, want %d", method, path, body, a, err, code)
	}
	return a
}

func (u *upgraded) checkObjects() {
	u.t.Helper()
	if len(u.was.Objects) < 5 || len(u.was.Gone) < 3 {
		u.t.Errorf("the release had %d objects and deleted %q: that tells too little", len(u.was.Objects), u.was.Gone)
	}
	for _, path := range u.was.paths() {
		a := u.send(200, "GET", path, "", "")
		var want client.Object
		if err := json.Unmarshal(u.was.Objects[path], &want); err != nil {
			u.t.Fatal(err)
		}
		got := a.Object()
		if strings.Contains(path, "customresourcedefinitions") && want.At("status.conditions") == nil { // the release does not support custom kinds
			completed(got)
			completed(want)
		}
		if got.String() != want.String() {
			u.t.Errorf("%s is\n%s, was\n%s", path, got, want)
		}
	}
	for _, path := range u.was.Gone {
		u.send(404, "GET", path, "", "")
	}
}

// completed removes the fields that a controller changes when it adds a status.
func completed(o client.Object) {
	delete(o, "status")
	delete(o.Metadata(), "managedFields")
	delete(o.Metadata(), "resourceVersion")
}

// checkWatch checks that a watch from a resource version of the first run gets the recorded events.
func (u *upgraded) checkWatch() {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), time.Minute)
	defer cancel()
	w, err := u.Watch(ctx, configMaps, url.Values{"resourceVersion": {strconv.FormatUint(u.was.From, 10)}})
	if err != nil {
		u.t.Fatal(err)
	}
	defer w.Close()
	for _, text := range u.was.Told {
		var want client.Event
		if err := json.Unmarshal(text, &want); err != nil {
			u.t.Fatal(err)
		}
		got, err := w.Next()
		if err != nil || got.Type != want.Type || got.Object.String() != want.Object.String() {
			u.t.Fatalf("watch from %d: event %v, %v, want %v", u.was.From, got, err, want)
		}
	}
}

// checkRules checks writes whose outcomes depend on the recorded objects.
func (u *upgraded) checkRules() {
	u.t.Helper()
	if v := u.send(201, "POST", configMaps, client.JSON, `{"metadata":{"name":"new"}}`).Object().Version(); v <= u.was.Newest {
		u.t.Errorf("a write is at version %d, the release was at %d", v, u.was.Newest)
	}
	u.send(409, "POST", configMaps, client.JSON, `{"metadata":{"name":"changing"}}`)
	path := configMaps + "/applied"
	if _, ok := u.was.Objects[path]; ok {
		u.send(409, "PATCH", path+"?fieldManager=two", apply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"a":"2"}}`)
		o := u.send(200, "PATCH", path+"?fieldManager=one", apply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"a":"1"}}`).Object()
		if o.Data("a") != "1" || o.Data("b") != "" || o.Data("c") != "2" {
			u.t.Errorf("after an apply without previously owned fields: %v", o)
		}
	}
	if front, ok := u.was.Objects[core+"/services/front"]; ok {
		var o client.Object
		if err := json.Unmarshal(front, &o); err != nil {
			u.t.Fatal(err)
		}
		u.send(422, "POST", core+"/services", client.JSON, fmt.Sprintf(`{"metadata":{"name":"second"},"spec":{"clusterIP":%q,"ports":[{"port":80}]}}`, o.At("spec.clusterIP")))
	}
	if path := core + "/pods/leaving"; u.was.Objects[path] != nil {
		u.send(422, "PATCH", path, merge, `{"metadata":{"finalizers":["e.com/wait","e.com/more"]}}`)
		u.send(200, "PATCH", path, merge, `{"metadata":{"finalizers":null}}`)
		u.send(404, "GET", path, "", "")
	}
	if u.was.Objects[widgets+"/small"] != nil {
		u.send(422, "PATCH", widgets+"/small", merge, `{"spec":{"size":10}}`)
		u.send(200, "PATCH", widgets+"/small", merge, `{"spec":{"size":9}}`)
		if o := u.send(200, "GET", strings.Replace(widgets, "/v1/", "/v1beta1/", 1)+"/small", "", "").Object(); o.At("spec.size") != 9.0 {
			u.t.Errorf("in its other version: %v", o)
		}
	}
	u.send(200, "DELETE", core+"/secrets/token", "", "")
}
