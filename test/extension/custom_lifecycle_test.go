package extension

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// versionCustom is one version of the definition of widgets.
func versionCustom(name string, served, storage bool, schema, more string) string {
	return fmt.Sprintf(`{"name":%q,"served":%t,"storage":%t,"schema":{"openAPIV3Schema":%s}%s}`, name, served, storage, schema, more)
}

const (
	customOpen = `{"type":"object","x-platform-preserve-unknown-fields":true}`
	onlyA      = `{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}}`
	aWithB     = `{"type":"object","properties":{"spec":{"type":"object","default":{},"properties":{"a":{"type":"string"},"b":{"type":"string","default":"B"}}}}}`
)

func TestVersions(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{versions: versionCustom("v1", true, true, aWithB, "") + "," + versionCustom("v1beta1", true, false, onlyA, `,"deprecated":true,"deprecationWarning":"old"`) + "," +
		versionCustom("v0", false, false, customOpen, "")})
	s.create("a", `,"spec":{"a":"x"}`)
	beta := strings.Replace(widgets, "v1", "v1beta1", 1)
	answer := s.Send(200, "GET", beta+"/a", "", "")
	s.check("beta", part(answer.Object(), "spec")+answer.Header.Get("Warning"), `{"spec":{"a":"x"}}299 - "old"`)
	s.check("version", answer.Object()["apiVersion"].(string), "example.com/v1beta1")
	s.Send(404, "GET", strings.Replace(widgets, "v1", "v0", 1)+"/a", "", "")
	s.Send(201, "POST", beta, client.JSON, strings.Replace(widget("b", `,"spec":{"a":"y"}`), "/v1", "/v1beta1", 1))
	s.check("as stored", part(s.read("b"), "spec"), `{"spec":{"a":"y","b":"B"}}`)

	// Another version is stored from now on. What is there is shown in it, and survives a restart.
	s.updateDefinition(customDefinition{versions: versionCustom("v1", true, false, aWithB, "") + "," + versionCustom("v2", true, true, customOpen, "")})
	v2 := strings.Replace(widgets, "v1", "v2", 1)
	list := s.Send(200, "GET", v2, "", "").Object()
	if text := list.String(); strings.Count(text, `"apiVersion":"example.com/v2"`) != 3 || !strings.Contains(text, `"b":"B"`) {
		t.Errorf("in v2: %s", text)
	}
	s.unknown(beta + "/a")
	s.check("in v1", part(s.read("a"), "spec"), `{"spec":{"a":"x","b":"B"}}`)
	s.Send(200, "PATCH", v2+"/a", client.MergePatch, `{"spec":{"c":1}}`)
	s.check("new field", part(s.Send(200, "GET", v2+"/a", "", "").Object(), "spec"), `{"spec":{"a":"x","b":"B","c":1}}`)
	s.check("hidden in v1", part(s.read("a"), "spec"), `{"spec":{"a":"x","b":"B"}}`)
	stored := part(s.Send(200, "GET", customDefinitions+"/widgets.example.com", "", "").Object()["status"].(map[string]any), "storedVersions")
	s.check("stored versions", stored, `{"storedVersions":["v1","v2"]}`)
}

func TestSchemaChanges(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{schema: onlyA})
	before := s.create("a", `,"spec":{"a":"x"}`)
	s.updateDefinition(customDefinition{schema: aWithB})
	after := s.read("a")
	s.check("filled in", part(after, "spec"), `{"spec":{"a":"x","b":"B"}}`)
	if after.Version() != before.Version() {
		t.Errorf("version %d after %d: reading in another form is no write", after.Version(), before.Version())
	}
	list, err := s.List(s.Ctx, widgets, nil)
	if err != nil || part(list.Items[0], "spec") != `{"spec":{"a":"x","b":"B"}}` {
		t.Errorf("list: %v, %v", list, err)
	}
	s.updateDefinition(customDefinition{schema: `{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string","enum":["y"]},"c":{"type":"string"}}}}}`})
	s.check("pruned", part(s.read("a"), "spec"), `{"spec":{"a":"x"}}`)
	s.Send(200, "PATCH", widgets+"/a", client.MergePatch, `{"spec":{"c":"z"}}`) // a is as it was
	s.Send(422, "PATCH", widgets+"/a", client.MergePatch, `{"spec":{"a":"z"}}`)
	s.Send(422, "PATCH", widgets+"/a", client.MergePatch, `{"kind":null}`)
	s.Send(422, "PATCH", widgets+"/a", client.MergePatch, `{"kind":""}`)
	s.Send(400, "PATCH", widgets+"/a", client.MergePatch, `{"apiVersion":null}`)
}

func TestRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	on := func(c *daemon.Config) { c.DataDir, c.Snapshots.JournalBytes = dir, 1<<20 }
	s := serveCustom(t, on)
	s.define(customDefinition{schema: onlyA, more: `,"selectableFields":[{"jsonPath":".spec.a"}]`})
	for i := range 20 {
		large := fmt.Sprintf(`"annotations":{"x":%q},"name"`, strings.Repeat("x", 60_000)) // enough for a snapshot
		s.Send(201, "POST", widgets, client.JSON, strings.Replace(widget(fmt.Sprint("w", i), fmt.Sprintf(`,"spec":{"a":"%d"}`, i%2)), `"name"`, large, 1))
	}
	s.Send(200, "DELETE", widgets+"/w0", "", "")
	s.updateDefinition(customDefinition{schema: aWithB, more: `,"selectableFields":[{"jsonPath":".spec.a"},{"jsonPath":".spec.b"}]`})
	want, err := s.List(s.Ctx, widgets, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Stop(t)

	s = serveCustom(t, on)
	got, err := s.List(s.Ctx, widgets, nil) // the first request of all
	if err != nil || len(got.Items) != len(want.Items) {
		t.Fatalf("%d objects, %v, want %d", len(got.Items), err, len(want.Items))
	}
	for i := range want.Items {
		s.check("object", got.Items[i].String(), want.Items[i].String())
	}
	some, err := s.List(s.Ctx, widgets, url.Values{"fieldSelector": {"spec.a=1,spec.b=B"}})
	if err != nil || len(some.Items) != 10 {
		t.Errorf("selected %d, %v, want 10", len(some.Items), err)
	}
	s.create("new", `,"spec":{"a":"1"}`)
	s.awaitSnapshot()
	s.Stop(t)

	s = serveCustom(t, on)
	if got, err := s.List(s.Ctx, widgets, nil); err != nil || len(got.Items) != len(want.Items)+1 {
		t.Errorf("from a snapshot: %d, %v, want %d", len(got.Items), err, len(want.Items)+1)
	}
	s.Send(200, "DELETE", customDefinitions+"/widgets.example.com", "", "")
	s.Stop(t)

	s = serveCustom(t, on)
	s.Send(404, "GET", widgets, "", "")
	s.define(customDefinition{})
	if got, err := s.List(s.Ctx, widgets, nil); err != nil || len(got.Items) > 0 {
		t.Errorf("in the next life: %v, %v", got, err)
	}
}

func TestDefinitionWaitsForObjects(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{})
	s.Send(201, "POST", widgets, client.JSON, strings.Replace(widget("held", ""), `"name"`, `"finalizers":["example.com/hold"],"name"`, 1))
	s.create("free", "")
	gone := s.Send(200, "DELETE", customDefinitions+"/widgets.example.com", "", "").Object()
	if text := gone.String(); !strings.Contains(text, `"customresourcecleanup.apiextensions.platform.io"`) || !strings.Contains(text, `"Terminating"`) {
		t.Errorf("while it ends: %s", text)
	}
	s.Send(404, "GET", widgets+"/free", "", "")
	s.Send(403, "POST", widgets, client.JSON, widget("late", ""))
	if listed := s.Send(200, "GET", "/apis/example.com/v1", "", "").String(); !strings.Contains(listed, `["delete","deletecollection","get","list","watch"]`) {
		t.Errorf("the verbs while it ends: %s", listed)
	}
	s.Send(200, "PATCH", widgets+"/held", client.MergePatch, `{"metadata":{"finalizers":null}}`)
	s.until("the definition has gone", func() bool {
		answer, err := s.Get(s.Ctx, customDefinitions+"/widgets.example.com")
		return err == nil && answer.Code == 404
	})
	s.unknown(widgets)
}

// until waits for something to hold.
func (s customSession) until(what string, holds func() bool) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		if !holds() {
			return errors.New(what)
		}
		return nil
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{names: `,"shortNames":["wg"]`})
	other := strings.NewReplacer("widgets", "gadgets", "Widget", "Gadget", `"names":{`, `"names":{"shortNames":["wg"],`).Replace(customDefinition{}.String())
	s.Send(201, "POST", customDefinitions, client.JSON, other)
	status := part(s.Send(200, "GET", customDefinitions+"/gadgets.example.com", "", "").Object(), "status")
	for _, text := range []string{`"reason":"ShortNamesConflict"`, `"reason":"NotAccepted"`} {
		if !strings.Contains(status, text) {
			t.Errorf("%s lacks %s", status, text)
		}
	}
	gadgets := strings.Replace(widgets, "widgets", "gadgets", 1)
	s.Send(404, "GET", gadgets, "", "")
	s.Send(200, "DELETE", customDefinitions+"/widgets.example.com", "", "")
	s.until("the names are free", func() bool {
		answer, err := s.Get(s.Ctx, gadgets)
		return err == nil && answer.Code == 200
	})
}

func TestNamespaceAndOwners(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{})
	s.Send(201, "POST", "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"n"}}`)
	s.Send(201, "POST", strings.Replace(widgets, "default", "n", 1), client.JSON, widget("a", ""))
	s.Send(200, "DELETE", "/api/v1/namespaces/n", "", "")
	s.until("the namespace has gone", func() bool {
		answer, err := s.Get(s.Ctx, "/api/v1/namespaces/n")
		return err == nil && answer.Code == 404
	})
	owner := s.create("owner", "")
	reference := func(kind, version, name, uid string) string {
		return fmt.Sprintf(`"ownerReferences":[{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q}],"name"`, version, kind, name, uid)
	}
	below := strings.Replace(widget("child", ""), `"name"`, reference("Widget", "example.com/v1", "owner", owner.UID()), 1)
	s.Send(201, "POST", widgets, client.JSON, below)
	s.Send(201, "POST", configMaps, client.JSON, strings.Replace(`{"metadata":{"name":"grandchild"}}`, `"name"`, reference("Widget", "example.com/v1", "owner", owner.UID()), 1))
	s.Send(200, "DELETE", widgets+"/owner", "", "")
	s.until("what it owned has gone", func() bool {
		a, err := s.Get(s.Ctx, widgets+"/child")
		b, fault := s.Get(s.Ctx, configMaps+"/grandchild")
		return err == nil && fault == nil && a.Code == 404 && b.Code == 404
	})
}

// TestChangesWhileWriting: whatever the moment, an object ends in the form of the last definition.
func TestChangesWhileWriting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	on := func(c *daemon.Config) { c.DataDir = dir }
	s := serveCustom(t, on)
	s.define(customDefinition{schema: onlyA})
	const writers, each = 4, 40
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				name := fmt.Sprintf("w%d-%d", w, i)
				if answer, err := s.Create(s.Ctx, widgets, json.RawMessage(widget(name, `,"spec":{"a":"x"}`))); err != nil || answer.Code != 201 {
					t.Errorf("create %s: %v, %v", name, answer, err)
				}
				if answer, err := s.Patch(s.Ctx, widgets+"/"+name, json.RawMessage(`{"spec":{"a":"y"}}`)); err != nil || answer.Code != 200 {
					t.Errorf("patch %s: %v, %v", name, answer, err)
				}
			}
		})
	}
	for i := range 7 {
		s.updateDefinition(customDefinition{schema: []string{aWithB, onlyA}[i%2]})
	}
	writing.Wait()
	s.updateDefinition(customDefinition{schema: onlyA})
	s.updateDefinition(customDefinition{schema: aWithB})
	for range 2 {
		list, err := s.List(s.Ctx, widgets, nil)
		if err != nil || len(list.Items) != writers*each {
			t.Fatalf("%d objects, %v, want %d", len(list.Items), err, writers*each)
		}
		for _, o := range list.Items {
			s.check(o.Name(), part(o, "spec"), `{"spec":{"a":"y","b":"B"}}`)
		}
		s.Stop(t)
		s = serveCustom(t, on)
	}
}

// TestWatchOverChanges: a watch ends with the definition that it began under, and is resumed
// without a gap.
func TestWatchOverChanges(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{schema: onlyA})
	first := s.create("a", `,"spec":{"a":"1"}`)
	watch, err := s.Watch(s.Ctx, widgets, url.Values{"resourceVersion": {fmt.Sprint(first.Version())}})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	s.create("b", "")
	if e, err := watch.Next(); err != nil || e.Object.Name() != "b" {
		t.Fatalf("%v, %v", e, err)
	}
	s.updateDefinition(customDefinition{schema: aWithB})
	if e, err := watch.Next(); err == nil {
		t.Fatalf("the watch goes on: %v", e)
	}
	s.create("c", "")
	again, err := s.Watch(s.Ctx, widgets, url.Values{"resourceVersion": {fmt.Sprint(first.Version())}})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for _, want := range []string{"b", "c"} {
		if e, err := again.Next(); err != nil || e.Object.Name() != want {
			t.Fatalf("%v, %v, want %s", e, err, want)
		}
	}
}

// TestOrphans: objects whose definition somebody has taken away by force stay, over a restart too,
// and are there again with the next definition.
func TestOrphans(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	on := func(c *daemon.Config) { c.DataDir = dir }
	s := serveCustom(t, on)
	s.define(customDefinition{schema: onlyA})
	s.Send(201, "POST", widgets, client.JSON, strings.Replace(widget("held", `,"spec":{"a":"x"}`), `"name"`, `"finalizers":["example.com/hold"],"name"`, 1))
	s.Send(200, "DELETE", customDefinitions+"/widgets.example.com", "", "")
	s.Send(200, "PATCH", customDefinitions+"/widgets.example.com", client.MergePatch, `{"metadata":{"finalizers":null}}`)
	s.until("the kind has gone", func() bool {
		answer, err := s.Get(s.Ctx, widgets)
		return err == nil && answer.Code == 404
	})
	s.unknown(widgets)
	s.Stop(t)

	s = serveCustom(t, on)
	s.Send(404, "GET", widgets+"/held", "", "")
	s.define(customDefinition{schema: aWithB})
	s.check("again", part(s.read("held"), "spec"), `{"spec":{"a":"x","b":"B"}}`)
}

// TestManyObjects: a definition of many objects is answered first, and goes behind it.
func TestManyObjects(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{})
	var writing sync.WaitGroup
	for w := range 8 {
		writing.Go(func() {
			for i := range 130 {
				if answer, err := s.Create(s.Ctx, widgets, json.RawMessage(widget(fmt.Sprintf("w%d-%d", w, i), ""))); err != nil || answer.Code != 201 {
					t.Errorf("%v, %v", answer, err)
				}
			}
		})
	}
	writing.Wait()
	s.Send(200, "DELETE", customDefinitions+"/widgets.example.com", "", "")
	s.until("everything has gone", func() bool {
		answer, err := s.Get(s.Ctx, customDefinitions+"/widgets.example.com")
		return err == nil && answer.Code == 404
	})
	s.unknown(widgets)
}
