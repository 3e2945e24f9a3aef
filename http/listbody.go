package http

import (
	"context"
	"io"
	"slices"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A listBody is a list on its way to a client. It writes itself item after item, in every encoding,
// and holds no more than a few converted ones. The store's objects stay as they are.
type listBody struct {
	head  []byte // JSON, up to and with the bracket that opens the list
	field string // the member that the list is
	kind  *schema.Kind
	meta  present.ListMeta
	items []*meta.Object // as they are stored
	// convert makes items what kind shows of them; nil if they are that already.
	convert func(ctx context.Context, k *schema.Kind, objects []*meta.Object) ([]*meta.Object, error)
	ctx     context.Context // of convert
	// asStored tells that the items go out as they are.
	asStored bool
	// appendItem appends an item in JSON; nil where the items are the objects themselves.
	appendItem func(b []byte, o *meta.Object) []byte
}

const listEnd = "]}"

// objectListBody makes the body of a list of whole objects.
func (s *Server) objectListBody(k *schema.Kind, l present.ListMeta, items []*meta.Object) *listBody {
	b := make([]byte, 0, 256)
	b = append(b, `{"kind":"`...)
	b = append(b, k.ListKind()...)
	b = append(b, `","apiVersion":"`...)
	b = append(b, k.APIVersion()...)
	b = append(b, `","metadata":`...)
	b = l.Append(b)
	b = append(b, `,"items":[`...)
	return &listBody{
		head: b, field: "items", kind: k, meta: l, items: items, convert: s.opts.Store.Convert, asStored: allAsStored(k, items),
	}
}

// tableListBody makes the body of a list as a Table.
func (s *Server) tableListBody(k *schema.Kind, o present.TableOptions, items []*meta.Object) *listBody {
	t := present.NewTableWriter(s.opts.Naming, k, o)
	return &listBody{
		head: t.AppendHead(nil), field: "rows", kind: k, meta: o.ListMeta, items: items, convert: s.opts.Store.Convert, appendItem: t.AppendRow,
	}
}

// partialListBody makes the body of a list of the metadata of objects.
func (s *Server) partialListBody(k *schema.Kind, f negotiate.Format, l present.ListMeta, items []*meta.Object) *listBody {
	add := func(b []byte, o *meta.Object) []byte { return s.appendPartial(b, f, o) }
	head := present.AppendPartialListHead(nil, s.opts.Naming, f.Version, l)
	return &listBody{head: head, field: "items", kind: k, meta: l, items: items, convert: s.opts.Store.Convert, appendItem: add}
}

// newListBody makes the body of a listing in the shape that was negotiated.
func (s *Server) newListBody(x *requestContext, l request.ListResult) (*listBody, error) {
	body, err := s.listBodyInShape(x, l)
	if err != nil {
		return nil, err
	}
	body.ctx = x.deadlineCtx
	if l.Converted {
		body.convert, body.asStored = nil, body.appendItem == nil
	}
	return body, nil
}

// listBodyInShape is newListBody for a listing of stored objects.
func (s *Server) listBodyInShape(x *requestContext, l request.ListResult) (*listBody, error) {
	head := present.ListMeta{ResourceVersion: formatVersion(l.Version), Continue: l.Continue, Remaining: max(l.Remaining, 0)}
	switch x.format.Shape {
	case negotiate.Table:
		o, err := tableOptions(x, head)
		return s.tableListBody(x.kind, o, l.Items), err
	case negotiate.PartialList:
		return s.partialListBody(x.kind, x.format, head, l.Items), nil
	case negotiate.Partial:
		return nil, apierrors.NotAcceptable("you requested PartialObjectMetadata, but the requested object is a list (" + x.kind.ListKind() + ")")
	}
	head.WriteEmptyContinue = x.kind.ExplicitEmpty
	return s.objectListBody(x.kind, head, l.Items), nil
}

// allAsStored tells whether whole objects can be written as they are stored: all conform to the version of the kind.
func allAsStored(k *schema.Kind, items []*meta.Object) bool {
	if k.Stored != k || !k.StoredAsWritten {
		return k.Stored == k
	}
	form := k.Message.Custom.SchemaID
	return !slices.ContainsFunc(items, func(o *meta.Object) bool { return !o.ConformsTo(form) })
}

// measure measures the objects: all that will be read, and the largest.
func (l *listBody) measure() (all, largest int) {
	for _, o := range l.items {
		all += len(o.JSON)
		largest = max(largest, len(o.JSON))
	}
	return all, largest
}

// size is that of the JSON of a list whose items go out as they are stored.
func (l *listBody) size() int {
	size := len(l.head) + len(listEnd) + max(len(l.items)-1, 0)
	for _, o := range l.items {
		size += len(o.JSON) - o.ItemOffset + 1
	}
	return size
}

var (
	itemStart     = []byte("{")
	nextItemStart = []byte(",{")
	separator     = []byte(",")
)

// json writes the list as JSON.
func (l *listBody) json(w io.Writer) error {
	if _, err := w.Write(l.head); err != nil {
		return err
	}
	if l.asStored {
		if err := l.copyItems(w); err != nil {
			return err
		}
	} else if err := l.each(func(i int, item []byte) error {
		if i > 0 {
			if _, err := w.Write(separator); err != nil {
				return err
			}
		}
		_, err := w.Write(item)
		return err
	}); err != nil {
		return err
	}
	_, err := io.WriteString(w, listEnd)
	return err
}

// copyItems writes the items out of the store's bytes.
func (l *listBody) copyItems(w io.Writer) error {
	start := itemStart
	for _, o := range l.items {
		if _, err := w.Write(start); err != nil {
			return err
		}
		if _, err := w.Write(o.JSON[o.ItemOffset:]); err != nil {
			return err
		}
		start = nextItemStart
	}
	return nil
}

// each makes one item after the other as JSON, which is valid until the next.
func (l *listBody) each(do func(i int, item []byte) error) error {
	buf := wire.GetBuffer()
	defer wire.PutBuffer(buf)
	return l.eachConverted(func(i int, o *meta.Object) error {
		if l.appendItem != nil {
			*buf = l.appendItem((*buf)[:0], o)
		} else {
			*buf = append(append((*buf)[:0], '{'), o.JSON[o.ItemOffset:]...)
		}
		return do(i, *buf)
	})
}

// One call of convert takes so many objects, and so many bytes of JSON unless one alone is larger.
const (
	maxConvertObjects = 64
	maxConvertBytes   = 64 << 10
)

// eachConverted converts a few objects after the others to the version that was asked for.
func (l *listBody) eachConverted(do func(i int, o *meta.Object) error) error {
	for start := 0; start < len(l.items); {
		batch := l.items[start:l.convertEnd(start)]
		converted, err := batch, error(nil)
		if l.convert != nil {
			converted, err = l.convert(l.ctx, l.kind, batch)
		}
		if err != nil {
			return err
		}
		for i, o := range converted {
			if err := do(start+i, o); err != nil {
				return err
			}
		}
		start += len(batch)
	}
	return nil
}

// convertEnd is the end of the batch that begins at start.
func (l *listBody) convertEnd(start int) int {
	end, bytes := start+1, len(l.items[start].JSON)
	for end < len(l.items) && end-start < maxConvertObjects {
		if bytes += len(l.items[end].JSON); bytes > maxConvertBytes {
			break
		}
		end++
	}
	return end
}
