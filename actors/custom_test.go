package actors_test

import (
	"context"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// thingDefinition compiles a definition, each time of its own.
func (h *testStore) thingDefinition() *custom.Definition {
	return h.kinds.Compile(tree.Tree{
		"metadata": tree.Tree{"name": "things.example.com"},
		"spec": tree.Tree{"group": "example.com", "scope": "Namespaced", "names": tree.Tree{"plural": "things", "kind": "Thing"},
			"versions": []any{tree.Tree{"name": "v1", "served": true, "storage": true, "schema": tree.Tree{"openAPIV3Schema": tree.Tree{"type": "object"}}}}},
	})
}

// doneSink is a client that waits for the end.
type doneSink chan struct{}

func (doneSink) Events([]request.Event) error { return nil }

func (e doneSink) Done() { close(e) }

// TestWatchOfFormerKind: a watch by a definition that has changed since the request was parsed ends, like
// those that were running when it changed.
func TestWatchOfFormerKind(t *testing.T) {
	h := open(t, t.TempDir(), nil)
	defer h.close()
	former, now := h.thingDefinition(), h.thingDefinition()
	h.RegisterKind(former.Stored)
	h.RegisterKind(now.Stored)
	for _, k := range []*schema.Kind{former.Stored, former.Served[0]} {
		end := make(doneSink)
		if _, err := h.Watch(context.Background(), request.Watch{Kind: k, Version: h.Version()}, end); err != nil {
			t.Fatal(err)
		}
		select {
		case <-end:
		case <-time.After(10 * time.Second):
			t.Fatal("it goes on in a form that no one else sees any more")
		}
	}
	end := make(doneSink)
	session, err := h.Watch(context.Background(), request.Watch{Kind: now.Stored, Version: h.Version()}, end)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-end:
		t.Fatal("a watch by the definition of today ends")
	case <-time.After(50 * time.Millisecond):
	}
	session.Stop()
	<-end
}
