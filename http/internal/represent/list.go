package represent

import (
	"io"

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
	// objects are the items in the form of kind; nil if they are stored in that form.
	objects Objects
	encoder *Encoder
	format  negotiate.Format
	table   *present.TableWriter // nil if the shape is another
}

// Objects returns some of the objects of a list: those from an index on, at least one. They are valid until the next call.
type Objects func(from int) ([]*meta.Object, error)

// asStored reports whether the items are written as they are.
func (l *List) asStored() bool { return l.objects == nil && !l.Reshaped() }

// listEnd closes the list of items, and the object that it is in. It fits each head, so nothing may follow the items.
const listEnd = "]}"

// objectListHead is the head of a list of whole objects. Items are written without their kind and apiVersion, which the
// list has (ItemOffset).
func objectListHead(k *schema.Kind, l present.ListMeta) []byte {
	// Enough for the head of most lists; a long continue token makes it grow.
	b := make([]byte, 0, 256)
	b = append(b, `{"kind":"`...)
	b = append(b, k.ListKind()...)
	b = append(b, `","apiVersion":"`...)
	b = append(b, k.APIVersion()...)
	b = append(b, `","metadata":`...)
	b = l.Append(b)
	return append(b, `,"items":[`...)
}

// List makes a listing ready to be written in the shape that was negotiated; q may hold parameters of it.
// objects are its items in the form of k; nil if they are stored in that form.
func (e *Encoder) List(k *schema.Kind, f negotiate.Format, q requestinfo.Query, l request.ListResult, objects Objects) (*List, error) {
	head := present.ListMeta{ResourceVersion: formatVersion(l.Version), Continue: l.Continue, Remaining: max(l.Remaining, 0)}
	list := &List{field: "items", kind: k, meta: head, items: l.Items, objects: objects, encoder: e, format: f}
	switch f.Shape {
	case negotiate.Table:
		o, err := tableOptions(f, q, head)
		if err != nil {
			return nil, err
		}
		list.table = present.NewTableWriter(e.Naming, k, o)
		list.field, list.head = "rows", list.table.AppendHead(nil)
	case negotiate.PartialList:
		list.head = present.AppendPartialListHead(nil, e.Naming, f.Version, head)
	case negotiate.Partial:
		return nil, apierrors.NotAcceptable("you requested PartialObjectMetadata, but the requested object is a list (" + k.ListKind() + ")")
	default:
		list.meta.WriteEmptyContinue = k.IsCustom()
		list.head = objectListHead(k, list.meta)
	}
	return list, nil
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
func (l *List) Reshaped() bool { return l.format.Shape != negotiate.Whole }

// Body returns the body of a list whose objects have so many bytes. A small one that has to be put into
// another encoding is made at once, so that its size is known. A large one is written as it is made: an
// error in the middle can only cut the connection, as the status has been sent.
func (l *List) Body(all int) (Body, error) {
	b := Body{ContentType: negotiate.TypeJSON, Write: l.jsonLine, Size: -1, Source: all}
	switch {
	case l.format.Encoding == negotiate.Protobuf:
		return l.protobuf(all)
	case l.format.Encoding == negotiate.YAML:
		b.ContentType, b.Write = negotiate.TypeYAML, l.yaml
	case l.format.Encoding == negotiate.CBOR:
		b.ContentType, b.Write = negotiate.TypeCBOR, l.cbor
	case l.format.Pretty:
		b.Write = l.pretty
	case l.asStored():
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
	size := len(l.head) + len(listEnd) + len(Newline) + max(len(l.items)-1, 0)
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
	if l.asStored() {
		if err := l.copyItems(w); err != nil {
			return err
		}
	} else if err := l.writeItems(w); err != nil {
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
	_, err := io.WriteString(w, Newline)
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

// writeItems writes the items that have to be made.
func (l *List) writeItems(w io.Writer) error {
	first := true
	return l.each(func(item []byte) error {
		if !first {
			if _, err := w.Write(separator); err != nil {
				return err
			}
		}
		first = false
		_, err := w.Write(item)
		return err
	})
}

// each makes one item after the other as JSON, which is valid until the next. The buffer is shared by all
// items and goes back to a pool, so do must not keep the item.
func (l *List) each(do func(item []byte) error) error {
	buf := wire.GetBuffer()
	defer wire.PutBuffer(buf)
	return l.eachObject(func(o *meta.Object) error {
		*buf = l.appendItem((*buf)[:0], o)
		return do(*buf)
	})
}

// appendItem appends an item in JSON.
func (l *List) appendItem(b []byte, o *meta.Object) []byte {
	switch l.format.Shape {
	case negotiate.Table:
		return l.table.AppendRow(b, o)
	case negotiate.PartialList:
		return l.encoder.appendPartial(b, l.format, o)
	}
	return append(append(b, '{'), o.JSON[o.ItemOffset:]...)
}

// eachObject calls do for one object after the other, in the form of the kind.
func (l *List) eachObject(do func(*meta.Object) error) error {
	for from := 0; from < len(l.items); {
		objects, err := l.items, error(nil)
		if l.objects != nil {
			objects, err = l.objects(from)
		}
		if err != nil {
			return err
		}
		for _, o := range objects {
			if err := do(o); err != nil {
				return err
			}
		}
		from += len(objects)
	}
	return nil
}
