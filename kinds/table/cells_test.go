package table

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/internal/golden"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// TestColumns checks single columns. Each case in the test data contains the column's path, then
// the object's fields.
func TestColumns(t *testing.T) {
	golden.Run(t, "testdata/cells.txt", func(given []string) string {
		fields := strings.TrimSuffix(strings.TrimPrefix(given[1], "{"), "}")
		o := object(strings.TrimSuffix(","+fields, ","))
		if strings.HasPrefix(fields, `"metadata":`) {
			o = &meta.Object{Key: meta.Key{Name: "x"}, JSON: []byte("{" + strings.Replace(fields, "{", `{"name":"x",`, 1) + "}")}
			o.Meta.Terminating = Metadata(o).Field("deletionTimestamp").Exists()
		}
		cell := cellOf(&schema.Column{Path: given[0], Type: "string"})
		return string(cell.append(nil, rowOf(o)))
	})
}

func TestBooleanFallback(t *testing.T) {
	for _, kind := range []string{"boolean", "string"} {
		yes := cellOf(&schema.Column{Path: "spec.attach|true", Type: kind})
		if got := string(yes.append(nil, rowOf(&meta.Object{JSON: []byte(`{}`)}))); got != "true" {
			t.Errorf("a boolean in a column of type %s falls back to %s", kind, got)
		}
	}
}

func TestStoredColumns(t *testing.T) {
	stored := &schema.Kind{Columns: []schema.Column{{Name: "A", Path: "a"}}}
	if got := columnsOf(&schema.Kind{Stored: stored}); len(got) != 1 || got[0].Name != "A" {
		t.Errorf("got %v", got)
	}
	own := []schema.Column{{Name: "B", Path: "b"}}
	if got := columnsOf(&schema.Kind{Stored: stored, Columns: own}); got[0].Name != "B" {
		t.Errorf("got %v", got)
	}
}
