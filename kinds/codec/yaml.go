package codec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"go.yaml.in/yaml/v2"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Limits on YAML bodies, because a few bytes of aliases can expand to gigabytes.
const (
	yamlGrowthFactor = 16      // multiple of the body size
	yamlGrowthBase   = 1 << 16 // additional bytes
	yamlMaxNesting   = 1000    // the parser's time grows faster than linearly with nesting
)

const (
	errYAMLGrowth            = jsontext.SyntaxError("yaml: document contains excessive aliasing")
	errYAMLDepth             = jsontext.SyntaxError("yaml: exceeded max depth")
	errYAMLMultipleDocuments = jsontext.SyntaxError("yaml: the body holds more than one document")
)

// DecodeYAML is DecodeJSON for YAML 1.1. It decodes a JSON body as JSON, which is many times
// faster. Duplicate keys are reported with the YAML parser's message, and the last one wins.
//
// The parser's values become a tree (yamlConverter), which the conformer checks, so types and
// errors match JSON's.
func DecodeYAML(m *schema.Message, data []byte) (tree.Tree, []FieldFault, error) {
	return decodeYAML(m, data, false)
}

// DecodeConfig decodes an apply configuration like DecodeYAML, but keeps null fields as nil,
// because a field manager owns every field in its configuration. Null list elements become the zero
// value.
func DecodeConfig(m *schema.Message, data []byte) (tree.Tree, []FieldFault, error) {
	return decodeYAML(m, data, true)
}

// decodeYAML decodes a body as JSON if possible, and otherwise as YAML. A body that begins like
// JSON but is malformed may be a YAML flow mapping. If nulls is true, null fields are kept.
func decodeYAML(m *schema.Message, data []byte, nulls bool) (tree.Tree, []FieldFault, error) {
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		t, faults, err := decodeJSON(m, data, nulls)
		if malformed := jsontext.SyntaxError(""); !errors.As(err, &malformed) || err == jsontext.ErrDepth || err == ErrTooManyMessages {
			return t, faults, err
		}
	}
	v, faults, err := readYAML(data)
	if err != nil {
		return nil, nil, err
	}
	t, ok := v.(tree.Tree)
	if !ok {
		return nil, nil, typeError("json: cannot unmarshal " + valueType(v) + " into Go value of type " + messageType(m))
	}
	c := conformer{root: true, keepNulls: nulls}
	t, more, err := c.object(m, t)
	return t, append(faults, more...), err
}

// DecodeUntyped decodes an apply configuration without a schema. Callers use it to report all
// unknown fields, which DecodeConfig drops.
func DecodeUntyped(data []byte) (tree.Tree, error) {
	v, _, err := DecodeAny(data)
	if err != nil {
		v, _, err = readYAML(data)
	}
	t, _ := v.(tree.Tree)
	return t, err
}

// readYAML reads a single YAML document. A second document is an error, because it would otherwise
// be silently ignored. readYAML searches for one only if a line looks like a document boundary. It
// parses a body with duplicate keys twice, because strict mode decodes it only partially.
func readYAML(data []byte) (v any, faults []FieldFault, err error) {
	if yamlNesting(data) > yamlMaxNesting {
		return nil, nil, errYAMLDepth
	}
	defer func() {
		if r := recover(); r != nil { // parser bug
			v, faults, err = nil, nil, jsontext.SyntaxError("yaml: document cannot be read")
		}
	}()
	var read any
	if err := yaml.UnmarshalStrict(data, &read); err != nil {
		if duplicates := (*yaml.TypeError)(nil); !errors.As(err, &duplicates) {
			return nil, nil, jsontext.SyntaxError(err.Error())
		}
		faults = []FieldFault{{Duplicate: true, Message: err.Error()}}
		read = nil
		if err := yaml.Unmarshal(data, &read); err != nil {
			return nil, nil, jsontext.SyntaxError(err.Error())
		}
	}
	if bytes.Contains(data, []byte("\n---")) || bytes.Contains(data, []byte("\n...")) {
		if err := checkSingleDocument(data); err != nil {
			return nil, nil, err
		}
	}
	c := yamlConverter{budget: yamlGrowthFactor*len(data) + yamlGrowthBase}
	v, err = c.value(read)
	return v, faults, err
}

func checkSingleDocument(data []byte) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	for first := true; ; first = false {
		var document any
		switch err := d.Decode(&document); {
		case err == io.EOF:
			return nil
		case err != nil || !first && document != nil:
			return errYAMLMultipleDocuments
		}
	}
}

// yamlNesting returns an upper bound on the nesting depth, to protect the parser, which recurses
// without a limit. Each open bracket, indentation and consecutive dash counts, even inside strings.
func yamlNesting(data []byte) int {
	deepest, brackets, lead, leading := 0, 0, 0, true
	for _, c := range data {
		switch {
		case c == '\n':
			lead, leading = 0, true
		case c == '[' || c == '{':
			brackets++
			leading = false
		case c == ']' || c == '}':
			brackets = max(brackets-1, 0)
			leading = false
		case leading && (c == '-' || c == '?' || c == ':'):
			lead++
		case c != ' ':
			leading = false
		}
		deepest = max(deepest, brackets+lead)
	}
	return deepest
}

type yamlConverter struct {
	budget int // bytes by which the tree may still grow
	depth  int
}

// spend subtracts n bytes from the budget. Each value costs 1, and strings and keys also cost their
// length, so that the total is roughly the JSON size.
func (c *yamlConverter) spend(n int) error {
	if c.budget -= n; c.budget < 0 {
		return errYAMLGrowth
	}
	return nil
}

// value converts a parser value. Each use of an alias is converted and counted against the budget.
func (c *yamlConverter) value(v any) (any, error) {
	if err := c.spend(1); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case map[any]any:
		if c.depth++; c.depth > jsontext.MaxDepth {
			return nil, errYAMLDepth
		}
		defer func() { c.depth-- }()
		return c.object(v)
	case []any:
		if c.depth++; c.depth > jsontext.MaxDepth {
			return nil, errYAMLDepth
		}
		defer func() { c.depth-- }()
		for i, item := range v {
			made, err := c.value(item)
			if err != nil {
				return nil, err
			}
			v[i] = made
		}
		return v, nil
	case string:
		return v, c.spend(len(v))
	case int:
		return int64(v), nil
	case uint64:
		return float64(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, jsontext.SyntaxError("json: unsupported value: " + strconv.FormatFloat(v, 'g', -1, 64))
		}
		return v, nil
	case int64, bool, nil:
		return v, nil
	}
	return nil, jsontext.SyntaxError(fmt.Sprintf("yaml: unsupported value of type %T", v))
}

func (c *yamlConverter) object(from map[any]any) (any, error) {
	root := make(tree.Tree, len(from))
	for key, item := range from {
		name, err := yamlKey(key)
		if err != nil {
			return nil, err
		}
		if err := c.spend(len(name)); err != nil {
			return nil, err
		}
		if _, ok := root[name]; ok { // 1 and "1" differ only in YAML
			return nil, jsontext.SyntaxError(fmt.Sprintf("yaml: key %q already set in map", name))
		}
		if root[name], err = c.value(item); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// yamlKey returns a key as a string, because YAML allows keys of other types. As in
// sigs.k8s.io/yaml, fractions have the precision of a float32.
func yamlKey(key any) (string, error) {
	switch key := key.(type) {
	case string:
		return key, nil
	case int:
		return strconv.Itoa(key), nil
	case int64:
		return strconv.FormatInt(key, 10), nil
	case bool:
		return strconv.FormatBool(key), nil
	case float64:
		switch {
		case math.IsInf(key, 1):
			return ".inf", nil
		case math.IsInf(key, -1):
			return "-.inf", nil
		case math.IsNaN(key):
			return ".nan", nil
		}
		return strconv.FormatFloat(key, 'g', -1, 32), nil
	}
	return "", jsontext.SyntaxError(fmt.Sprintf("unsupported map key of type: %T", key))
}
