package custom

import (
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A provider declares the objects of one schema to expressions: each object with fields is a type,
// named after its path. Names begin with a character that no expression can spell: an expression
// that selects a field of a field, such as self.spec.size, is never taken for the name of a type.
type provider struct {
	*types.Registry
	objects map[string]map[string]*types.FieldType
}

func newProvider() (*provider, error) {
	registry, err := types.NewRegistry()
	return &provider{registry, map[string]map[string]*types.FieldType{}}, err
}

// FindStructType implements types.Provider.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if p.objects[name] != nil {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Registry.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	fields := p.objects[name]
	if fields == nil {
		return p.Registry.FindStructFieldNames(name)
	}
	var names []string
	for field := range fields {
		names = append(names, field)
	}
	slices.Sort(names)
	return names, true
}

// FindStructFieldType implements types.Provider.
func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	fields := p.objects[name]
	if fields == nil {
		return p.Registry.FindStructFieldType(name, field)
	}
	f, ok := fields[field]
	return f, ok
}

// declare is the type of the values of a schema; isResourceRoot: they are objects with kind and
// metadata.
func (p *provider) declare(n *node, at string, isResourceRoot bool) *types.Type {
	switch {
	case n.intOrString:
		return types.DynType
	case n.kind == "object":
		if n.additional != nil && len(n.properties) == 0 {
			return types.NewMapType(types.StringType, p.declare(n.additional, at+".@values", n.additional.embedded))
		}
		return p.object(n, at, isResourceRoot)
	case n.kind == "array":
		if n.items == nil {
			return types.NewListType(types.DynType)
		}
		return types.NewListType(p.declare(n.items, at+".@items", n.items.embedded))
	case n.kind == "string":
		switch n.format {
		case "byte":
			return types.BytesType
		case "date", "date-time":
			return types.TimestampType
		case "duration":
			return types.DurationType
		}
		return types.StringType
	case n.kind == "integer":
		return types.IntType
	case n.kind == "number":
		return types.DoubleType
	case n.kind == "boolean":
		return types.BoolType
	}
	return types.DynType
}

func (p *provider) object(n *node, at string, isResourceRoot bool) *types.Type {
	fields := map[string]*types.FieldType{}
	p.objects[at] = fields
	for _, name := range n.names {
		if escaped, ok := escape(name); ok {
			fields[escaped] = field(name, p.declare(n.properties[name], at+"."+name, n.properties[name].embedded))
		}
	}
	if isResourceRoot {
		head := at + ".@metadata"
		p.objects[head] = map[string]*types.FieldType{"name": field("name", types.StringType), "generateName": field("generateName", types.StringType)}
		fields["metadata"] = field("metadata", types.NewObjectType(head))
		fields["apiVersion"], fields["kind"] = field("apiVersion", types.StringType), field("kind", types.StringType)
	}
	return types.NewObjectType(at)
}

// field reads a field of an object, which is a map.
func field(name string, t *types.Type) *types.FieldType {
	return &types.FieldType{
		Type:  t,
		IsSet: func(target any) bool { v, there := asObject(target)[name]; return there && v != nil },
		GetFrom: func(target any) (any, error) {
			v, there := asObject(target)[name]
			if !there {
				return nil, missingKey(name)
			}
			return v, nil
		},
	}
}

func asObject(v any) map[string]any {
	if r, ok := v.(ref.Val); ok {
		v = r.Value()
	}
	t, _ := v.(map[string]any)
	return t
}

// A missingKey is the error of a field that a value does not have.
type missingKey string

func (k missingKey) Error() string { return "no such key: " + string(k) }

// reserved are the words of the language, which cannot name fields in expressions.
var reserved = []string{
	"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
	"loop", "package", "namespace", "return", "var", "void", "while",
}

var escapes = strings.NewReplacer("__", "__underscores__", ".", "__dot__", "-", "__dash__", "/", "__slash__")

// escape is the name of a field in expressions; false if it cannot be named there.
func escape(name string) (string, bool) {
	if slices.Contains(reserved, name) {
		return "__" + name + "__", true
	}
	for i, c := range name {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '-' || c == '/'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return "", false
		}
	}
	return escapes.Replace(name), name != ""
}

// native is a value as expressions take it, with numbers, times and bytes of the types that the schema declares.
func (n *node) native(v any) any {
	switch v := v.(type) {
	case tree.Tree:
		out := make(map[string]any, len(v))
		for name, e := range v {
			if below := n.child(name); below != nil {
				out[name] = below.native(e)
			} else {
				out[name] = plain(e)
			}
		}
		return out
	case []any:
		if n.items == nil {
			return plain(v)
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = n.items.native(e)
		}
		return out
	case int64:
		if n.kind == "number" {
			return float64(v)
		}
	case float64:
		if n.kind == "integer" {
			return int64(v)
		}
	case string:
		return n.nativeText(v)
	}
	return v
}

// plain is a value without a schema as expressions take it.
func plain(v any) any {
	switch v := v.(type) {
	case tree.Tree:
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[name] = plain(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e)
		}
		return out
	}
	return v
}

func (n *node) nativeText(s string) any {
	switch n.format {
	case "byte":
		if b, err := base64.StdEncoding.DecodeString(s); err == nil {
			return b
		}
	case "date":
		if t, err := time.Parse(time.DateOnly, s); err == nil {
			return t
		}
	case "date-time":
		if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
			return t
		}
	case "duration":
		if d, err := time.ParseDuration(s); err == nil {
			return d
		}
	}
	return s
}
