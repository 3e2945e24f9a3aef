package represent

import (
	"strconv"
	"time"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/params"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/table"
)

// Events encodes the events of one watch. Only the store session's goroutine may use it.
type Events struct {
	encoder *Encoder
	kind    *schema.Kind
	format  negotiate.Format
	tables  *table.TableWriter // nil for other shapes
}

// Events returns an encoder for a watch, or an error if the watch cannot use the format.
func (e *Encoder) Events(k *schema.Kind, f negotiate.Format, q requestinfo.Query) (*Events, error) {
	events := &Events{encoder: e, kind: k, format: f}
	if err := CheckShape(k, f, q); err != nil {
		return nil, err
	}
	if f.Shape == negotiate.Table {
		include, _ := params.IncludeObject(q) // CheckShape has parsed it
		events.tables = table.NewTableWriter(e.Naming, k, table.TableOptions{IncludeObject: include, Version: f.Version})
	}
	return events, nil
}

// ContentType returns the media type of the watch response.
func (e *Events) ContentType() string {
	switch e.format.Encoding {
	case negotiate.Protobuf:
		return e.encoder.Names.ProtobufWatchType
	case negotiate.CBOR:
		return negotiate.TypeCBORSequence
	}
	return negotiate.TypeJSON
}

// Binary reports whether WebSocket messages must be binary.
func (e *Events) Binary() bool { return e.format.Encoding != negotiate.JSON }

// LengthPrefixed reports whether each event in a chunked response begins with its length.
func (e *Events) LengthPrefixed() bool { return e.format.Encoding == negotiate.Protobuf }

// AppendEvent appends an encoded event. JSON events end with a line feed. The caller frames other
// events.
func (e *Events) AppendEvent(b []byte, ev *request.Event) ([]byte, error) {
	switch e.format.Encoding {
	case negotiate.Protobuf:
		return e.appendProtobuf(b, ev)
	case negotiate.CBOR:
		return e.appendCBOR(b, ev)
	}
	b = append(b, `{"type":"`...)
	b = append(b, ev.Type.String()...)
	b = append(b, `","object":`...)
	b = e.appendObject(b, ev)
	return append(b, "}\n"...), nil
}

func (e *Events) appendObject(b []byte, ev *request.Event) []byte {
	switch {
	case ev.Type == request.Error:
		return eventStatus(ev).AppendJSON(b)
	case ev.Type == request.Bookmark:
		return e.appendBookmark(b, ev)
	case e.format.Shape == negotiate.Partial:
		return e.encoder.appendPartial(b, e.format, ev.Object)
	case e.format.Shape == negotiate.Table:
		return e.appendTable(b, ev.Object, ev.Object.Version)
	}
	return append(b, ev.Object.JSON...)
}

func (e *Events) appendTable(b []byte, o *meta.Object, version uint64) []byte {
	return e.tables.Next(b, o, table.ListMeta{ResourceVersion: formatVersion(version)}, time.Now())
}

// appendBookmark appends a bookmark: an object with only a resourceVersion. It has the watch's
// shape, because clients decode bookmarks like other events. In a Table, it is a row with a
// nameless object.
func (e *Events) appendBookmark(b []byte, ev *request.Event) []byte {
	kind, version := e.kind.Kind, e.kind.APIVersion()
	switch e.format.Shape {
	case negotiate.Partial:
		kind, version = "PartialObjectMetadata", e.encoder.Names.MetaGroup+"/"+e.format.Version
	case negotiate.Table:
		o := &meta.Object{JSON: e.appendEmpty(nil, ev, kind, version)}
		return e.appendTable(b, o, ev.Version)
	}
	return e.appendEmpty(b, ev, kind, version)
}

func (e *Events) appendEmpty(b []byte, ev *request.Event, kind, version string) []byte {
	b = append(b, `{"kind":"`...)
	b = append(b, kind...)
	b = append(b, `","apiVersion":"`...)
	b = append(b, version...)
	b = append(b, `","metadata":{"resourceVersion":"`...)
	b = strconv.AppendUint(b, ev.Version, 10)
	b = append(b, '"')
	if ev.InitialEventsEnd {
		b = append(b, `,"annotations":{"`...)
		b = append(b, e.encoder.Names.InitialEventsEnd...)
		b = append(b, `":"true"}`...)
	}
	return append(b, "}}"...)
}

// eventStatus returns the Status of an ERROR event. Errors are sent as events, because the response
// has already begun with 200.
func eventStatus(ev *request.Event) *meta.Status {
	if ev.Status != nil {
		return ev.Status
	}
	return &meta.Status{Code: 500, Reason: meta.ReasonInternalError, Message: "Internal error occurred: the watch has failed"}
}
