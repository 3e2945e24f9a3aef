package printer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/template"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Printer prints one object or list.
type Printer func(w io.Writer, o tree.Tree) error

// Valid formats for --output. formatArguments lists the formats that take an argument, as in
// jsonpath={.metadata.name}.
var (
	formats         = []string{"json", "yaml", "name", "wide"}
	formatArguments = []string{"jsonpath", "jsonpath-as-json", "jsonpath-file", "custom-columns", "custom-columns-file", "go-template", "go-template-file"}
)

// Options configure a Printer.
type Options struct {
	Output            string // the flag
	Template          string // the flag, for formats that take one
	ShowManagedFields bool
	NoHeaders         bool
	// Name returns an object's name for the "name" format.
	Name func(o tree.Tree) string
}

// IsTable reports whether the output is a table.
func (o Options) IsTable() bool { return o.Output == "" || o.Output == "wide" }

// New returns the Printer for a non-table format.
func New(o Options) (Printer, error) {
	format, argument, given := strings.Cut(o.Output, "=")
	if slices.Contains(formatArguments, format) {
		if argument == "" {
			argument = o.Template
		}
		if argument == "" {
			return nil, fmt.Errorf("the format %[1]s needs an argument: -o %[1]s=…", format)
		}
		if file, ok := strings.CutSuffix(format, "-file"); ok {
			text, err := os.ReadFile(argument)
			if err != nil {
				return nil, err
			}
			format, argument = file, string(text)
			if file == "custom-columns" {
				if argument, err = columnsOfFile(argument); err != nil {
					return nil, err
				}
			}
		}
	} else if given {
		format = o.Output // unknown
	}
	p, err := named(o, format, argument)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer, t tree.Tree) error {
		if !o.ShowManagedFields && (format == "json" || format == "yaml") { // paths and templates select fields themselves
			t = withoutManagedFields(t)
		}
		return p(w, t)
	}, nil
}

func named(o Options, format, argument string) (Printer, error) {
	switch format {
	case "json":
		return func(w io.Writer, t tree.Tree) error { return write(w, document.IndentedJSON(t)) }, nil
	case "yaml":
		first := true
		return func(w io.Writer, t tree.Tree) error {
			if !first {
				if err := write(w, []byte("---\n")); err != nil {
					return err
				}
			}
			first = false
			return write(w, document.YAML(t))
		}, nil
	case "name":
		return func(w io.Writer, t tree.Tree) error {
			for _, one := range items(t) {
				if _, err := fmt.Fprintln(w, o.Name(one)); err != nil {
					return err
				}
			}
			return nil
		}, nil
	case "jsonpath":
		return textPath(argument)
	case "jsonpath-as-json":
		return jsonPath(argument)
	case "custom-columns":
		return customColumns(argument, o.NoHeaders)
	case "go-template", "template":
		return goTemplate(argument)
	}
	return nil, fmt.Errorf("unable to match a printer suitable for the output format %q, allowed formats are: %s", o.Output,
		strings.Join(append(slices.Clone(formatArguments), formats...), ","))
}

func write(w io.Writer, text []byte) error {
	_, err := w.Write(text)
	return err
}

func items(t tree.Tree) []tree.Tree {
	if t.Has("items") && strings.HasSuffix(t.String("kind"), "List") {
		return t.Objects("items")
	}
	return []tree.Tree{t}
}

func withoutManagedFields(t tree.Tree) tree.Tree {
	if t.Has("items") && strings.HasSuffix(t.String("kind"), "List") {
		list := make([]any, 0, len(t.List("items")))
		for _, one := range t.Objects("items") {
			list = append(list, withoutManagedFields(one))
		}
		return with(t, "items", list)
	}
	if m := t.Object("metadata"); m.Has("managedFields") {
		m = maps.Clone(m)
		delete(m, "managedFields")
		return with(t, "metadata", m)
	}
	return t
}

func with(t tree.Tree, key string, v any) tree.Tree {
	copied := maps.Clone(t)
	copied[key] = v
	return copied
}

func goTemplate(text string) (Printer, error) {
	parsed, err := template.New("output").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("error parsing template %q: %w", text, err)
	}
	return func(w io.Writer, t tree.Tree) error {
		var plain any // templates need plain maps
		if err := json.Unmarshal(document.JSON(t), &plain); err != nil {
			return err
		}
		var b bytes.Buffer
		if err := parsed.Execute(&b, plain); err != nil {
			return fmt.Errorf("error executing template %q: %w", text, err)
		}
		return write(w, b.Bytes())
	}, nil
}
