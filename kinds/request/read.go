package request

import (
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// A ResourceVersionMatch says how a list's Version is meant.
type ResourceVersionMatch uint8

// The matches. MatchAny is for Version 0 and for no version at all.
const (
	MatchMostRecent ResourceVersionMatch = iota // no version given: everything acknowledged so far
	MatchAny                                    // version 0
	MatchNotOlderThan
	MatchExact
)

// Get asks for one object.
type Get struct {
	Kind        *schema.Kind
	Key         meta.Key
	Subresource string // "" for the object itself
	Version     uint64 // not older than; 0: most recent
	Stale       bool   // version 0 was asked for: any state is good
}

// List asks for the objects of a kind.
type List struct {
	Kind      *schema.Kind
	Namespace string // "" means all
	Labels    selector.Labels
	Fields    selector.Fields
	Version   uint64
	Match     ResourceVersionMatch
	Limit     int    // 0 means all
	Continue  string // token of the chunk before; Version and Match are then unset
	Selectors string // text of both selectors; a token is good for a list with the same
}

// A ListResult answers a List. Items are in key order. They are stored objects of a snapshot, which Form converts, or
// have the requested form already (convert.Form).
type ListResult struct {
	Version   uint64
	Items     []*meta.Object
	Form      convert.Form
	Continue  string // "" at the end
	Remaining int64  // objects after this chunk; -1 if unknown
}

// Watch asks for the changes of a kind.
type Watch struct {
	Kind      *schema.Kind
	Namespace string
	Labels    selector.Labels
	Fields    selector.Fields
	// Version is where the changes begin, exclusive. With SendInitialEvents it is the least
	// version of the state that is delivered first.
	Version uint64
	// Stale says that version 0 was asked for: any state is good as the initial one.
	Stale bool
	// SendInitialEvents delivers the state as Added events before the changes.
	SendInitialEvents bool
	// MarkInitialEventsEnd closes the initial events with a Bookmark that is marked so.
	MarkInitialEventsEnd bool
	Bookmarks            bool
}

// EventType is the type of a watch event.
type EventType uint8

// The event types.
const (
	Added EventType = iota
	Modified
	Deleted
	Bookmark
	Error
)

// String is the wire form, as in "ADDED".
func (t EventType) String() string {
	return [...]string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"}[t]
}

// An Event is one event of a watch. Added, Modified and Deleted carry Object;
// Bookmark carries Version; Error carries Status and is the last.
type Event struct {
	Type             EventType
	Object           *meta.Object
	Version          uint64
	InitialEventsEnd bool
	Status           *meta.Status
}

// A Sink takes the events of one watch. The session calls it from one goroutine at a
// time; it may block on its client for as long as its own deadline allows.
type Sink interface {
	// Events delivers events in order. The slice is reused after the call. An error
	// ends the session.
	Events(events []Event) error
	// Done is called once, as the last call: the session has ended, whoever asked for it.
	Done()
}

// An InitialSink is a Sink that wants to know when the initial events have been delivered.
type InitialSink interface{ InitialDone() }

// A Session is a running watch. Stop ends it soon; it may be called many times.
type Session interface{ Stop() }
