package controllers

import (
	"context"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

func (w *testStore) createEvent(path string, last time.Time) {
	w.t.Helper()
	_, key := w.key(path)
	w.mutate(path, request.Mutation{Change: request.Create{Object: tree.Tree{
		"metadata":       tree.Tree{"name": key.Name, "namespace": key.Namespace},
		"involvedObject": tree.Tree{"namespace": key.Namespace},
		"lastTimestamp":  last.UTC().Format(time.RFC3339),
		"message":        "before",
	}}})
}

func TestExpirySparesRewrittenEvents(t *testing.T) {
	w := newTestStore(t)
	w.createEvent("events/default/a", time.Now())
	before := w.get("events/default/a")
	w.mutate("events/default/a", request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"message":"after"}`)}})
	e := NewEventExpiry(w.env(), time.Hour)
	e.remove(context.Background(), expiration{key: before.Key, version: before.Version})
	if w.get("events/default/a") == nil {
		t.Error("it went by the time of its former state")
	}
	after := w.get("events/default/a")
	e.remove(context.Background(), expiration{key: after.Key, version: after.Version})
	if w.get("events/default/a") != nil {
		t.Error("it is still there")
	}
}

func TestLastOccurrence(t *testing.T) {
	w := newTestStore(t)
	now := time.Now().Add(time.Hour).Truncate(time.Second)
	w.createEvent("events/default/a", now.Add(-time.Minute))
	w.createEvent("events/default/b", now.Add(time.Minute))
	k, _ := w.key("events/default/a")
	if got := lastOccurrence(reconcile.Client{Kind: k}, w.get("events/default/a"), now); !got.Equal(now.Add(-time.Minute)) {
		t.Errorf("a: %v", got)
	}
	if got := lastOccurrence(reconcile.Client{Kind: k}, w.get("events/default/b"), now); !got.Equal(now) {
		t.Errorf("b occurred in the future: %v", got)
	}
}
