package audit

import (
	"cmp"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

// An Event is what is known of one request at one stage.
type Event struct {
	Level             Level
	Stage             Stage
	ID                string // of the request, as the client and the log know it
	URI               string // path and query, as the client has sent them
	Verb              string
	User              *authn.User // nil before authentication
	ImpersonatedUser  *authn.User // whom User impersonates; nil if there is none
	SourceIPs         []netip.Addr
	UserAgent         string
	Object            ObjectReference
	Code              int          // HTTP status of the answer; 0 if there is none yet
	Status            *meta.Status // the answer, where it is one
	Request           []byte       // body of the request in JSON; nil if there is none
	Response          []byte       // body of the answer in JSON; nil if there is none
	ReceivedTimestamp time.Time
	StageTimestamp    time.Time // of the stage
	Annotations       []Annotation

	omitManagedFields bool
	patch             bool // Request is a patch, which has no managed fields to omit
	// hasRequestBody: the client has sent a body, which an error message may quote.
	hasRequestBody bool
}

// An ObjectReference names the object of a request. It is empty for a path that is no resource.
type ObjectReference struct {
	Resource, Namespace, Name, UID               string
	Group, Version, ResourceVersion, Subresource string
}

// An Annotation is a fact about a request that has no member of its own.
type Annotation struct{ Key, Value string }

// annotate adds an annotation, in the order of the keys. The first one with a key stays.
//
// The list is short and kept sorted, so that no map has to be made and sorted for each Event. The first one stays
// because the server writes its own before anything that admission may add.
func (e *Event) annotate(key, value string) {
	i, found := slices.BinarySearchFunc(e.Annotations, key, func(a Annotation, key string) int { return cmp.Compare(a.Key, key) })
	if !found {
		e.Annotations = slices.Insert(e.Annotations, i, Annotation{key, value})
	}
}

// appendJSON appends the Event as one line; apiVersion is that of the format.
//
// The members are written by hand, in the order in which clients know them: with reflection, encoding would be a
// large part of the cost of a small request.
func (e *Event) appendJSON(b []byte, apiVersion string) []byte {
	b = append(b, `{"kind":"Event","apiVersion":"`...)
	b = append(b, apiVersion...)
	b = append(b, `","level":"`...)
	b = append(b, e.Level.String()...)
	b = append(b, `","auditID":`...)
	b = appendString(b, e.ID)
	b = append(b, `,"stage":"`...)
	b = append(b, e.Stage.String()...)
	b = append(b, `","requestURI":`...)
	b = appendString(b, e.URI)
	b = append(b, `,"verb":`...)
	b = appendString(b, e.Verb)
	b = append(b, `,"user":`...)
	b = appendUser(b, e.User)
	if e.ImpersonatedUser != nil {
		b = append(b, `,"impersonatedUser":`...)
		b = appendUser(b, e.ImpersonatedUser)
	}
	b = appendAddresses(b, e.SourceIPs)
	b = appendMember(b, "userAgent", e.UserAgent)
	b = e.Object.appendJSON(b)
	b = e.appendStatus(b)
	b = e.appendBodies(b)
	b = append(b, `,"requestReceivedTimestamp":`...)
	b = appendTime(b, e.ReceivedTimestamp)
	b = append(b, `,"stageTimestamp":`...)
	b = appendTime(b, e.StageTimestamp)
	b = appendAnnotations(b, e.Annotations)
	return append(b, '}', '\n')
}

// A user that is not known is an empty object, not an absent member: programs that read the log expect it.
func appendUser(b []byte, u *authn.User) []byte {
	open := len(b)
	if u == nil {
		return closeObject(b, open)
	}
	b = appendMember(b, "username", u.Name)
	b = appendMember(b, "uid", u.UID)
	if len(u.Groups) > 0 {
		b = appendStrings(appendName(b, "groups"), u.Groups)
	}
	if len(u.Extra) > 0 {
		b = appendName(b, "extra")
		extra := len(b)
		b = closeObject(appendExtra(b, u.Extra), extra)
	}
	return closeObject(b, open)
}

// appendExtra appends members in the order of their names, with a comma before each.
func appendExtra(b []byte, extra map[string][]string) []byte {
	var room [8]string // most users have fewer extras, and cause no allocation
	names := room[:0]
	for name := range extra {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b = appendStrings(append(appendString(append(b, ','), name), ':'), extra[name])
	}
	return b
}

func appendAddresses(b []byte, list []netip.Addr) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(b, `,"sourceIPs":[`...)
	for i, a := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = a.AppendTo(b)
		b = append(b, '"')
	}
	return append(b, ']')
}

// Without a resource there is no object, only a path, and the member is absent.
func (o *ObjectReference) appendJSON(b []byte) []byte {
	if o.Resource == "" {
		return b
	}
	b = appendName(b, "objectRef")
	open := len(b)
	b = appendMember(b, "resource", o.Resource)
	b = appendMember(b, "namespace", o.Namespace)
	b = appendMember(b, "name", o.Name)
	b = appendMember(b, "uid", o.UID)
	b = appendMember(b, "apiGroup", o.Group)
	b = appendMember(b, "apiVersion", o.Version)
	b = appendMember(b, "resourceVersion", o.ResourceVersion)
	b = appendMember(b, "subresource", o.Subresource)
	return closeObject(b, open)
}

// statusPrefix begins every Status, and is left out of an Event.
const statusPrefix = `{"kind":"Status","apiVersion":"v1",`

// The code is written last and also where the answer was no Status; programs filter by it.
func (e *Event) appendStatus(b []byte) []byte {
	if e.Code == 0 {
		return b
	}
	b = append(b, `,"responseStatus":`...)
	status := e.Status
	if status == nil {
		b = append(b, `{"metadata":{}`...)
	} else {
		if e.Level < Request && e.hasRequestBody {
			status = withoutBodyQuotes(status)
		}
		shown := *status
		shown.Code = 0
		doc := shown.AppendJSON(nil)
		b = appendCompactJSON(b, append([]byte{'{'}, doc[len(statusPrefix):]...), false)
		b = b[:len(b)-1] // its code comes last
	}
	b = append(b, `,"code":`...)
	b = strconv.AppendInt(b, int64(e.Code), 10)
	return append(b, '}')
}

// withoutBodyQuotes is a Status without what may quote a body: its message and causes.
//
// Only 400 and 422 are about a body. A message such as "invalid value: <password>" would carry it into a log that was
// configured to hold none.
func withoutBodyQuotes(s *meta.Status) *meta.Status {
	if s.Code != http.StatusBadRequest && s.Code != http.StatusUnprocessableEntity {
		return s
	}
	short := *s
	short.Message = ""
	if s.Details != nil {
		details := *s.Details
		details.Causes = nil
		if len(details.Name) > maxName {
			details.Name = ""
		}
		short.Details = &details
	}
	return &short
}

// The level is checked again here, although nothing is recorded below it: a body that should not be in a log must
// pass two faults to get there.
func (e *Event) appendBodies(b []byte) []byte {
	if e.Level >= Request && e.Request != nil {
		b = appendCompactJSON(appendName(b, "requestObject"), e.Request, e.omitManagedFields && !e.patch)
	}
	if e.Level >= RequestResponse && e.Response != nil {
		b = appendCompactJSON(appendName(b, "responseObject"), e.Response, e.omitManagedFields)
	}
	return b
}

func appendAnnotations(b []byte, list []Annotation) []byte {
	if len(list) == 0 {
		return b
	}
	b = appendName(b, "annotations")
	open := len(b)
	for _, a := range list {
		b = appendString(append(b, ','), a.Key)
		b = appendString(append(b, ':'), a.Value)
	}
	return closeObject(b, open)
}
