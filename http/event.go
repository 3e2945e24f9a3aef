package http

import (
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// maxChunk is the size, in bytes, from which gathered events are written.
const maxChunk = 64 << 10

// chunkRoom is the space before a chunk's data for its length in hexadecimal and CRLF.
const chunkRoom = 10

// chunks holds the buffers in which events are gathered: a quiet watch keeps none.
var chunks = sync.Pool{New: func() any { return new([]byte) }}

// maxPooled is the largest of them that is kept.
const maxPooled = 4 * maxChunk

// putChunk gives a buffer back, unless it has grown large.
func putChunk(buf *[]byte) {
	if cap(*buf) <= maxPooled {
		chunks.Put(buf)
	}
}

// An eventEncoder writes the events of one watch in its format. Only the session's
// goroutine uses it.
type eventEncoder struct {
	server  *Server
	kind    *schema.Kind
	format  format
	include present.IncludeObject
	headers bool   // a table has been sent, and its columns need not be again
	socket  bool   // each event is a frame of a WebSocket
	plain   bool   // the client knows of no chunks: its protocol is HTTP/1.0
	buf     []byte // while events are being written
}

// newEventEncoder checks that the format can be watched.
func (s *Server) newEventEncoder(x *exchange) (*eventEncoder, error) {
	h := &x.ctx.Request.Header
	e := &eventEncoder{server: s, kind: x.speaks, format: x.format, socket: wantsSocket(h), plain: !h.IsHTTP11()}
	switch x.format.shape {
	case shapeTable:
		var err error
		if e.include, err = includeObject(x); err != nil {
			return nil, err
		}
	case shapePartialList:
		return nil, notAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list (" + x.kind.Kind + ")")
	}
	return e, nil
}

func (e *eventEncoder) contentType() string {
	if e.format.media == mediaProtobuf {
		return e.server.names.protobufWatch
	}
	return typeJSON
}

// write sends events, as few chunks as maxChunk allows.
func (e *eventEncoder) write(w io.Writer, events []request.Event) error {
	buf := chunks.Get().(*[]byte)
	e.buf = append((*buf)[:0], make([]byte, chunkRoom)...)
	defer func() {
		*buf, e.buf = e.buf, nil
		putChunk(buf)
	}()
	for i := range events {
		if err := e.append(&events[i]); err != nil {
			return err
		}
		if len(e.buf) > maxChunk {
			if err := e.flush(w); err != nil {
				return err
			}
		}
	}
	return e.flush(w)
}

// flush sends what is gathered in one write: frames as they are, all else as one chunk.
func (e *eventEncoder) flush(w io.Writer) error {
	size := len(e.buf) - chunkRoom
	if size == 0 {
		return nil
	}
	if e.socket || e.plain {
		_, err := w.Write(e.buf[chunkRoom:])
		e.buf = e.buf[:chunkRoom]
		return err
	}
	var length [chunkRoom]byte
	head := append(strconv.AppendInt(length[:0], int64(size), 16), "\r\n"...)
	from := chunkRoom - len(head)
	copy(e.buf[from:], head)
	e.buf = append(e.buf, "\r\n"...)
	_, err := w.Write(e.buf[from:])
	e.buf = e.buf[:chunkRoom]
	return err
}

func (e *eventEncoder) append(ev *request.Event) error {
	if e.socket {
		return e.appendFrame(ev)
	}
	return e.appendEvent(ev)
}

func (e *eventEncoder) appendEvent(ev *request.Event) error {
	if e.format.media == mediaProtobuf {
		return e.appendProtobuf(ev)
	}
	e.buf = append(e.buf, `{"type":"`...)
	e.buf = append(e.buf, ev.Type.String()...)
	e.buf = append(e.buf, `","object":`...)
	e.buf = e.appendObject(e.buf, ev)
	e.buf = append(e.buf, "}\n"...)
	return nil
}

// appendObject writes the object of an event as JSON.
func (e *eventEncoder) appendObject(b []byte, ev *request.Event) []byte {
	switch {
	case ev.Type == request.Error:
		return statusOf(ev).AppendJSON(b)
	case ev.Type == request.Bookmark:
		return e.appendBookmark(b, ev)
	case e.format.shape == shapePartial:
		return e.server.appendPartial(b, e.format, ev.Object)
	case e.format.shape == shapeTable:
		return append(b, e.table([]*meta.Object{ev.Object}, present.ListMeta{ResourceVersion: versionText(ev.Object.Version)})...)
	}
	return append(b, ev.Object.JSON...)
}

func (e *eventEncoder) table(objs []*meta.Object, head present.ListMeta) []byte {
	t := present.Table(e.server.opts.Naming, e.kind, objs, present.TableOptions{
		ListMeta: head, IncludeObject: e.include, Version: e.format.version, NoHeaders: e.headers, Now: time.Now(),
	})
	e.headers = true
	return t
}

// appendBookmark writes an object that has nothing but a version.
func (e *eventEncoder) appendBookmark(b []byte, ev *request.Event) []byte {
	kind, version := e.kind.Kind, e.kind.APIVersion()
	switch e.format.shape {
	case shapePartial:
		kind, version = "PartialObjectMetadata", e.server.names.metaGroup+"/"+e.format.version
	case shapeTable:
		o := &meta.Object{JSON: e.appendEmpty(nil, ev, kind, version)}
		return append(b, e.table([]*meta.Object{o}, present.ListMeta{ResourceVersion: versionText(ev.Version)})...)
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
	if ev.InitialEnd {
		b = append(b, `,"annotations":{"`...)
		b = append(b, e.server.names.initialEnd...)
		b = append(b, `":"true"}`...)
	}
	return append(b, "}}"...)
}

// statusOf is the Status of an error event.
func statusOf(ev *request.Event) *meta.Status {
	if ev.Status != nil {
		return ev.Status
	}
	return &meta.Status{Code: 500, Reason: meta.ReasonInternalError, Message: "Internal error occurred: the watch has failed"}
}

// singleObject selects the object of a watch whose path names it.
func singleObject(k *schema.Kind, name string) (selector.Fields, error) {
	return selector.ParseFields(k, "metadata.name="+escapeSelector(name))
}

// escapeSelector escapes what field selectors give a meaning.
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
