package http

import (
	"strconv"
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// An eventEncoder writes the events of one watch in its format (a stream.Encoder). Only the session's
// goroutine uses it.
type eventEncoder struct {
	server           *Server
	kind             *schema.Kind
	format           negotiate.Format
	include          present.IncludeObjectPolicy
	tableHeadersSent bool // the columns have been sent with the first table
}

// newEventEncoder checks that the format can be watched.
func (s *Server) newEventEncoder(x *requestContext) (*eventEncoder, error) {
	e := &eventEncoder{server: s, kind: x.bodyKind, format: x.format}
	switch x.format.Shape {
	case negotiate.Table:
		var err error
		if e.include, err = includeObject(x); err != nil {
			return nil, err
		}
	case negotiate.PartialList:
		return nil, apierrors.NotAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list (" + x.kind.Kind + ")")
	}
	return e, nil
}

func (e *eventEncoder) contentType() string {
	if e.Binary() {
		return e.server.names.ProtobufWatchType
	}
	return negotiate.TypeJSON
}

// Binary implements stream.Encoder.
func (e *eventEncoder) Binary() bool { return e.format.Encoding == negotiate.Protobuf }

// AppendEvent implements stream.Encoder.
func (e *eventEncoder) AppendEvent(b []byte, ev *request.Event) ([]byte, error) {
	if e.Binary() {
		return e.appendProtobuf(b, ev)
	}
	b = append(b, `{"type":"`...)
	b = append(b, ev.Type.String()...)
	b = append(b, `","object":`...)
	b = e.appendObject(b, ev)
	return append(b, "}\n"...), nil
}

// appendObject writes the object of an event as JSON.
func (e *eventEncoder) appendObject(b []byte, ev *request.Event) []byte {
	switch {
	case ev.Type == request.Error:
		return eventStatus(ev).AppendJSON(b)
	case ev.Type == request.Bookmark:
		return e.appendBookmark(b, ev)
	case e.format.Shape == negotiate.Partial:
		return e.server.appendPartial(b, e.format, ev.Object)
	case e.format.Shape == negotiate.Table:
		return append(b, e.table([]*meta.Object{ev.Object}, present.ListMeta{ResourceVersion: formatVersion(ev.Object.Version)})...)
	}
	return append(b, ev.Object.JSON...)
}

func (e *eventEncoder) table(objs []*meta.Object, head present.ListMeta) []byte {
	t := present.Table(e.server.opts.Naming, e.kind, objs, present.TableOptions{
		ListMeta: head, IncludeObject: e.include, Version: e.format.Version, NoHeaders: e.tableHeadersSent, Now: time.Now(),
	})
	e.tableHeadersSent = true
	return t
}

// appendBookmark writes an object that has nothing but a resource version.
func (e *eventEncoder) appendBookmark(b []byte, ev *request.Event) []byte {
	kind, version := e.kind.Kind, e.kind.APIVersion()
	switch e.format.Shape {
	case negotiate.Partial:
		kind, version = "PartialObjectMetadata", e.server.names.MetaGroup+"/"+e.format.Version
	case negotiate.Table:
		o := &meta.Object{JSON: e.appendEmpty(nil, ev, kind, version)}
		return append(b, e.table([]*meta.Object{o}, present.ListMeta{ResourceVersion: formatVersion(ev.Version)})...)
	}
	return e.appendEmpty(b, ev, kind, version)
}

// appendEmpty writes an object of that kind with the version of an event.
func (e *eventEncoder) appendEmpty(b []byte, ev *request.Event, kind, version string) []byte {
	b = append(b, `{"kind":"`...)
	b = append(b, kind...)
	b = append(b, `","apiVersion":"`...)
	b = append(b, version...)
	b = append(b, `","metadata":{"resourceVersion":"`...)
	b = strconv.AppendUint(b, ev.Version, 10)
	b = append(b, '"')
	if ev.InitialEventsEnd {
		b = append(b, `,"annotations":{"`...)
		b = append(b, e.server.names.InitialEventsEnd...)
		b = append(b, `":"true"}`...)
	}
	return append(b, "}}"...)
}

// eventStatus is the Status of an error event.
func eventStatus(ev *request.Event) *meta.Status {
	if ev.Status != nil {
		return ev.Status
	}
	return &meta.Status{Code: 500, Reason: meta.ReasonInternalError, Message: "Internal error occurred: the watch has failed"}
}

// nameSelector selects the object of a watch whose path names it.
func nameSelector(k *schema.Kind, name string) (selector.Fields, error) {
	return selector.ParseFields(k, "metadata.name="+escapeSelector(name))
}

// escapeSelector escapes the characters that mean something in field selectors.
func escapeSelector(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if c := s[i]; c == '\\' || c == ',' || c == '=' {
			out = append(out, '\\')
		}
		out = append(out, s[i])
	}
	return string(out)
}
