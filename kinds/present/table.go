package present

import (
	"strconv"
	"time"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// IncludeObjectPolicy says how much of its object a row of a table holds.
type IncludeObjectPolicy uint8

// The policies; the first is the default.
const (
	IncludeMetadata IncludeObjectPolicy = iota
	IncludeNone
	IncludeFullObject
)

// ParseInclude reads the includeObject parameter: "", "None", "Metadata" or "Object".
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

// TableOptions say how a table is written.
type TableOptions struct {
	ListMeta
	IncludeObject IncludeObjectPolicy
	Version       string    // of the meta group: "v1" (or "") or "v1beta1"
	Now           time.Time // what ages are counted to
}

// A TableWriter writes a Table piece by piece: its head, then its rows with commas between them, and
// TableEnd; or one Table after the other, with Next. It is for one goroutine at a time.
//
// It is made once per request: the paths of columns are read then, and rows are only filled in.
type TableWriter struct {
	naming     *meta.Naming
	options    TableOptions
	columns    []schema.Column // nil once Next has written them
	cells      []cell
	apiVersion string
	// converted is the kind of the objects, where that is not the stored one and cells are read from the
	// stored version: an object has the same row in whatever version it is asked for. nil if the objects
	// are read as they are.
	converted *schema.Kind
	row       row // the one that is being written
}

// TableEnd ends a Table, after its rows.
const TableEnd = "]}"

// NewTableWriter makes the writer of a Table of objects of a kind.
func NewTableWriter(n *meta.Naming, k *schema.Kind, o TableOptions) *TableWriter {
	t := &TableWriter{naming: n, options: o, columns: columnsOf(k), apiVersion: apiVersion(n, o.Version)}
	if k.Stored != nil && k.Stored != k && !k.IsCustom() {
		t.converted, t.columns = k, columnsOf(k.Stored)
	}
	t.cells = cellsOf(t.columns)
	return t
}

// rowSource is the JSON that the cells of an object's row are read from. An object that cannot be
// converted is read as it is: a table with poor cells is better than none.
//
// The conversion costs a decoding and an encoding of the object; only kinds with several versions need it,
// and only for the versions that are not stored.
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

// AppendHead writes what comes before the rows.
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

// Next writes a Table of one object, with its own metadata and time, as events of a watch have. Clients print the
// columns once: only the first Table has their definitions, and later ones hold little more than their row.
func (t *TableWriter) Next(b []byte, obj *meta.Object, l ListMeta, now time.Time) []byte {
	t.options.ListMeta, t.options.Now = l, now
	b = t.AppendHead(b)
	t.columns = nil
	return append(t.AppendRow(b, obj), TableEnd...)
}

// AppendRow writes the row of an object.
func (t *TableWriter) AppendRow(b []byte, obj *meta.Object) []byte {
	r := t.open(obj)
	defer func() { *r = row{} }() // a watch that waits holds no object
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

// open makes the row of an object.
func (t *TableWriter) open(obj *meta.Object) *row {
	r := &t.row
	r.object, r.now, r.naming = obj, t.options.Now, t.naming
	r.json.Reset(t.rowSource(obj))
	if t.converted == nil {
		r.metadata = r.json.Field("metadata")
	} else {
		r.metadata = Metadata(obj)
	}
	return r
}

// Table writes objects of one kind as a Table in one piece.
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

// appendHeaders writes the column definitions.
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

// A row is one object that is being written into a table.
type row struct {
	json     jsontext.Object
	object   *meta.Object
	metadata jsontext.Value // that of the object
	now      time.Time
	naming   *meta.Naming
	pod      *podSummary // made by the first column that needs it
}

// append writes the row without its object and the closing bracket.
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
