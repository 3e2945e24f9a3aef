package printer

import (
	"io"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A TableView configures how a server's table is printed.
type TableView struct {
	Wide, NoHeaders, ShowLabels, ShowKind, Namespaces bool
	LabelColumns                                      []string
	// Prefix is the type before the slash in names if ShowKind is set.
	Prefix string
	// Events adds a column with the watch event type.
	Events bool
}

// A TablePrinter prints one resource's tables with a single header. The tables may arrive in
// chunks.
type TablePrinter struct {
	View    TableView
	printed bool
	columns []tree.Tree
	grid    Grid
}

// Add adds rows for the next Flush. event is the watch event type, or "" without a watch.
func (p *TablePrinter) Add(table tree.Tree, event string) {
	if columns := table.Objects("columnDefinitions"); len(columns) > 0 {
		p.columns = columns
	}
	for _, row := range table.Objects("rows") {
		if !p.printed {
			p.printed = true
			if !p.View.NoHeaders {
				p.grid.Row(p.headers()...)
			}
		}
		p.grid.Row(p.row(row, event)...)
	}
}

// Empty reports whether no row has been added yet.
func (p *TablePrinter) Empty() bool { return !p.printed }

func (p *TablePrinter) Flush(w io.Writer) error { return p.grid.Flush(w) }

func (p *TablePrinter) shown(i int) bool {
	priority, _ := p.columns[i].Int("priority")
	return p.View.Wide || priority == 0
}

func (p *TablePrinter) headers() (all []string) {
	if p.View.Events {
		all = append(all, "EVENT")
	}
	if p.View.Namespaces {
		all = append(all, "NAMESPACE")
	}
	for i, c := range p.columns {
		if p.shown(i) {
			all = append(all, strings.ToUpper(c.String("name")))
		}
	}
	for _, l := range p.View.LabelColumns {
		all = append(all, strings.ToUpper(l[strings.LastIndexByte(l, '/')+1:]))
	}
	if p.View.ShowLabels {
		all = append(all, "LABELS")
	}
	return all
}

func (p *TablePrinter) row(row tree.Tree, event string) (all []string) {
	m := row.Object("object", "metadata")
	if p.View.Events {
		all = append(all, event)
	}
	if p.View.Namespaces {
		all = append(all, m.String("namespace"))
	}
	named := false
	for i, c := range row.List("cells") {
		if i >= len(p.columns) || !p.shown(i) {
			continue
		}
		text := cell(c)
		if p.View.ShowKind && !named && p.columns[i].String("format") == "name" { // only the first name column is the object's own
			text, named = p.View.Prefix+"/"+text, true
		}
		all = append(all, text)
	}
	labels := m.Object("labels")
	for _, l := range p.View.LabelColumns {
		all = append(all, labels.String(l))
	}
	if p.View.ShowLabels {
		all = append(all, LabelsText(labels))
	}
	return all
}

func cell(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return "<none>"
	}
	return string(document.JSON(v))
}

// LabelsText formats labels on one line.
func LabelsText(labels tree.Tree) string {
	if len(labels) == 0 {
		return "<none>"
	}
	var all []string
	for _, name := range labels.SortedKeys() {
		all = append(all, name+"="+labels.String(name))
	}
	return strings.Join(all, ",")
}

// SortRows sorts the rows of a table by key, in the order of CompareKeys.
func SortRows(table tree.Tree, key func(row tree.Tree) string) {
	rows := table.List("rows")
	slices.SortStableFunc(rows, func(a, b any) int {
		x, _ := a.(tree.Tree)
		y, _ := b.(tree.Tree)
		return CompareKeys(key(x), key(y))
	})
}
