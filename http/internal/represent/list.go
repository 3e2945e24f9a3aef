package represent

import (
	"io"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/table"
)

// A List is a list response. It writes itself item by item in every encoding and holds only a few
// converted items in memory. Stored objects are not modified.
type List struct {
	head  []byte // JSON up to and including the bracket that opens the list
	field string // list member
	kind  *schema.Kind
	meta  table.ListMeta
	items []*meta.Object // as stored
	// objects returns the items converted to the version of kind. It is nil if no item needs
	// conversion.
	objects Objects
	encoder *Encoder
	format  negotiate.Format
	table   *table.TableWriter // nil for other shapes
}

// Objects returns one or more items of a list, starting at an index. The items are valid until the
// next call.
type Objects func(from int) ([]*meta.Object, error)

func (l *List) asStored() bool { return l.objects == nil && !l.Reshaped() }

// listEnd closes the array of items and the list. No field follows the items of any list.
const listEnd = "]}"

// objectListHead returns the head of a list of whole objects. Its items are written without kind
// and apiVersion (see ItemOffset), which only the list contains.
func objectListHead(k *schema.Kind, l table.ListMeta) []byte {
	b := make([]byte, 0, 256)
	b = append(b, `{"kind":"`...)
	b = append(b, k.ListKind()...)
	b = append(b, `","apiVersion":"`...)
	b = append(b, k.APIVersion()...)
	b = append(b, `","metadata":`...)
	b = l.Append(b)
	return append(b, `,"items":[`...)
}

// List returns the response for l in the negotiated shape. q may contain parameters for the shape.
// objects returns the items converted to the version of k, or is nil if no item needs conversion.
func (e *Encoder) List(k *schema.Kind, f negotiate.Format, q requestinfo.Query, l request.ListResult, objects Objects) (*List, error) {
	head := table.ListMeta{ResourceVersion: formatVersion(l.Version), Continue: l.Continue, Remaining: max(l.Remaining, 0)}
	list := &List{field: "items", kind: k, meta: head, items: l.Items, objects: objects, encoder: e, format: f}
	switch f.Shape {
	case negotiate.Table:
		o, err := tableOptions(f, q, head)
		if err != nil {
			return nil, err
		}
		o.List = l.Items
		list.table = table.NewTableWriter(e.Naming, k, o)
		list.field, list.head = "rows", list.table.AppendHead(nil)
	case negotiate.PartialList:
		list.head = table.AppendPartialListHead(nil, e.Naming, f.Version, head)
	case negotiate.Partial:
		return nil, apierrors.NotAcceptable("you requested PartialObjectMetadata, but the requested object is a list (" + k.ListKind() + ")")
	default:
		list.meta.WriteEmptyContinue = k.IsCustom()
		list.head = objectListHead(k, list.meta)
	}
	return list, nil
}

// Measure returns the total and the largest object size, in bytes of JSON.
func (l *List) Measure() (all, largest int) {
	for _, o := range l.items {
		all += len(o.JSON)
		largest = max(largest, len(o.JSON))
	}
	return all, largest
}

// Reshaped reports whether the items are not whole objects. Such a list may be much smaller than
// its objects, so their size is not a useful limit.
func (l *List) Reshaped() bool { return l.format.Shape != negotiate.Whole }

// Body returns the body of a list. all is the total size of its objects in bytes. A small list that
// needs conversion is built in memory, so that its size is known. A larger list is converted while
// it is written. An error can then only cut off the response, because the status has been sent.
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

func (l *List) size() int {
	size := len(l.head) + len(listEnd) + len(Newline) + max(len(l.items)-1, 0)
	for _, o := range l.items {
		size += len(o.JSON) - o.ItemOffset + 1
	}
	return size
}

// Separators are written separately to avoid copying stored items.
var (
	itemStart     = []byte("{")
	nextItemStart = []byte(",{")
	separator     = []byte(",")
)

// JSON writes the list as JSON, without copying stored items.
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

func (l *List) jsonLine(w io.Writer) error {
	if err := l.JSON(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, Newline)
	return err
}

func (l *List) pretty(w io.Writer) error { return l.JSON(response.NewIndenter(w)) }

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

// each calls do with the JSON of each item. do must not keep the slice, whose buffer is reused.
func (l *List) each(do func(item []byte) error) error {
	buf := wire.GetBuffer()
	defer wire.PutBuffer(buf)
	return l.eachObject(func(o *meta.Object) error {
		*buf = l.appendItem((*buf)[:0], o)
		return do(*buf)
	})
}

func (l *List) appendItem(b []byte, o *meta.Object) []byte {
	switch l.format.Shape {
	case negotiate.Table:
		return l.table.AppendRow(b, o)
	case negotiate.PartialList:
		return l.encoder.appendPartial(b, l.format, o)
	}
	return append(append(b, '{'), o.JSON[o.ItemOffset:]...)
}

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
