package printer

import (
	"io"
	"strings"
	"text/tabwriter"
)

// A Grid aligns text in columns, with three spaces between them. The zero value is empty.
type Grid struct{ b strings.Builder }

// inCell escapes control characters like kubectl.
var inCell = strings.NewReplacer("\t", " ", "\n", `\n`, "\r", `\r`, "\x1b", "^[")

func (g *Grid) Row(cells ...string) {
	for i, c := range cells {
		if i > 0 {
			g.b.WriteByte('\t')
		}
		g.b.WriteString(Safe(inCell.Replace(c)))
	}
	g.b.WriteByte('\n')
}

// Flush writes all rows and empties the grid.
func (g *Grid) Flush(w io.Writer) error {
	t := tabwriter.NewWriter(w, 6, 4, 3, ' ', 0)
	_, err := io.WriteString(t, g.b.String())
	g.b.Reset()
	if err != nil {
		return err
	}
	return t.Flush()
}
