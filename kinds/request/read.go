package request

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// ResourceVersionMatch says how the Version of a List is meant.
type ResourceVersionMatch uint8

// The matches, as resourceVersionMatch and resourceVersion of a request define them.
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

// A ListResult answers a List. Items are those of a snapshot, in the stored version whatever the kind that
// was asked for, in the order of their keys.
type ListResult struct {
	Version   uint64
	Items     []*meta.Object
	Continue  string // "" at the end
	Remaining int64  // objects after this chunk; -1 if unknown
}

// Watch asks for the changes of a kind.
type Watch struct {
	Kind      *schema.Kind
	Namespace string
	Labels    selector.Labels
	Fields    selector.Fields
	// Version is the version after which changes are delivered. With SendInitialEvents it is the lowest
	// version that the delivered state may have.
	Version uint64
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

// A Sink takes the events of one watch. It is called from one goroutine at a time, and may block on its
// client as long as its own deadline allows.
type Sink interface {
	// Events delivers events in order. The slice is reused after the call. An error
	// ends the session.
	Events(events []Event) error
	// Done is called once, as the last call: the session has ended, for whatever reason.
	Done()
}

// A Session is a running watch. Stop ends it soon; it may be called many times.
type Session interface{ Stop() }
