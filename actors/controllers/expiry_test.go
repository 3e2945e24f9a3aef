package controllers

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/vfs"
)

// createEvent creates an Event with a given last occurrence.
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

// waitDeleted waits until a watch reports the deletion of an object.
func (w *testStore) waitDeleted(path string) {
	w.t.Helper()
	k, key := w.key(path)
	deleted := make(chan string, 16)
	session := must.Get(w.Watch(context.Background(), request.Watch{Kind: k, Namespace: key.Namespace, SendInitialEvents: true}, deletedNames(deleted)))(w.t)
	defer session.Stop()
	if w.get(path) == nil {
		return
	}
	for name := range deleted {
		if name == key.Name {
			return
		}
	}
}

// deletedNames is a sink that sends the names of deleted objects.
type deletedNames chan string

func (d deletedNames) Events(events []request.Event) error {
	for _, e := range events {
		if e.Type == request.Deleted {
			d <- e.Object.Key.Name
		}
	}
	return nil
}

func (d deletedNames) Done() { close(d) }

func (w *testStore) runExpiry(ttl time.Duration) (e *EventExpiry, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	e = NewEventExpiry(NewEnv(w, w.kinds, slog.New(slog.DiscardHandler)), ttl)
	var wait sync.WaitGroup
	wait.Go(func() { e.Run(ctx) })
	return e, func() { cancel(); wait.Wait() }
}

func TestExpiry(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	now := time.Now()
	w.createEvent("events/default/old", now.Add(-2*time.Hour))
	w.createEvent("events/default/older", now.Add(-3*time.Hour))
	w.createEvent("events/default/fresh", now)
	// Creation times cannot be set, so only a short TTL shows that Events expire.
	_, stop := w.runExpiry(50 * time.Millisecond)
	w.waitDeleted("events/default/old")
	w.waitDeleted("events/default/older")
	w.waitDeleted("events/default/fresh")
	w.createEvent("events/default/later", now)
	w.waitDeleted("events/default/later")
	stop()
}

// TestExpirySparesWhatWasWritten checks that a write restarts an Event's TTL.
func TestExpirySparesWhatWasWritten(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	w.createEvent("events/default/a", time.Now())
	before := w.get("events/default/a")
	w.mutate("events/default/a", request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"message":"after"}`)}})
	e := NewEventExpiry(NewEnv(w, w.kinds, slog.New(slog.DiscardHandler)), time.Hour)
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
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
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
