package request

import (
	"time"

	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// A ResourceVersionMatch determines how a list interprets Version.
type ResourceVersionMatch uint8

const (
	MatchMostRecent ResourceVersionMatch = iota // no version requested: includes every acknowledged write
	MatchAny                                    // version 0
	MatchNotOlderThan
	MatchExact
)

// Get requests one object.
type Get struct {
	Kind        *schema.Kind
	Key         meta.Key
	Subresource string    // "" for the object itself
	Version     uint64    // minimum version; 0 means most recent
	Stale       bool      // version 0 was requested, so any state is acceptable
	Exact       bool      // exactly Version, not newer
	Time        time.Time // state at this time; Version is then unset
	User        string    // a user's historical reads run one at a time
}

// History requests the retained revisions of one object, newest first.
type History struct {
	Kind   *schema.Kind
	Key    meta.Key
	Before uint64 // only older revisions; 0 means all
	Limit  int    // 0 means the default
	User   string // a user's historical reads run one at a time
}

// A HistoryResult is the result of a History.
type HistoryResult struct {
	Version   uint64 // newest version at the time of the read
	Revisions []Revision
	Before    uint64 // Before of the next page; 0 at the end
}

// A Revision is a change of an object. An Error event represents an unreadable state.
type Revision struct {
	Event
	Time time.Time // commit time
}

// List requests the objects of a kind.
type List struct {
	Kind      *schema.Kind
	Namespace string // "" means all
	Labels    selector.Labels
	Fields    selector.Fields
	Version   uint64
	Match     ResourceVersionMatch
	// Logged permits reading an exact list from the log if its version is no longer in memory.
	Logged    bool
	Time      time.Time // state at this time; Version and Match are then unset
	Limit     int       // 0 means all
	Continue  string    // token of the previous chunk; Version and Match are then unset
	Selectors string    // both selectors as text, which must not change between chunks
	User      string    // a user's historical reads run one at a time
}

// A ListResult is the result of a List, in key order. Items are stored objects of one snapshot,
// which the caller converts with Form if necessary.
type ListResult struct {
	Version   uint64
	Items     []*meta.Object
	Form      convert.Form
	Continue  string // "" at the end
	Remaining int64  // objects after this chunk; -1 if unknown
}

// Watch requests the changes to a kind's objects.
type Watch struct {
	Kind      *schema.Kind
	Namespace string
	Labels    selector.Labels
	Fields    selector.Fields
	// Version is the resource version after which the watch starts or, with SendInitialEvents, the
	// minimum version of the initial state.
	Version uint64
	// Stale means that the client requested version 0, so any initial state is acceptable.
	Stale bool
	// SendInitialEvents delivers the existing objects as Added events before the changes.
	SendInitialEvents bool
	// MarkInitialEventsEnd ends the initial events with an annotated Bookmark.
	MarkInitialEventsEnd bool
	Bookmarks            bool
	// Inline allows the store to call the sink on the goroutine that publishes a write. The sink
	// must then return quickly. It must never wait for another write, or for a lock that is held
	// during a write.
	Inline bool
}

type EventType uint8

const (
	Added EventType = iota
	Modified
	Deleted
	Bookmark
	Error
)

// String returns the event type as clients receive it, such as "ADDED".
func (t EventType) String() string {
	return [...]string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"}[t]
}

// An Event is one watch event. Added, Modified and Deleted events have an Object, and a Bookmark
// has a Version. An Error has a Status and is the last event.
type Event struct {
	Type             EventType
	Object           *meta.Object
	Version          uint64
	InitialEventsEnd bool
	Status           *meta.Status
}

// A Sink receives the events of one watch, from one goroutine at a time. Its methods may block on a
// slow client until the Sink's own deadline.
type Sink interface {
	// Events delivers events in order. The caller reuses the slice afterward. An error ends the
	// watch.
	Events(events []Event) error
	// Done is called exactly once, as the last call, regardless of why the watch ends.
	Done()
}

// An InitialSink is a Sink whose InitialDone is called once the initial events are delivered.
type InitialSink interface{ InitialDone() }

// A Session is a running watch.
type Session interface {
	// Stop ends the watch asynchronously. It may be called repeatedly.
	Stop()
	// Finish ends the watch after delivering all events so far, and a bookmark if requested.
	Finish()
}
