package api

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	kindstable "github.com/troupe-api/troupe/kinds/table"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/transcript"
)

// varying lists patterns for the parts of cells that vary between runs, with replacements.
var varying = []struct {
	label *regexp.Regexp
	with  string
}{
	{regexp.MustCompile(`^"\d+s"$`), `"AGE"`},
	{regexp.MustCompile(`^"\d+[hdy](\d+[hd])?"$`), `"LONG"`},
	{regexp.MustCompile(`^"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"$`), `"TIME"`},
	{regexp.MustCompile(`^"10\.0\.0\.\d+"$`), `"ADDRESS"`},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), `UID`},
}

func TestTables(t *testing.T) {
	t.Parallel()
	c, a := newCatalog(t, meta.Kubernetes), serveRepresentation(t)
	var b strings.Builder
	for _, o := range objects(t, c) {
		a.create(t, o)
		fmt.Fprintf(&b, "%s\n", o)
		a.writeTable(t, &b, o.path())
		if o.kind.Subresource("scale") != nil {
			fmt.Fprintf(&b, "%s/scale\n", o)
			a.writeTable(t, &b, o.path()+"/scale")
		}
	}
	transcript.Golden(t, "testdata/representation/tables.txt", b.String())
}

// writeTable writes a line per column of an object's table: name, type, format, priority and cell.
func (a *requester) writeTable(t *testing.T, b *strings.Builder, path string) {
	t.Helper()
	var table struct {
		ColumnDefinitions []struct {
			Name, Type, Format, Description string
			Priority                        int
		}
		Rows []struct{ Cells []json.RawMessage }
	}
	client.Decode(t, a.get(t, path, as(representationJsonType, "Table", "v1"), representationJsonType), &table)
	if len(table.Rows) != 1 || len(table.Rows[0].Cells) != len(table.ColumnDefinitions) {
		t.Fatalf("%s: %v", path, table)
	}
	for i, c := range table.ColumnDefinitions {
		cell := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(table.Rows[0].Cells[i]))
		for _, v := range varying {
			cell = v.label.ReplaceAllString(cell, v.with)
		}
		kind := c.Type
		if c.Format != "" {
			kind += " " + c.Format
		}
		wide := ""
		if c.Priority > 0 {
			wide = " (wide)"
		}
		fmt.Fprintf(b, "  %s: %s%s = %s\n", c.Name, kind, wide, cell)
		if c.Description == "" {
			t.Errorf("%s: %s has no description", path, c.Name)
		}
	}
	b.WriteByte('\n')
}

// TestColumnPaths checks that column functions and their field paths exist.
func TestColumnPaths(t *testing.T) {
	t.Parallel()
	for _, k := range newCatalog(t, meta.Kubernetes).Kinds() {
		for _, c := range k.Columns {
			if !kindstable.HasFunction(c.Path) {
				t.Errorf("%s: no function %s", k.Kind, c.Path)
			}
			for _, path := range functionPaths(c.Path) {
				if k.Message().Lookup(path) == nil && mapAbove(k.Message(), path) == nil {
					t.Errorf("%s: %s leads nowhere", k.Kind, c.Path)
				}
			}
		}
	}
}

// functionPaths returns the dotted field paths in the argument of a column's function.
func functionPaths(column string) []string {
	call, ok := strings.CutPrefix(column, "func:")
	if !ok {
		return nil
	}
	call, _, _ = strings.Cut(call, "|")
	name, arg, _ := strings.Cut(call, ":")
	switch name {
	case "componentCondition", "condition", "isTrue", "outcome", "subjects", "quota", "defaultName", "newestDefault":
		return nil
	case "parts":
		return strings.Split(arg, "/")
	}
	path, _, _ := strings.Cut(arg, "/")
	if path == "" {
		return nil
	}
	return []string{path}
}

// mapAbove returns the map field whose key is the last name of path, or nil if there is none.
func mapAbove(m *schema.Message, path string) *schema.Field {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return nil
	}
	if f := m.Lookup(path[:i]); f != nil && f.Shape == schema.Map {
		return f
	}
	return nil
}
