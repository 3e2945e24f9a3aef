package present

import (
	"strconv"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// IncludeObject says what the rows of a table hold of their objects.
type IncludeObject uint8

// The policies; the first is the default.
const (
	IncludeMetadata IncludeObject = iota
	IncludeNone
	IncludeWhole
)

// ParseInclude reads the includeObject parameter: "", "None", "Metadata" or "Object".
func ParseInclude(s string) (IncludeObject, bool) {
	switch s {
	case "", "Metadata":
		return IncludeMetadata, true
	case "None":
		return IncludeNone, true
	case "Object":
		return IncludeWhole, true
	}
	return IncludeMetadata, false
}

// TableOptions say how a table is written.
type TableOptions struct {
	ListMeta
	IncludeObject IncludeObject
	Version       string    // of the meta group: "v1" (or "") or "v1beta1"
	NoHeaders     bool      // leaves the column definitions out: the later events of a watch
	Now           time.Time // what ages are counted to
}

// Table writes objects of one kind as a Table: a list, or one object.
func Table(n *meta.Naming, k *schema.Kind, objs []*meta.Object, o TableOptions) []byte {
	columns := columnsOf(k)
	v := apiVersion(n, o.Version)
	b := make([]byte, 0, 512+len(objs)*512)
	b = append(b, `{"kind":"Table","apiVersion":"`...)
	b = append(b, v...)
	b = append(b, `","metadata":`...)
	b = o.Append(b)
	b = append(b, `,"columnDefinitions":`...)
	if o.NoHeaders {
		b = append(b, "null"...)
	} else {
		b = appendHeaders(b, columns)
	}
	b = append(b, `,"rows":[`...)
	cells := cellsOf(columns)
	for i, obj := range objs {
		if i > 0 {
			b = append(b, ',')
		}
		r := row{json: obj.JSON, object: obj, now: o.Now, names: n}
		b = r.append(b, cells)
		b = append(b, `,"object":`...)
		switch o.IncludeObject {
		case IncludeNone:
			b = append(b, "null"...)
		case IncludeWhole:
			b = append(b, obj.JSON...)
		default:
			b = appendPartial(b, v, obj)
		}
		b = append(b, '}')
	}
	return append(b, "]}"...)
}

func appendHeaders(b []byte, columns []schema.Column) []byte {
	b = append(b, '[')
	for i := range columns {
		c := &columns[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"name":`...)
		b = appendText(b, c.Name)
		b = append(b, `,"type":`...)
		b = appendText(b, c.Type)
		b = append(b, `,"format":`...)
		b = appendText(b, c.Format)
		b = append(b, `,"description":`...)
		b = appendText(b, c.Description)
		b = append(b, `,"priority":`...)
		b = strconv.AppendInt(b, int64(c.Priority), 10)
		b = append(b, '}')
	}
	return append(b, ']')
}

// A row is one object on its way into a table.
type row struct {
	json   value
	object *meta.Object
	now    time.Time
	names  *meta.Naming
	pod    *podSummary // made once, by the first column that asks
}

// append writes the row up to, and without, its object.
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
