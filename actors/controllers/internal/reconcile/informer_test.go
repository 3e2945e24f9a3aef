package reconcile

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// scriptedStore delivers one round of events to each watch. The last round cancels the context.
type scriptedStore struct {
	Store
	rounds [][]request.Event
	cancel context.CancelFunc
}

type stoppedSession struct{}

func (stoppedSession) Stop()   {}
func (stoppedSession) Finish() {}

func (s *scriptedStore) Watch(_ context.Context, _ request.Watch, sink request.Sink) (request.Session, error) {
	err := sink.Events(s.rounds[0])
	if s.rounds = s.rounds[1:]; len(s.rounds) == 0 {
		s.cancel()
	}
	sink.Done()
	return stoppedSession{}, err
}

type recordingHandler struct{ lines []string }

func (h *recordingHandler) OnEvent(e Event) {
	h.lines = append(h.lines, fmt.Sprint(e.Key.Name, " ", e.Deleted))
}

func (h *recordingHandler) OnSynced() { h.lines = append(h.lines, "read") }

// TestInformer checks that the informer reports no deletions if a watch ends before all initial
// events have been delivered.
func TestInformer(t *testing.T) {
	added := func(name string) request.Event {
		return request.Event{Type: request.Added, Object: &meta.Object{Key: meta.Key{Name: name}}}
	}
	deleted := added("c")
	deleted.Type = request.Deleted
	ctx, cancel := context.WithCancel(t.Context())
	store := &scriptedStore{cancel: cancel, rounds: [][]request.Event{
		{added("a"), added("b")}, // the watch ends before the initial events are complete
		{added("a"), {Type: request.Bookmark, InitialEventsEnd: true}, added("c")},
		{added("a"), added("c"), {Type: request.Bookmark, InitialEventsEnd: true}, deleted},
	}}
	var h recordingHandler
	(&Informer{Client: Client{Kind: &schema.Kind{}, env: &Env{Store: store}}, On: h.OnEvent, Synced: h.OnSynced}).Run(ctx)
	want := []string{"a false", "b false", "a false", "b true", "read", "c false", "a false", "c false", "c true"}
	if !slices.Equal(h.lines, want) {
		t.Errorf("got %q, want %q", h.lines, want)
	}
}
