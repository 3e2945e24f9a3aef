package printer

import (
	"fmt"
	"io"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/tree"
)

func customColumns(text string, noHeaders bool) (Printer, error) {
	var headers []string
	var paths []jsonpath.Path
	for column := range strings.SplitSeq(text, ",") {
		header, path, ok := strings.Cut(column, ":")
		if !ok || header == "" || path == "" {
			return nil, fmt.Errorf("unexpected custom-columns spec: %s, expected <header>:<json-path-expr>", column)
		}
		p, err := ParsePath(path)
		if err != nil {
			return nil, err
		}
		headers, paths = append(headers, header), append(paths, p)
	}
	printed := noHeaders
	return func(w io.Writer, t tree.Tree) error {
		table := &Grid{}
		if !printed {
			table.Row(headers...)
			printed = true
		}
		for _, one := range items(t) {
			cells := make([]string, len(paths))
			text := document.JSON(one)
			for i, p := range paths {
				var found []string
				p.Walk(text, func(v jsontext.Value) bool { found = append(found, goText(v)); return true })
				if cells[i] = strings.Join(found, ","); len(found) == 0 {
					cells[i] = "<none>"
				}
			}
			table.Row(cells...)
		}
		return table.Flush(w)
	}, nil
}

// goText formats a value for a custom column. Like kubectl, it uses Go syntax for objects and
// lists.
func goText(v jsontext.Value) string {
	if len(v) > 0 && (v[0] == '{' || v[0] == '[') {
		if any, err := tree.Decode(v); err == nil {
			return strings.ReplaceAll(fmt.Sprint(any), "\n", `\n`)
		}
	}
	if !v.Exists() {
		return "<nil>"
	}
	return jsonpath.Text(v)
}

// columnsOfFile converts a file with a line of headers and a line of paths to a column list.
func columnsOfFile(text string) (string, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 2 {
		return "", fmt.Errorf("a custom-columns file needs two lines, headers and paths; it has %d", len(lines))
	}
	headers, paths := strings.Fields(lines[0]), strings.Fields(lines[1])
	if len(headers) != len(paths) {
		return "", fmt.Errorf("the custom-columns file has %d headers and %d paths", len(headers), len(paths))
	}
	var columns []string
	for i, h := range headers {
		columns = append(columns, h+":"+paths[i])
	}
	return strings.Join(columns, ","), nil
}
