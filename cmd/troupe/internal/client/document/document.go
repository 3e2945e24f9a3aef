package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Parse reads one object in JSON.
func Parse(text []byte) (tree.Tree, error) {
	v, err := parse(text)
	if err != nil {
		return nil, err
	}
	t, ok := v.(tree.Tree)
	if !ok {
		return nil, errors.New("it is no object")
	}
	return t, nil
}

// ParseValue reads any value in JSON.
func ParseValue(text []byte) (any, error) { return parse(text) }

func parse(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is more behind it")
	}
	return tree.Of(numbers(v)), nil
}

// numbers makes whole numbers int64, and others float64.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			v[name] = numbers(one)
		}
	case []any:
		for i, one := range v {
			v[i] = numbers(one)
		}
	case json.Number:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	}
	return v
}

// ParseYAML reads one object in YAML or JSON. A key that is there twice is an error.
func ParseYAML(text []byte) (tree.Tree, error) {
	converted, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	return Parse(converted)
}

// Split cuts a text into the documents that it holds, in YAML with lines of --- between, or in JSON one behind the other. Documents
// without content are left out.
func Split(text []byte) (documents [][]byte, err error) {
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' {
		d := json.NewDecoder(bytes.NewReader(trimmed))
		for {
			var one json.RawMessage
			switch err := d.Decode(&one); {
			case err == io.EOF:
				return documents, nil
			case err != nil && len(documents) == 0:
				return [][]byte{text}, nil // YAML may begin with a brace, too
			case err != nil:
				return nil, err
			}
			documents = append(documents, one)
		}
	}
	var b strings.Builder
	flush := func() {
		if hasContent(b.String()) {
			documents = append(documents, []byte(b.String()))
		}
		b.Reset()
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "---"); ok && (strings.TrimSpace(rest) == "" || rest[0] == ' ') {
			flush()
			b.WriteString(strings.TrimPrefix(rest, " "))
			continue
		}
		b.WriteString(line)
	}
	flush()
	return documents, nil
}

// hasContent tells whether a document holds more than comments.
func hasContent(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return true
		}
	}
	return false
}

// JSON writes a value on one line.
func JSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a tree that is no JSON: %v", err)) // it was JSON before
	}
	return text
}

// IndentedJSON writes a value as people read it.
func IndentedJSON(v any) []byte {
	text, err := json.MarshalIndent(v, "", "    ")
	if err != nil {
		panic(fmt.Sprintf("a tree that is no JSON: %v", err))
	}
	return append(text, '\n')
}

// YAML writes a value with its keys in order.
func YAML(v any) []byte {
	text, err := codec.YAML(JSON(v))
	if err != nil {
		panic(fmt.Sprintf("a tree that is no YAML: %v", err))
	}
	return text
}
