package table

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
)

var defaultColumns = []schema.Column{
	{Name: "Name", Type: "string", Format: "name", Path: "metadata.name",
		Description: "The name of the object, unique among those of its kind in its namespace."},
	{Name: "Created At", Type: "date", Path: "func:createdAt",
		Description: "When the server created the object, in UTC."},
}

// columnsOf returns the columns of k, or otherwise of the storage version. Column functions support
// the fields of all versions.
func columnsOf(k *schema.Kind) []schema.Column {
	switch {
	case len(k.Columns) > 0:
		return k.Columns
	case k.Stored != nil && len(k.Stored.Columns) > 0:
		return k.Stored.Columns
	}
	return defaultColumns
}

// A cell is a column with a parsed path. If call is nil, arg is the path of the value to show.
type cell struct {
	call     cellFunc
	arg      string // the argument or the dotted path
	needs    string // path of a function with fallback; if absent, the fallback is shown
	fallback []byte // JSON for an absent value
	date     bool
}

func cellFuncNamed(name string) cellFunc {
	if text := textFuncs[name]; text != nil {
		return func(b []byte, r *row, arg string) []byte { return jsontext.AppendString(b, text(r, arg)) }
	}
	return cellFuncs[name]
}

func cellsOf(columns []schema.Column) []cell {
	cells := make([]cell, len(columns))
	for i := range columns {
		cells[i] = cellOf(&columns[i])
	}
	return cells
}

// cellOf parses a column's path. A column with an unknown function shows null, but a catalog test
// rejects such columns (HasFunction). An integer or boolean fallback of a dotted path keeps its
// type.
func cellOf(c *schema.Column) cell {
	if path, ok := strings.CutPrefix(c.Path, "json:"); ok {
		return cell{call: showJSON(c.Type, path)}
	}
	if name, ok := strings.CutPrefix(c.Path, "func:"); ok {
		name, fallback, has := strings.Cut(name, "|")
		name, arg, _ := strings.Cut(name, ":")
		out := cell{call: cellFuncNamed(name), arg: arg}
		if has {
			out.needs, _, _ = strings.Cut(arg, "/")
			out.fallback = jsontext.AppendString(nil, fallback)
		}
		return out
	}
	path, fallback, has := strings.Cut(strings.TrimPrefix(c.Path, "."), "|")
	out := cell{arg: path, date: c.Type == "date", fallback: []byte("null")}
	switch {
	case has:
		out.fallback = jsontext.AppendString(nil, fallback)
		if _, err := strconv.ParseInt(fallback, 10, 64); err == nil || fallback == "true" || fallback == "false" {
			out.fallback = []byte(fallback)
		}
	case c.Type == "string":
		out.fallback = jsontext.AppendString(nil, none)
	}
	return out
}

func (c *cell) append(b []byte, r *row) []byte {
	if c.call != nil {
		if c.needs != "" && !r.json.At(c.needs).Exists() {
			return append(b, c.fallback...)
		}
		return c.call(b, r, c.arg)
	}
	v := r.json.At(c.arg)
	switch {
	case !v.Exists() || string(v) == `""`:
		return append(b, c.fallback...)
	case c.date:
		return jsontext.AppendString(b, Age(v.Text(), r.now))
	}
	return append(b, v...)
}

// HasFunction reports whether the function of a column path exists. The path is "func:name" or
// "func:name:argument", with an optional fallback. It returns true for paths without a function.
func HasFunction(path string) bool {
	name, ok := strings.CutPrefix(path, "func:")
	if !ok {
		return true
	}
	name, _, _ = strings.Cut(name, "|")
	name, _, _ = strings.Cut(name, ":")
	return cellFuncNamed(name) != nil
}
