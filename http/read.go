package http

import (
	"io"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// get answers one object.
func (s *Server) get(x *exchange) error {
	version, err := parseVersion(x.query.get("resourceVersion"))
	if err != nil {
		return err
	}
	obj, err := s.opts.Store.Get(x.wait, request.Get{
		Kind: x.kind, Key: x.info.key(x.kind), Subresource: x.info.Subresource, Version: version,
	})
	if err != nil {
		return err
	}
	if obj == nil {
		return methodNotAllowed()
	}
	return s.writeObject(x, obj)
}

// writeObject answers one object in the format that was negotiated.
func (s *Server) writeObject(x *exchange, obj *meta.Object) error {
	switch x.format.shape {
	case shapeTable:
		return s.writeTable(x, []*meta.Object{obj}, present.ListMeta{ResourceVersion: versionText(obj.Version)})
	case shapePartial:
		return s.writeGeneric(x, s.appendPartial(nil, x.format, obj))
	case shapePartialList:
		return notAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list (" + x.speaks.Kind + ")")
	}
	if x.format.media == mediaProtobuf {
		x.answersDocument(obj.JSON)
		body, err := s.protobufObject(x.speaks, obj)
		if err != nil {
			return err
		}
		s.writeRaw(x, s.names.protobuf, body)
		return nil
	}
	s.writeBody(x, obj.JSON)
	return nil
}

// versionText is the text of a resource version; "" for that of a dry run.
func versionText(v uint64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatUint(v, 10)
}

func (s *Server) appendPartial(b []byte, f format, obj *meta.Object) []byte {
	return present.AppendPartial(b, s.opts.Naming, f.version, obj)
}

// writeGeneric answers a document that is the same for all kinds.
func (s *Server) writeGeneric(x *exchange, doc []byte) error {
	if x.format.media == mediaProtobuf {
		x.answersDocument(doc)
		body, err := s.protobufPartial(x.format, doc)
		if err != nil {
			return err
		}
		s.writeRaw(x, s.names.protobuf, body)
		return nil
	}
	s.writeBody(x, doc)
	return nil
}

// list answers a collection.
func (s *Server) list(x *exchange) error {
	o, err := s.parseListOptions(x.kind, x.query, false)
	if err != nil {
		return err
	}
	l, err := o.list(x.kind, &x.info)
	if err != nil {
		return err
	}
	listing, err := s.opts.Store.List(x.wait, l)
	if err != nil {
		return err
	}
	return s.writeListing(x, listing)
}

func (s *Server) writeListing(x *exchange, l request.Listing) error {
	head := present.ListMeta{ResourceVersion: versionText(l.Version), Continue: l.Continue, Remaining: max(l.Remaining, 0)}
	switch x.format.shape {
	case shapeTable:
		return s.writeTable(x, l.Items, head)
	case shapePartialList:
		return s.writeGeneric(x, present.PartialList(s.opts.Naming, x.format.version, head, l.Items))
	case shapePartial:
		return notAcceptable("you requested PartialObjectMetadata, but the requested object is a list (" + x.kind.ListKind() + ")")
	}
	head.Explicit = x.kind.Custom()
	body := newListBody(x.kind, head, l.Items)
	x.answersList(body)
	if x.format.media == mediaProtobuf {
		body, err := s.protobufList(x.kind, head, l.Items)
		if err != nil {
			return err
		}
		s.writeRaw(x, s.names.protobuf, body)
		return nil
	}
	if x.format.media == mediaJSON && !x.format.pretty {
		s.stream(x, typeJSON, body, body.size)
		return nil
	}
	s.writeBody(x, body.bytes())
	return nil
}

func (s *Server) writeTable(x *exchange, objs []*meta.Object, head present.ListMeta) error {
	include, err := includeObject(x)
	if err != nil {
		return err
	}
	s.writeBody(x, present.Table(s.opts.Naming, x.speaks, objs, present.TableOptions{
		ListMeta: head, IncludeObject: include, Version: x.format.version, Now: time.Now(),
	}))
	return nil
}

// includeObject reads what the rows of a table shall hold of their objects.
func includeObject(x *exchange) (present.IncludeObject, error) {
	asked := x.query.get("includeObject")
	include, ok := present.ParseInclude(asked)
	if !ok {
		return include, badRequest("Unable to convert to Table as requested: includeObject: Invalid value: " +
			strconv.Quote(asked) + ": must be 'Metadata', 'Object', 'None', or empty")
	}
	return include, nil
}

// A listBody writes a list of whole objects piece by piece.
type listBody struct {
	head  []byte // up to and with the bracket that opens the items
	items []*meta.Object
	size  int
}

const listEnd = "]}"

func newListBody(k *schema.Kind, l present.ListMeta, items []*meta.Object) *listBody {
	b := make([]byte, 0, 256)
	b = append(b, `{"kind":"`...)
	b = append(b, k.ListKind()...)
	b = append(b, `","apiVersion":"`...)
	b = append(b, k.APIVersion()...)
	b = append(b, `","metadata":`...)
	b = l.Append(b)
	b = append(b, `,"items":[`...)
	body := &listBody{head: b, items: items, size: len(b) + len(listEnd) + max(len(items)-1, 0)}
	for _, o := range items {
		body.size += len(o.JSON) - o.Item + 1
	}
	return body
}

var (
	itemStart     = []byte("{")
	nextItemStart = []byte(",{")
)

// WriteTo writes the list.
func (l *listBody) WriteTo(w io.Writer) (int64, error) {
	if _, err := w.Write(l.head); err != nil {
		return 0, err
	}
	start := itemStart
	for _, o := range l.items {
		if _, err := w.Write(start); err != nil {
			return 0, err
		}
		if _, err := w.Write(o.JSON[o.Item:]); err != nil {
			return 0, err
		}
		start = nextItemStart
	}
	if _, err := io.WriteString(w, listEnd); err != nil {
		return 0, err
	}
	return int64(l.size), nil
}

// bytes is the list in one piece.
func (l *listBody) bytes() []byte {
	b := make([]byte, 0, l.size)
	b = append(b, l.head...)
	start := itemStart
	for _, o := range l.items {
		b = append(append(b, start...), o.JSON[o.Item:]...)
		start = nextItemStart
	}
	return append(b, listEnd...)
}
