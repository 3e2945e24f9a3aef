package table

import (
	"strconv"
	"time"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// IncludeObjectPolicy defines how much of its object a table row includes.
type IncludeObjectPolicy uint8

// Values of IncludeObjectPolicy. IncludeMetadata is the default.
const (
	IncludeMetadata IncludeObjectPolicy = iota
	IncludeNone
	IncludeFullObject
)

// ParseInclude parses the includeObject query parameter, "", "None", "Metadata" or "Object". It
// returns false for other values.
func ParseInclude(s string) (IncludeObjectPolicy, bool) {
	switch s {
	case "", "Metadata":
		return IncludeMetadata, true
	case "None":
		return IncludeNone, true
	case "Object":
		return IncludeFullObject, true
	}
	return IncludeMetadata, false
}

type TableOptions struct {
	ListMeta
	IncludeObject IncludeObjectPolicy
	Version       string         // meta group version: "v1" (or "") or "v1beta1"
	Now           time.Time      // for ages
	List          []*meta.Object // nil for a single object
}

// A TableWriter writes a Table piece by piece: the head, comma-separated rows, and TableEnd. For a
// watch, Next writes a sequence of Tables instead. One TableWriter serves all rows of a request,
// because creating it parses the column paths. A TableWriter is not safe for concurrent use.
type TableWriter struct {
	naming     *meta.Naming
	options    TableOptions
	columns    []schema.Column // nil after Next has written them
	cells      []cell
	apiVersion string
	// converted is the kind of the objects if they are converted to the storage version before
	// their cells are read, and otherwise nil. After conversion, an object has the same row in all
	// API versions.
	converted *schema.Kind
	row       row // the current row
}

// TableEnd closes a Table after its last row.
const TableEnd = "]}"

// NewTableWriter returns a TableWriter for objects of kind k.
func NewTableWriter(n *meta.Naming, k *schema.Kind, o TableOptions) *TableWriter {
	t := &TableWriter{naming: n, options: o, columns: columnsOf(k), apiVersion: apiVersion(n, o.Version)}
	if k.Stored != nil && k.Stored != k && !k.IsCustom() {
		t.converted, t.columns = k, columnsOf(k.Stored)
	}
	t.cells = cellsOf(t.columns)
	return t
}

// rowSource returns the JSON from which cells are read. If the conversion fails, it returns the
// unconverted JSON, because incomplete cells are better than no table.
func (t *TableWriter) rowSource(obj *meta.Object) []byte {
	if t.converted == nil {
		return obj.JSON
	}
	tree, err := codec.DecodeStored(t.converted.Message(), obj.JSON)
	if err != nil {
		return obj.JSON
	}
	return codec.EncodeJSON(t.converted.Stored, convert.ToStored(t.converted, tree)).Unversioned()
}

// AppendHead appends everything before the rows.
func (t *TableWriter) AppendHead(b []byte) []byte {
	b = append(b, `{"kind":"Table","apiVersion":"`...)
	b = append(b, t.apiVersion...)
	b = append(b, `","metadata":`...)
	b = t.options.Append(b)
	b = append(b, `,"columnDefinitions":`...)
	if t.columns == nil {
		b = append(b, "null"...)
	} else {
		b = appendHeaders(b, t.columns)
	}
	return append(b, `,"rows":[`...)
}

// Next appends a Table with one object, its own metadata and the current time, for a watch event.
// Only the first Table has column definitions, because clients print the header once.
func (t *TableWriter) Next(b []byte, obj *meta.Object, l ListMeta, now time.Time) []byte {
	t.options.ListMeta, t.options.Now = l, now
	b = t.AppendHead(b)
	t.columns = nil
	return append(t.AppendRow(b, obj), TableEnd...)
}

// AppendRow appends the row of an object.
func (t *TableWriter) AppendRow(b []byte, obj *meta.Object) []byte {
	r := t.open(obj)
	defer func() { *r = row{} }() // an idle watch must not retain the object
	b = r.append(b, t.cells)
	b = append(b, `,"object":`...)
	switch t.options.IncludeObject {
	case IncludeNone:
		b = append(b, "null"...)
	case IncludeFullObject:
		b = append(b, obj.JSON...)
	default:
		b = appendPartial(b, t.apiVersion, r.metadata)
	}
	return append(b, '}')
}

func (t *TableWriter) open(obj *meta.Object) *row {
	r := &t.row
	r.object, r.now, r.list, r.naming, r.work = obj, t.options.Now, t.options.List, t.naming, maxRowWork
	r.json.Reset(t.rowSource(obj))
	if t.converted == nil {
		r.metadata = r.json.Field("metadata")
	} else {
		r.metadata = Metadata(obj)
	}
	return r
}

// Table encodes objects of one kind as a complete Table.
func Table(n *meta.Naming, k *schema.Kind, objs []*meta.Object, o TableOptions) []byte {
	t := NewTableWriter(n, k, o)
	b := t.AppendHead(make([]byte, 0, 512+len(objs)*512))
	for i, obj := range objs {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.AppendRow(b, obj)
	}
	return append(b, TableEnd...)
}

func appendHeaders(b []byte, columns []schema.Column) []byte {
	b = append(b, '[')
	for i := range columns {
		c := &columns[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"name":`...)
		b = jsontext.AppendString(b, c.Name)
		b = append(b, `,"type":`...)
		b = jsontext.AppendString(b, c.Type)
		b = append(b, `,"format":`...)
		b = jsontext.AppendString(b, c.Format)
		b = append(b, `,"description":`...)
		b = jsontext.AppendString(b, c.Description)
		b = append(b, `,"priority":`...)
		b = strconv.AppendInt(b, int64(c.Priority), 10)
		b = append(b, '}')
	}
	return append(b, ']')
}

// maxRowWork bounds the JSONPath evaluation of one row to a few milliseconds, in units of package
// jsonpath. Otherwise, forty columns could each search an object of the maximum size. Cells beyond
// the limit are null.
const maxRowWork = 1 << 20

type row struct {
	json     jsontext.Object
	object   *meta.Object
	metadata jsontext.Value // object metadata
	now      time.Time
	list     []*meta.Object // see TableOptions
	// newestDefault is set by the first row of a default class, so that later rows do not search
	// list.
	newestDefault string
	naming        *meta.Naming
	work          int         // remaining work for JSONPath
	pod           *podSummary // created by the first column that needs it
}

func (r *row) append(b []byte, cells []cell) []byte {
	b = append(b, `{"cells":[`...)
	for i := range cells {
		if i > 0 {
			b = append(b, ',')
		}
		b = cells[i].append(b, r)
	}
	b = append(b, ']')
	if r.pod != nil {
		b = r.pod.appendConditions(b)
	}
	return b
}
