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

// An Event describes a request at one stage.
type Event struct {
	Level            Level
	Stage            Stage
	ID               string // request ID, also in responses and the server's log
	URI              string // path and query as sent
	Verb             string
	User             *authn.User // nil before authentication
	ImpersonatedUser *authn.User // impersonated by User; may be nil
	// ImpersonationConstraint is the verb that allowed the impersonation, unless it is impersonate.
	ImpersonationConstraint string
	SourceIPs               []netip.Addr
	UserAgent               string
	Object                  ObjectReference
	Code                    int          // HTTP status of the response; 0 if there is none yet
	Status                  *meta.Status // response Status, if the response is one
	Request                 []byte       // JSON body of the request, or nil
	Response                []byte       // JSON body of the response, or nil
	ReceivedTimestamp       time.Time
	StageTimestamp          time.Time // time of the stage
	Annotations             []Annotation

	omitManagedFields bool
	patch             bool // Request is a patch, which has no managed fields to omit
	// hasRequestBody reports whether the client sent a body, which an error message may quote.
	hasRequestBody bool
}

// An ObjectReference identifies a request's object. It is empty for a non-resource path.
type ObjectReference struct {
	Resource, Namespace, Name, UID               string
	Group, Version, ResourceVersion, Subresource string
}

// An Annotation is additional information about a request, such as an authorization decision.
type Annotation struct{ Key, Value string }

// annotate adds an annotation unless the key exists. The server adds its own annotations before
// those of admission, so that admission cannot replace them.
func (e *Event) annotate(key, value string) {
	i, found := slices.BinarySearchFunc(e.Annotations, key, func(a Annotation, key string) int { return cmp.Compare(a.Key, key) })
	if !found {
		e.Annotations = slices.Insert(e.Annotations, i, Annotation{key, value})
	}
}

// appendJSON appends the Event as one line, with the member order of kube-apiserver. It avoids
// reflection, which would dominate the cost of small requests.
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
		if e.ImpersonationConstraint != "" {
			b = append(b, `,"authenticationMetadata":`...)
			open := len(b)
			b = closeObject(appendMember(b, "impersonationConstraint", e.ImpersonationConstraint), open)
		}
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

// appendUser appends the user. A missing user becomes an empty object, because log readers expect
// the member.
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

func appendExtra(b []byte, extra map[string][]string) []byte {
	var room [8]string // enough for most users without allocation
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

const statusPrefix = `{"kind":"Status","apiVersion":"v1",`

// appendStatus writes the response code even if the response is not a Status, because log consumers
// filter by it.
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
		b = b[:len(b)-1] // drop the closing brace; the code comes last
	}
	b = append(b, `,"code":`...)
	b = strconv.AppendInt(b, int64(e.Code), 10)
	return append(b, '}')
}

// withoutBodyQuotes removes a 400 or 422 response's message and causes, which may quote the request
// body, as in "invalid value: <password>".
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

// appendBodies appends the recorded bodies. As a safeguard, it checks the level again.
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
