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

// A Record produces the Events of one request. It is not safe for concurrent use, and must not be
// used after Release. Callers set the fields of Event. Records are pooled with their buffers.
type Record struct {
	Event
	auditor    *Auditor
	omitStages stageSet
	request    []byte // buffer of Request
	json       []byte // buffer of the last encoded Event
	legacy     []byte
	line       [1][]byte // argument for a sink's output
}

var recordPool = sync.Pool{New: func() any { return new(Record) }}

// maxRetainedBuffers is the maximum size of the buffers that a pooled Record keeps, in bytes.
const maxRetainedBuffers = 64 << 10

// MaxBody is the maximum size of a body in an Event, in bytes. A larger body is replaced by the
// annotation audit.platform.io/truncated.
const MaxBody = 3 << 20

// Begin returns a new Record for a request, or nil if the policy records nothing. a.User is nil if
// the user is unknown.
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

// Release returns the Record to the pool. It clears the annotations up to their capacity, so that
// the pool does not retain their strings.
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

// DropBuffers frees the encoding buffers, which a long-running request would otherwise retain. The
// next Event allocates new ones.
func (r *Record) DropBuffers() { r.json, r.legacy, r.line = nil, nil, [1][]byte{} }

// maxName is the maximum length of a valid name in bytes.
const maxName = 253

// SetRequestObject adds the metadata in the request body to the object reference, because the path
// of a create does not contain the name. It works at every level and does not modify object. It
// omits values longer than maxName, which could leak the body into the log.
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

// WantsRequest reports whether the level includes the request body.
func (r *Record) WantsRequest() bool { return r.Level >= Request }

// SetRequest records a copy of the request body. It ignores bodies that are not JSON.
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

// SetHasRequestBody records that the request has a body, which error messages may quote.
func (r *Record) SetHasRequestBody() { r.hasRequestBody = true }

// WantsResponse reports whether the level includes the response body.
func (r *Record) WantsResponse() bool { return r.Level >= RequestResponse }

// SetResponse records the JSON response body, which must not change before Release. It calls body
// only if the body is recorded and size does not exceed MaxBody.
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

// SetDecision records the authorization decision and its reason.
func (r *Record) SetDecision(d authz.Decision, reason string) {
	text := "forbid"
	if d == authz.Allow {
		text = "allow"
	}
	r.annotate(r.auditor.names.decision, text)
	r.annotate(r.auditor.names.reason, reason)
}

// SetDeprecated records that the request uses a deprecated API version. removed is the release that
// removes the version, or "".
func (r *Record) SetDeprecated(removed string) {
	r.annotate(r.auditor.names.deprecated, "true")
	if removed != "" {
		r.annotate(r.auditor.names.removed, removed)
	}
}

// Annotate adds the annotations of admission plugins. It adds detailed annotations only at level
// Request and above.
func (r *Record) Annotate(all []request.Annotation) {
	for _, a := range all {
		if !a.Detailed || r.Level >= Request {
			r.annotate(a.Key, a.Value)
		}
	}
}

// SetStatus records the Status in the response.
func (r *Record) SetStatus(s *meta.Status) { r.Status = s }

// EmitStage emits the Event for a stage, unless the policy omits the stage. It returns false if a
// sink lost the Event and the request must not proceed. code is the HTTP status code, or 0.
func (r *Record) EmitStage(stage Stage, code int) bool {
	if r.omitStages.has(stage) {
		return true
	}
	r.Stage, r.Code, r.Event.StageTimestamp = stage, code, r.auditor.now()
	return r.auditor.emit(r)
}

func (r *Record) withoutBodies() Event {
	e := r.Event
	e.Request, e.Response = nil, nil
	e.Annotations = slices.Clone(e.Annotations)
	e.annotate(r.auditor.names.truncated, "true")
	return e
}
