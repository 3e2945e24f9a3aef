package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Parse parses one JSON object.
func Parse(text []byte) (tree.Tree, error) {
	v, err := tree.Decode(text)
	if err != nil {
		return nil, err
	}
	t, ok := v.(tree.Tree)
	if !ok {
		return nil, errors.New("not an object")
	}
	return t, nil
}

// ParseYAML parses one object in YAML or JSON. Duplicate keys are an error.
func ParseYAML(text []byte) (tree.Tree, error) {
	converted, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	return Parse(converted)
}

// Split splits a text into YAML documents separated by --- lines, or into concatenated JSON
// objects. It omits empty documents.
func Split(text []byte) (documents []*Document, err error) {
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' {
		d, skipped := json.NewDecoder(bytes.NewReader(trimmed)), bytes.Index(text, trimmed)
		for {
			var one json.RawMessage
			switch err := d.Decode(&one); {
			case err == io.EOF:
				return documents, nil
			case err != nil && len(documents) == 0:
				return []*Document{{Text: text, Line: 1}}, nil // flow-style YAML also begins with a brace
			case err != nil:
				return nil, err
			}
			start := skipped + int(d.InputOffset()) - len(one)
			documents = append(documents, &Document{Text: one, Line: 1 + bytes.Count(text[:start], []byte("\n"))})
		}
	}
	var b strings.Builder
	first, line := 1, 0 // lines of the document's start and of the current position
	flush := func() {
		if text := []byte(b.String()); contentLine(text) >= 0 {
			documents = append(documents, &Document{Text: text, Line: first})
		}
		b.Reset()
		first = line
	}
	for text := range strings.Lines(string(text)) {
		line++
		if rest, ok := strings.CutPrefix(text, "---"); ok && (strings.TrimSpace(rest) == "" || rest[0] == ' ') {
			flush()
			b.WriteString(strings.TrimPrefix(rest, " "))
			continue
		}
		b.WriteString(text)
	}
	flush()
	return documents, nil
}

// contentLine returns the index of the first line with content, or -1.
func contentLine(text []byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return n
		}
		n++
	}
	return -1
}

// JSON encodes a value on one line, without HTML escapes.
func JSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("cannot be encoded as JSON: %v", err)) // it was parsed from JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// IndentedJSON encodes a value with indentation.
func IndentedJSON(v any) []byte {
	text, err := json.MarshalIndent(v, "", "    ")
	if err != nil {
		panic(fmt.Sprintf("cannot be encoded as JSON: %v", err))
	}
	return append(text, '\n')
}

// YAML encodes a value with sorted keys.
func YAML(v any) []byte {
	text, err := codec.YAML(JSON(v))
	if err != nil {
		panic(fmt.Sprintf("cannot be encoded as YAML: %v", err))
	}
	return text
}
