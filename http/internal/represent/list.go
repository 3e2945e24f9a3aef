package represent

import (
	"context"
	"io"
	"slices"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A List is on its way to a client. It writes itself item after item, in every encoding,
// and holds no more than a few converted ones. The store's objects stay as they are.
type List struct {
	head  []byte // JSON, up to and with the bracket that opens the list
	field string // the member that the list is
	kind  *schema.Kind
	meta  present.ListMeta
	items []*meta.Object // as they are stored
	// convert makes items what kind shows of them; nil if they are that already.
	convert Convert
	ctx     context.Context // of convert
	// asStored tells that the items go out as they are.
	asStored bool
	// appendItem appends an item in JSON; nil where the items are the objects themselves.
	appendItem func(b []byte, o *meta.Object) []byte
}

// listEnd closes the list of items, and the object that it is in. It fits each head, so nothing may follow the items.
const listEnd = "]}"

// objectList makes a list of whole objects. Items are written without their kind and apiVersion, which the
// list has (ItemOffset).
func (e *Encoder) objectList(k *schema.Kind, l present.ListMeta, items []*meta.Object) *List {
	// Enough for the head of most lists; a long continue token makes it grow.
	b := make([]byte, 0, 256)
	b = append(b, `{"kind":"`...)
	b = append(b, k.ListKind()...)
	b = append(b, `","apiVersion":"`...)
	b = append(b, k.APIVersion()...)
	b = append(b, `","metadata":`...)
	b = l.Append(b)
	b = append(b, `,"items":[`...)
	return &List{
		head: b, field: "items", kind: k, meta: l, items: items, convert: e.Convert, asStored: allAsStored(k, items),
	}
}

// tableList makes a list as a Table.
func (e *Encoder) tableList(k *schema.Kind, o present.TableOptions, items []*meta.Object) *List {
	t := present.NewTableWriter(e.Naming, k, o)
	return &List{
		head: t.AppendHead(nil), field: "rows", kind: k, meta: o.ListMeta, items: items, convert: e.Convert, appendItem: t.AppendRow,
	}
}

// partialList makes a list of the metadata of objects.
func (e *Encoder) partialList(k *schema.Kind, f negotiate.Format, l present.ListMeta, items []*meta.Object) *List {
	add := func(b []byte, o *meta.Object) []byte { return e.appendPartial(b, f, o) }
	head := present.AppendPartialListHead(nil, e.Naming, f.Version, l)
	return &List{head: head, field: "items", kind: k, meta: l, items: items, convert: e.Convert, appendItem: add}
}

// List makes a listing ready to be written in the shape that was negotiated; q may hold parameters of it.
// Items are converted until ctx ends. A listing that the store has converted already needs no conversion
// here.
func (e *Encoder) List(ctx context.Context, k *schema.Kind, f negotiate.Format, q requestinfo.Query, listing request.ListResult) (*List, error) {
	l, err := e.listInShape(k, f, q, listing)
	if err != nil {
		return nil, err
	}
	l.ctx = ctx
	if listing.Converted {
		l.convert, l.asStored = nil, l.appendItem == nil
	}
	return l, nil
}

// listInShape is List for a listing of stored objects.
func (e *Encoder) listInShape(k *schema.Kind, f negotiate.Format, q requestinfo.Query, l request.ListResult) (*List, error) {
	head := present.ListMeta{ResourceVersion: formatVersion(l.Version), Continue: l.Continue, Remaining: max(l.Remaining, 0)}
	switch f.Shape {
	case negotiate.Table:
		o, err := tableOptions(f, q, head)
		return e.tableList(k, o, l.Items), err
	case negotiate.PartialList:
		return e.partialList(k, f, head, l.Items), nil
	case negotiate.Partial:
		return nil, apierrors.NotAcceptable("you requested PartialObjectMetadata, but the requested object is a list (" + k.ListKind() + ")")
	}
	head.WriteEmptyContinue = k.IsCustom()
	return e.objectList(k, head, l.Items), nil
}

// allAsStored tells whether whole objects can be written as they are stored: all conform to the version of
// the kind. A custom kind's objects are stored as they were written, and may be of an older schema, which
// reading applies.
func allAsStored(k *schema.Kind, items []*meta.Object) bool {
	if k.Stored != k || !k.IsCustom() {
		return k.Stored == k
	}
	form := k.Origin.Schema.ID()
	return !slices.ContainsFunc(items, func(o *meta.Object) bool { return !o.ConformsTo(form) })
}

// Measure measures the objects: all that will be read, and the largest.
func (l *List) Measure() (all, largest int) {
	for _, o := range l.items {
		all += len(o.JSON)
		largest = max(largest, len(o.JSON))
	}
	return all, largest
}

// Reshaped tells whether the items are not the objects themselves, so that the list may be much smaller
// than they are. A limit on memory by the size of objects would be far too strict then.
func (l *List) Reshaped() bool { return l.appendItem != nil }

// ListBody is the body of a list whose objects have so many bytes. A small one that has to be put into
// another encoding is made at once, so that its size is known. A large one is written as it is made: an
// error in the middle can only cut the connection, as the status has been sent.
func (e *Encoder) ListBody(l *List, f negotiate.Format, all int) (Body, error) {
	b := Body{ContentType: negotiate.TypeJSON, Write: l.jsonLine, Size: -1}
	switch {
	case f.Encoding == negotiate.Protobuf:
		return e.protobufListBody(l, f, all)
	case f.Encoding == negotiate.YAML:
		b.ContentType, b.Write = negotiate.TypeYAML, l.yaml
	case f.Encoding == negotiate.CBOR:
		b.ContentType, b.Write = negotiate.TypeCBOR, l.cbor
	case f.Pretty:
		b.Write = l.pretty
	case l.asStored:
		b.Size = l.size()
		return b, nil
	}
	if all > response.MaxBuffered {
		b.Write = response.Buffered(b.Write)
		return b, nil
	}
	var err error
	b.Bytes, err = response.Collect(b.Write)
	b.Write = nil
	return b, err
}

// size is that of the JSON line of a list whose items go out as they are stored.
func (l *List) size() int {
	size := len(l.head) + len(listEnd) + len(newline) + max(len(l.items)-1, 0)
	for _, o := range l.items {
		size += len(o.JSON) - o.ItemOffset + 1
	}
	return size
}

// What stands before and between items. They are written on their own, so that stored items need not be copied.
var (
	itemStart     = []byte("{")
	nextItemStart = []byte(",{")
	separator     = []byte(",")
)

// JSON writes the list as JSON. The store's bytes go to the connection without a copy where the items are
// as stored, the usual case of an informer's list.
func (l *List) JSON(w io.Writer) error {
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

// jsonLine writes the list as JSON and a newline.
func (l *List) jsonLine(w io.Writer) error {
	if err := l.JSON(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, newline)
	return err
}

// pretty writes the list as JSON for people.
func (l *List) pretty(w io.Writer) error { return l.JSON(response.NewIndenter(w)) }

// copyItems writes the items out of the store's bytes.
func (l *List) copyItems(w io.Writer) error {
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

// each makes one item after the other as JSON, which is valid until the next. The buffer is shared by all
// items and goes back to a pool, so do must not keep the item.
func (l *List) each(do func(i int, item []byte) error) error {
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
