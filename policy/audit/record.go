package audit

import (
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authz"
)

// A Record makes the Events of one request. The fields of its Event that say who has asked for
// what are set by the goroutine that answers the request. It belongs to one goroutine at a time, and is
// not used after Release.
//
// It holds its buffers from one request to the next, up to maxRetainedBuffers, so that an Event at the level Metadata
// costs no allocation once the pool is warm.
type Record struct {
	Event
	auditor    *Auditor
	omitStages stageSet
	request    []byte // copy of a request body, kept for its memory
	json       []byte // the Event as it was last encoded
	legacy     []byte
	line       [1][]byte // what a sink stores
}

var recordPool = sync.Pool{New: func() any { return new(Record) }}

// maxRetainedBuffers bounds the memory that a Record keeps for its next request, in bytes.
const maxRetainedBuffers = 64 << 10

// MaxBody bounds a body in an Event, in bytes. A larger one is left out, and the annotation
// audit.platform.io/truncated says so.
const MaxBody = 3 << 20

// Begin begins to record a request, as its policy says; nil if nothing is to be recorded. a.User
// is nil if the user is not known.
func (u *Auditor) Begin(a *authz.Attributes, received time.Time) *Record {
	d := u.policy.Load().Decide(a)
	u.levels[d.Level].Inc()
	if d.Level == None || len(u.sinks) == 0 {
		return nil
	}
	r := recordPool.Get().(*Record)
	r.auditor, r.omitStages = u, d.omitStages
	r.Level, r.omitManagedFields = d.Level, d.OmitManagedFields
	r.User, r.Verb, r.ReceivedTimestamp = a.User, a.Verb, received
	if a.ResourceRequest {
		r.Object = ObjectReference{
			Resource: a.Resource, Namespace: a.Namespace, Name: a.Name,
			Group: a.Group, Version: a.Version, Subresource: a.Subresource,
		}
	}
	return r
}

// Release lets the Record go.
//
// Annotations are cleared to their capacity, as they would keep the strings of the last request alive.
func (r *Record) Release() {
	addresses, annotations := r.SourceIPs[:0], r.Annotations[:0]
	request, line, legacy := r.request[:0], r.json[:0], r.legacy[:0]
	clear(annotations[:cap(annotations)])
	*r = Record{}
	if cap(request)+cap(line)+cap(legacy) > maxRetainedBuffers {
		request, line, legacy = nil, nil, nil
	}
	r.SourceIPs, r.Annotations = addresses, annotations
	r.request, r.json, r.legacy = request, line, legacy
	recordPool.Put(r)
}

// DropBuffers gives away the memory that the Record encodes in. The next event takes new: it is for
// requests that go on for long.
func (r *Record) DropBuffers() { r.json, r.legacy, r.line = nil, nil, [1][]byte{} }

// maxName bounds what a body says of its object below the level Request, in bytes: nothing that is
// valid is longer.
const maxName = 253

// SetRequestObject notes the object in the body of a request, whatever the level: its head completes what
// the path says about the object. The tree is only read.
//
// A create names its object in the body only, and without this a log at the level Metadata would not say what was
// created. Longer values than a name may have are left out: they are no names, and at this level a body must not get
// in.
func (r *Record) SetRequestObject(object tree.Tree) {
	head := object.Object("metadata")
	fill := func(to *string, name string) {
		if text := head.String(name); *to == "" && len(text) <= maxName {
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
	case !r.WantsRequest() || !jsontext.Valid(body):
	case len(body) > MaxBody:
		r.annotateTruncated()
	default:
		r.request = append(r.request[:0], body...)
		r.Request, r.patch = r.request, patch
	}
}

// SetHasRequestBody notes that the request has a body, which error messages may quote.
func (r *Record) SetHasRequestBody() { r.hasRequestBody = true }

// WantsResponse tells whether the body of the answer is to be recorded.
func (r *Record) WantsResponse() bool { return r.Level >= RequestResponse }

// SetResponse records the body of the answer, in JSON, of so many bytes; they must not change
// before the Record is released.
//
// The body is asked for by a function, so that one which is too large is never put together.
func (r *Record) SetResponse(size int, body func() []byte) {
	switch {
	case !r.WantsResponse():
	case size > MaxBody:
		r.Response = nil
		r.annotateTruncated()
	default:
		r.Response = body()
	}
}

func (r *Record) annotateTruncated() { r.annotate(r.auditor.names.truncated, "true") }

// SetDecision notes what authorization has decided, and why.
func (r *Record) SetDecision(d authz.Decision, reason string) {
	text := "forbid"
	if d == authz.Allow {
		text = "allow"
	}
	r.annotate(r.auditor.names.decision, text)
	r.annotate(r.auditor.names.reason, reason)
}

// SetDeprecated notes that the request is for a deprecated version; removed is the release that
// will not have it any more, or "".
func (r *Record) SetDeprecated(removed string) {
	r.annotate(r.auditor.names.deprecated, "true")
	if removed != "" {
		r.annotate(r.auditor.names.removed, removed)
	}
}

// Annotate adds annotations that admission has recorded. Detailed ones are for the level Request and those
// above it.
func (r *Record) Annotate(all []request.Annotation) {
	for _, a := range all {
		if !a.Detailed || r.Level >= Request {
			r.annotate(a.Key, a.Value)
		}
	}
}

// SetStatus notes the Status that is the answer.
func (r *Record) SetStatus(s *meta.Status) { r.Status = s }

// EmitStage makes the Event of a stage, unless the policy omits it. It is false if the Event is
// lost and the request must not go on. code is the HTTP status of the answer, 0 if there is none.
func (r *Record) EmitStage(stage Stage, code int) bool {
	if r.omitStages.has(stage) {
		return true
	}
	r.Stage, r.Code, r.Event.StageTimestamp = stage, code, r.auditor.now()
	return r.auditor.emit(r)
}

// withoutBodies is the Event without bodies, as a sink takes it that has a bound.
func (r *Record) withoutBodies() Event {
	e := r.Event
	e.Request, e.Response = nil, nil
	e.Annotations = slices.Clone(e.Annotations)
	e.annotate(r.auditor.names.truncated, "true")
	return e
}
