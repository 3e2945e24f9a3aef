package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

func (c *compiler) defaultValue(f *Field, text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, fmt.Errorf("default %s: %w", text, err)
	}
	v = tree.Of(v)
	switch f.Shape {
	case List:
		if list, ok := v.([]any); ok && len(list) == 0 {
			return []any{}, nil
		}
	case Map:
		if m, ok := v.(tree.Tree); ok && len(m) == 0 {
			return tree.Tree{}, nil
		}
	default:
		if v, ok := c.single(f.Type, v); ok {
			return v, nil
		}
	}
	return nil, fmt.Errorf("default %s does not fit the type", text)
}

func (c *compiler) single(t Type, v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return c.naming.Translate(v), t == TypeString || t == TypeQuantity || t == TypeIntOrString || t == TypeDuration
	case bool:
		return v, t == TypeBool
	case json.Number:
		if t == TypeDouble {
			n, err := v.Float64()
			return n, err == nil
		}
		n, err := v.Int64()
		return n, err == nil && (t == TypeInt32 || t == TypeInt64 || t == TypeIntOrString)
	case tree.Tree:
		return v, t == TypeMessage && len(v) == 0
	}
	return nil, false
}

type checker struct{ faults []error }

func (c *checker) fault(message, field, text string) {
	c.faults = append(c.faults, fault(message, field, text))
}

func (c *checker) checkMessage(m *Message) {
	for i, f := range m.Fields {
		c.checkField(m, f)
		if slices.ContainsFunc(m.Fields[:i], func(o *Field) bool { return o.Name == f.Name }) {
			c.fault(m.Name, f.Name, "is declared twice")
		}
	}
	c.checkFieldNames(m)
}

func (c *checker) checkField(m *Message, f *Field) {
	fault := func(text string) { c.fault(m.Name, f.Name, text) }
	if f.ListType != ListAtomic && f.Shape != List {
		fault("has a list type but is not a list")
	}
	if (f.ListType == ListMap) != (len(f.ListMapKeys) > 0) {
		fault("list_map_keys require list_type MAP")
	}
	for _, key := range f.ListMapKeys {
		if !f.hasField(key) {
			fault(fmt.Sprintf("list map key %q is not a field of its items", key))
		}
	}
	if f.MergeKey != "" && (f.Shape != List || !f.hasField(f.MergeKey)) {
		fault(fmt.Sprintf("merge key %q is not a field of its items", f.MergeKey))
	}
	if len(f.ReservedDomains) > 0 && f.Shape != Map {
		fault("has reserved keys but is not a map")
	}
	if len(f.Enum)+len(f.DocumentedEnum) > 0 && f.Type != TypeString {
		fault("has an enum but is not a string")
	}
	if (f.Min != nil || f.Max != nil) && !f.isNumber() {
		fault("has a minimum or maximum but is not a number")
	}
	if f.RangeText != "" && f.Min == nil && f.Max == nil {
		fault("has a range text but no minimum or maximum")
	}
	if f.Empty == EmptyChecked && (f.Shape != Single || f.Pointer || f.Type != TypeString && !f.isNumber()) {
		fault("is checked when absent, but is not a single string or number, or distinguishes empty from absent")
	}
	if f.Empty == EmptyAllowed && (f.Shape != Single || !f.Pointer || f.Type != TypeString) {
		fault("may be empty but is not an optional string")
	}
	for _, name := range f.RequiredFields {
		if f.Shape == Map || !f.hasField(name) {
			fault(fmt.Sprintf("requires %q, which is not one of its fields", name))
		}
	}
	if f.WholeThousandths && f.Type != TypeQuantity {
		fault("is rounded to thousandths but is not a quantity")
	}
	if f.KeyFormat != "" && f.Shape != Map {
		fault("has a key format but is not a map")
	}
	if f.MayRepeat && f.ListType == ListAtomic {
		fault("may repeat items, which needs a list type")
	}
}

func (c *checker) checkFieldNames(m *Message) {
	for _, f := range m.Fields {
		if w := f.RequiredWhen; w != nil && m.byName[w.Field] == nil {
			c.fault(m.Name, f.Name, fmt.Sprintf("is required because of %q, which is not a field", w.Field))
		}
	}
	for _, o := range m.OneOf {
		for _, name := range o.Fields {
			if m.byName[name] == nil {
				c.fault(m.Name, name, "is named in one_of but is not a field")
			}
		}
	}
}

func (f *Field) isNumber() bool {
	return f.Type == TypeInt32 || f.Type == TypeInt64 || f.Type == TypeIntOrString
}

func (f *Field) hasField(name string) bool { return f.Message != nil && f.Message.byName[name] != nil }

// checkKind reports columns, selectable fields and scales whose path does not exist.
func (c *checker) checkKind(k *Kind) {
	if k.Message().Field("metadata") == nil && k.Resource != "" {
		c.fault(k.Message().Name, "metadata", "is missing")
	}
	for _, column := range k.Columns {
		path, _, _ := strings.Cut(column.Path, "|")
		if !strings.HasPrefix(path, "func:") && k.Message().Lookup(path) == nil {
			c.fault(k.Message().Name, path, "is the path of a column but does not exist")
		}
	}
	stored := k
	if k.Stored != nil {
		stored = k.Stored
	}
	for _, f := range k.SelectFields {
		if stored.Message().Lookup(f.Path) == nil {
			c.fault(k.Message().Name, f.Path, "is a selectable field but does not exist")
		}
		if f.Fallback != "" && !slices.ContainsFunc(k.SelectFields, func(o SelectField) bool { return o.Path == f.Fallback }) {
			c.fault(k.Message().Name, f.Fallback, "replaces "+f.Path+" but is not a selectable field")
		}
	}
	for i := range k.Subresources {
		c.checkScale(k, k.Subresources[i].Scale)
	}
}

func (c *checker) checkScale(k *Kind, s *Scale) {
	if s == nil {
		return
	}
	for _, path := range []string{s.Replicas, s.StatusReplicas, s.Selector} {
		if path != "" && k.Message().Lookup(path) == nil {
			c.fault(k.Message().Name, path, "is a path of a scale but does not exist")
		}
	}
}
