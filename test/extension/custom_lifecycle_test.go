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

const (
	onlyA  = `{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}}`
	aWithB = `{"type":"object","properties":{"spec":{"type":"object","default":{},"properties":{"a":{"type":"string"},"b":{"type":"string","default":"B"}}}}}`
)

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
	got, err := s.List(s.Ctx, widgets, nil) // the first request after the start
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

func (s customSession) until(label string, holds func() bool) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		if !holds() {
			return errors.New(label)
		}
		return nil
	})
}

// TestChangesWhileWriting checks that all objects get the defaults of the latest schema if the CRD
// changes during writes.
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

// TestOrphans checks that custom objects survive a restart even if their CRD was deleted by force.
// They are served again once the CRD is recreated.
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

// TestManyObjects checks that a CRD with many objects can be deleted.
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
