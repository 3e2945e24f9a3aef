package cel

import (
	"encoding/base64"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Value converts a tree value according to the schema. It converts fields and elements when they
// are read. Values are validated before rules run, so errors mainly concern objects stored under
// another schema.
func (s *Schema) Value(v any) Value {
	switch {
	case v == nil && s.Nullable:
		return types.NullValue
	case v == nil:
		return types.NewErr("invalid data, got null for schema with nullable=false")
	case s.IntOrString:
		return intOrString(v)
	}
	switch s.Type {
	case "object":
		t, ok := asTree(v)
		if !ok {
			return types.NewErr("invalid data, expected a map for the provided schema with type=object")
		}
		if s.Embedded {
			s = s.AsResource()
		}
		return &object{t, s}
	case "array":
		return s.list(v)
	case "string":
		text, ok := v.(string)
		if !ok {
			return types.NewErr("invalid data, expected string, got %T", v)
		}
		return s.parseText(text)
	case "number", "integer":
		return s.number(v)
	case "boolean":
		b, ok := v.(bool)
		if !ok {
			return types.NewErr("invalid data, expected bool, got %T", v)
		}
		return types.Bool(b)
	}
	if s.PreserveUnknown {
		return unknown{v}
	}
	return types.NewErr("invalid type, expected object, array, number, integer, boolean or string, or no type with x-platform-int-or-string or x-platform-preserve-unknown-fields is true, got %s", s.Type)
}

func asTree(v any) (tree.Tree, bool) {
	switch v := v.(type) {
	case tree.Tree:
		return v, true
	case map[string]any:
		return v, true
	}
	return nil, false
}

func intOrString(v any) ref.Val {
	switch v := v.(type) {
	case string:
		return types.String(v)
	case int64:
		return types.Int(v)
	case float64: // without a fraction, as validation ensures
		return types.Int(v)
	}
	return types.NewErr("invalid data, expected XIntOrString value to be either a string or integer")
}

// number converts a number according to the schema. In a tree, a number without a fraction may be
// an int64, and an integer with an exponent may be a float64.
func (s *Schema) number(v any) ref.Val {
	i, isInt := v.(int64)
	f, isFloat := v.(float64)
	switch {
	case !isInt && !isFloat && s.Type == "number":
		return types.NewErr("invalid data, expected float, got %T", v)
	case !isInt && !isFloat:
		return types.NewErr("invalid data, expected int, got %T", v)
	case s.Type == "number" && isInt:
		return types.Double(i)
	case s.Type == "number":
		return types.Double(f)
	case isInt:
		return types.Int(i)
	}
	return types.Int(f)
}

func (s *Schema) list(v any) ref.Val {
	elements, ok := v.([]any)
	if !ok {
		return types.NewErr("invalid data, expected an array for the provided schema with type=array")
	}
	if s.Items == nil {
		return types.NewErr("invalid array type, expected Items with a non-empty Schema")
	}
	l := &list{elements, s.Items}
	switch s.ListType {
	case "set":
		return &setList{l}
	case "map":
		return &mapList{l, s.ListKeys}
	}
	return l
}

// parseText converts a string according to its format. An invalid string becomes an error value,
// which fails the evaluation only if the expression uses it. As in requests, both base64 alphabets
// are valid.
func (s *Schema) parseText(text string) ref.Val {
	switch s.Format {
	case "duration":
		d, err := parseDuration(text)
		if err != nil {
			return types.NewErr("Invalid duration %s: %v", text, err)
		}
		return types.Duration{Duration: d}
	case "date":
		t, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return types.NewErr("Invalid date formatted string %s: %v", text, err)
		}
		return types.Timestamp{Time: t}
	case "date-time":
		t, err := parseDateTime(text)
		if err != nil {
			return types.NewErr("Invalid date-time formatted string %s: %v", text, err)
		}
		return types.Timestamp{Time: t}
	case "byte":
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			b, err = base64.URLEncoding.DecodeString(text)
		}
		if err != nil {
			return types.NewErr("Invalid byte formatted string %s: %v", text, err)
		}
		return types.Bytes(b)
	}
	return types.String(text)
}
