package actors_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
)

// appendUnreadable appends values that cannot be decoded to the journal in dir, which must be
// closed.
func appendUnreadable(t *testing.T, dir string, fs vfs.FS, writes ...persist.Write) {
	t.Helper()
	journal := must.Get(persist.Open(dir, persist.Options{FS: fs}))(t)
	defer func() { _ = journal.Close() }()
	must.Get(journal.Recover(persist.Recovery{
		Item: func(persist.Item) error { return nil }, Base: func(persist.Revision) error { return nil }, Commit: func(persist.Commit) error { return nil },
	}))(t)
	must.Get(journal.Append(writes))(t)
}

type eventSink chan request.Event

func (c eventSink) Events(events []request.Event) error {
	for _, e := range events {
		c <- e
	}
	return nil
}

func (eventSink) Done() {}

func (h *testStore) events(from uint64, n int) (all []request.Event) {
	h.t.Helper()
	sink := make(eventSink, 16)
	session := must.Get(h.Watch(context.Background(), request.Watch{Kind: h.kind("configmaps"), Version: from}, sink))(h.t)
	defer session.Stop()
	for range n {
		select {
		case e := <-sink:
			all = append(all, e)
		case <-time.After(time.Minute):
			h.t.Fatalf("only %d events", len(all))
		}
	}
	return all
}

// TestQuarantineInSnapshots checks that unreadable objects stay quarantined across restarts and
// snapshots until they are deleted. Watches from an earlier version get a DELETED event for them.
func TestQuarantineInSnapshots(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, nil)
	must.Get(h.create("spoilt", "a"))(t)
	first := h.Version()
	h.close()
	appendUnreadable(t, dir, vfs.OS{}, persist.Write{Key: "/configmaps/default/spoilt", Value: []byte("{"), RevisionOffset: -1},
		persist.Write{Key: "/configmaps/default/never", Value: []byte("{"), RevisionOffset: -1, Metadata: []byte{1}},
		persist.Write{Key: "/configmaps/default/never", Delete: true, RevisionOffset: -1})
	for range 3 {
		h = open(t, dir, nil)
		all := h.Unreadable()
		if len(all) != 1 || all[0].String() != "configmaps/default/spoilt" || all[0].Version != first+1 {
			t.Fatalf("set aside are %v", all)
		}
		if got := h.events(first, 1); got[0].Type != request.Deleted || got[0].Object.Version != first+1 ||
			!strings.Contains(string(got[0].Object.JSON), `"name":"spoilt"`) {
			t.Errorf("the watch got %v", got)
		}
		must.Succeed(t, h.Snapshot())
		h.close()
	}
	h = open(t, dir, nil)
	_, err := h.do(request.Mutation{Change: request.Delete{}, Key: meta.Key{Name: "spoilt"}})
	must.Succeed(t, err)
	_, err = h.do(request.Mutation{Change: request.Delete{}, Key: meta.Key{Name: "spoilt"}})
	var status *meta.Status
	if !errors.As(err, &status) || status.Reason != meta.ReasonNotFound || len(h.Unreadable()) != 0 {
		t.Errorf("after the delete: %v, %v", err, h.Unreadable())
	}
	must.Get(h.create("spoilt", "b"))(t)
	must.Succeed(t, h.Snapshot())
	h.close()
	h = open(t, dir, nil)
	defer h.close()
	if o, err := h.Get(context.Background(), request.Get{Kind: h.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: "spoilt"}}); err != nil || len(h.Unreadable()) != 0 {
		t.Errorf("after a restart: %v, %v, %v", o, err, h.Unreadable())
	}
}
