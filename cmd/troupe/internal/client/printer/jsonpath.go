package printer

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A part is one element of a JSONPath template: text, a path, or a range with nested parts. For
// example:
//
//	text {.path} {"a string"} {range .items[*]} … {end}
type part struct {
	text  string
	path  jsonpath.Path
	isRef bool
	inner []part // parts of a range
	isSet bool   // it is a range
}

// parseTemplate parses a template. A text without braces is a single path.
func parseTemplate(text string) ([]part, error) {
	if !strings.Contains(text, "{") {
		text = "{" + text + "}"
	}
	parts, rest, ended, err := parseParts(text)
	if err == nil && (rest != "" || ended) {
		err = fmt.Errorf("{end} without {range}")
	}
	if err != nil {
		return nil, fmt.Errorf("error parsing jsonpath %s: %w", text, err)
	}
	return parts, nil
}

// parseParts parses the elements of a template up to its end or {end}, and returns the remaining
// text. ended reports whether it found {end}.
func parseParts(text string) (parts []part, rest string, ended bool, err error) {
	for text != "" {
		before, after, found := strings.Cut(text, "{")
		if before != "" {
			parts = append(parts, part{text: before})
		}
		if !found {
			return parts, "", false, nil
		}
		end := closingBrace(after)
		if end < 0 {
			return nil, "", false, fmt.Errorf("unclosed action")
		}
		action := strings.TrimSpace(after[:end])
		text = after[end+1:]
		switch {
		case action == "end":
			return parts, text, true, nil
		case strings.HasPrefix(action, "range ") || strings.HasPrefix(action, "range."):
			p, err := parsePath(strings.TrimSpace(strings.TrimPrefix(action, "range")))
			if err != nil {
				return nil, "", false, err
			}
			inner, more, closed, err := parseParts(text)
			if err == nil && !closed {
				err = fmt.Errorf("unclosed range")
			}
			if err != nil {
				return nil, "", false, err
			}
			parts, text = append(parts, part{path: p, inner: inner, isSet: true}), more
		case len(action) >= 2 && (action[0] == '"' || action[0] == '\''):
			s, err := unquote(action)
			if err != nil {
				return nil, "", false, err
			}
			parts = append(parts, part{text: s})
		default:
			p, err := parsePath(action)
			if err != nil {
				return nil, "", false, err
			}
			parts = append(parts, part{path: p, isRef: true})
		}
	}
	return parts, "", false, nil
}

// closingBrace returns the index of an action's closing brace, or -1. It skips quoted braces.
func closingBrace(text string) int {
	quote := byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			continue
		case quote != 0:
			if c == quote && (i == 0 || text[i-1] != '\\') {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '}':
			return i
		}
	}
	return -1
}

func unquote(text string) (string, error) {
	if text[0] == '\'' {
		text = `"` + strings.ReplaceAll(strings.Trim(text, "'"), `"`, `\"`) + `"`
	}
	s, err := strconv.Unquote(text)
	if err != nil {
		return "", fmt.Errorf("%s is not a string", text)
	}
	return s, nil
}

// parsePath parses a path, which may begin with $ or @. The first dot is optional.
func parsePath(text string) (jsonpath.Path, error) {
	trimmed := strings.TrimLeft(text, "$@")
	if trimmed != "" && trimmed[0] != '.' && trimmed[0] != '[' {
		trimmed = "." + trimmed
	}
	p, ok := jsonpath.Parse(strings.TrimSuffix(trimmed, "."))
	if !ok {
		return nil, fmt.Errorf("invalid path %q: use .metadata.name, .items[*].spec or .status.conditions[?(@.type==\"Ready\")].status", text)
	}
	return p, nil
}

func textPath(text string) (Printer, error) {
	parts, err := parseTemplate(text)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer, t tree.Tree) error {
		var b bytes.Buffer
		appendParts(&b, parts, document.JSON(t))
		return write(w, b.Bytes())
	}, nil
}

func appendParts(b *bytes.Buffer, parts []part, v jsontext.Value) {
	for _, p := range parts {
		switch {
		case p.isSet:
			p.path.Walk(v, func(one jsontext.Value) bool { appendParts(b, p.inner, one); return true })
		case p.isRef:
			first := true
			p.path.Walk(v, func(one jsontext.Value) bool {
				if !first {
					b.WriteByte(' ')
				}
				first = false
				b.WriteString(plain(one))
				return true
			})
		default:
			b.WriteString(p.text)
		}
	}
}

// plain formats a value like kubectl: strings without quotes, and null as an empty string.
func plain(v jsontext.Value) string {
	if string(v) == "null" {
		return ""
	}
	return jsonpath.Text(v)
}

func jsonPath(text string) (Printer, error) {
	parts, err := parseTemplate(text)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer, t tree.Tree) error {
		found := []any{}
		for _, p := range parts {
			var err error
			p.path.Walk(document.JSON(t), func(v jsontext.Value) bool {
				var one any
				if one, err = tree.Decode(v); err != nil {
					return false
				}
				found = append(found, one)
				return true
			})
			if err != nil {
				return err
			}
		}
		return write(w, document.IndentedJSON(found))
	}, nil
}

// Lookup returns the first value at a path as text, and whether the path exists.
func Lookup(t tree.Tree, path jsonpath.Path) (string, bool) {
	work := math.MaxInt
	v := path.First(document.JSON(t), &work)
	return plain(v), v.Exists()
}

// ParsePath parses a path from a flag, with or without braces.
func ParsePath(text string) (jsonpath.Path, error) {
	return parsePath(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "{"), "}"))
}
