package audit

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/authz"
)

// A Record makes the Events of one request. The fields of its Event that say who has asked for
// what are set by whoever answers the request. It belongs to one goroutine at a time, and is
// not used after Release.
type Record struct {
	Event
	auditor *Auditor
	omit    stages
	request []byte // copy of a request body, kept for its memory
	json    []byte // the Event as it was last encoded
	legacy  []byte
	line    [1][]byte // what a sink stores
}

var records = sync.Pool{New: func() any { return new(Record) }}

// maxKept bounds the memory that a Record keeps for its next request, in bytes.
const maxKept = 64 << 10

// MaxBody bounds a body in an Event, in bytes. A larger one is left out, and the annotation
// audit.platform.io/truncated says so.
const MaxBody = 3 << 20

// Begin begins to record a request, as its policy says; nil if nothing is to be recorded. a.User
// is nil if nobody knows who asks.
func (u *Auditor) Begin(a *authz.Attributes, received time.Time) *Record {
	d := u.policy.Decide(a)
	u.levels[d.Level].Inc()
	if d.Level == None || len(u.sinks) == 0 {
		return nil
	}
	r := records.Get().(*Record)
	r.auditor, r.omit = u, d.omit
	r.Level, r.omitManagedFields = d.Level, d.OmitManagedFields
	r.User, r.Verb, r.Received = a.User, a.Verb, received
	if a.ResourceRequest {
		r.Object = Reference{
			Resource: a.Resource, Namespace: a.Namespace, Name: a.Name,
			Group: a.Group, Version: a.Version, Subresource: a.Subresource,
		}
	}
	return r
}

// Release lets the Record go.
func (r *Record) Release() {
	addresses, annotations := r.SourceIPs[:0], r.Annotations[:0]
	request, line, legacy := r.request[:0], r.json[:0], r.legacy[:0]
	clear(annotations[:cap(annotations)])
	*r = Record{}
	if cap(request)+cap(line)+cap(legacy) > maxKept {
		request, line, legacy = nil, nil, nil
	}
	r.SourceIPs, r.Annotations = addresses, annotations
	r.request, r.json, r.legacy = request, line, legacy
	records.Put(r)
}

// Rest gives away the memory that the Record encodes in. The next event takes new: it is for
// requests that go on for long.
func (r *Record) Rest() { r.json, r.legacy = nil, nil }

// maxName bounds what a body says of its object below the level Request, in bytes: nothing that is
// valid is longer.
const maxName = 253

// Sent notes the object in the body of a request, whatever the level: its head completes what
// the path says about the object. The tree is only read.
func (r *Record) Sent(object schema.Tree) {
	head := rules.Sub(object, "metadata")
	fill := func(to *string, name string) {
		if text := rules.Text(head, name); *to == "" && len(text) <= maxName {
			*to = text
		}
	}
	fill(&r.Object.Namespace, "namespace")
	fill(&r.Object.Name, "name")
	fill(&r.Object.UID, "uid")
	fill(&r.Object.ResourceVersion, "resourceVersion")
}

// WantsRequest tells whether the body of the request is to be recorded.
func (r *Record) WantsRequest() bool { return r.Level >= Request }

// SetRequest records the body of the request, in JSON; what is none is not recorded. The bytes
// are copied.
func (r *Record) SetRequest(body []byte, patch bool) {
	switch {
	case !r.WantsRequest() || !json.Valid(body):
	case len(body) > MaxBody:
		r.truncated()
	default:
		r.request = append(r.request[:0], body...)
		r.Request, r.patch = r.request, patch
	}
}

// Bodied notes that the request has a body, which error messages may quote.
func (r *Record) Bodied() { r.quotes = true }

// WantsResponse tells whether the body of the answer is to be recorded.
func (r *Record) WantsResponse() bool { return r.Level >= RequestResponse }

// SetResponse records the body of the answer, in JSON, of so many bytes; they must not change
// before the Record is released.
func (r *Record) SetResponse(size int, body func() []byte) {
	switch {
	case !r.WantsResponse():
	case size > MaxBody:
		r.Response = nil
		r.truncated()
	default:
		r.Response = body()
	}
}

func (r *Record) truncated() { r.annotate(r.auditor.words.truncated, "true") }

// Decided notes what authorization has decided, and why.
func (r *Record) Decided(d authz.Decision, reason string) {
	text := "forbid"
	if d == authz.Allow {
		text = "allow"
	}
	r.annotate(r.auditor.words.decision, text)
	r.annotate(r.auditor.words.reason, reason)
}

// Deprecated notes that the request is for a deprecated version; removed is the release that
// will not have it any more, or "".
func (r *Record) Deprecated(removed string) {
	r.annotate(r.auditor.words.deprecated, "true")
	if removed != "" {
		r.annotate(r.auditor.words.removed, removed)
	}
}

// Answered notes the Status that is the answer.
func (r *Record) Answered(s *meta.Status) { r.Status = s }

// Reached makes the Event of a stage, unless the policy omits it. It is false if the Event is
// lost and the request must not go on. code is the HTTP status of the answer, 0 if there is none.
func (r *Record) Reached(stage Stage, code int) bool {
	if r.omit.has(stage) {
		return true
	}
	r.Stage, r.Code, r.Event.At = stage, code, r.auditor.now()
	return r.auditor.emit(r)
}

// shortened is the Event without bodies, as a sink takes it that has a bound.
func (r *Record) shortened() Event {
	e := r.Event
	e.Request, e.Response = nil, nil
	e.Annotations = slices.Clone(e.Annotations)
	e.annotate(r.auditor.words.truncated, "true")
	return e
}
