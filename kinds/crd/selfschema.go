package crd

import "github.com/troupe-api/troupe/kinds/cel"

// rootTypeName is the prefix of the type names of rules. Expressions cannot contain this name.
const rootTypeName = "@self"

// prepareRules sets the schema and type of each node's values in expressions. Nodes below values
// that expressions cannot use get types that are not part of the root type.
func (n *node) prepareRules() {
	n.prepare(n.expressionSchema(true), nil, true)
}

// prepare uses the type of the parent's field if possible. The type checker distinguishes
// structurally equal types, so self.a and self in a rule on a would otherwise have different types.
func (n *node) prepare(s *cel.Schema, t *cel.Type, isResource bool) {
	if !n.hasRules {
		return
	}
	if s == nil {
		s = n.expressionSchema(isResource)
	}
	if t == nil {
		t = cel.NewType(s, rootTypeName, isResource)
	}
	n.self, n.selfType = s, t
	field, elem := func(string) *cel.Type { return nil }, (*cel.Type)(nil)
	if t != nil {
		field, elem = t.Field, t.Elem()
	}
	for _, name := range n.names {
		below := n.properties[name]
		below.prepare(s.Properties[name], field(name), below.embedded)
	}
	if n.additional != nil {
		n.additional.prepare(s.Additional, elem, n.additional.embedded)
	}
	if n.items != nil {
		n.items.prepare(s.Items, elem, n.items.embedded)
	}
}

// expressionSchema returns the node's schema for expressions. It omits values without a schema, so
// that expressions cannot refer to them and a later schema cannot change their meaning.
func (n *node) expressionSchema(isResource bool) *cel.Schema {
	s := &cel.Schema{
		Type: n.kind, Format: n.format, Required: n.required, ListType: n.listType, ListKeys: n.listKeys,
		IntOrString: n.intOrString, Embedded: n.embedded, PreserveUnknown: n.preserveUnknown, Nullable: n.nullable,
		HasDefault: n.defaultValue != nil, MaxLength: n.maxLength, MaxItems: n.maxItems, MaxProperties: n.maxProperties, Enum: n.enum,
	}
	if n.properties != nil {
		s.Properties = make(map[string]*cel.Schema, len(n.properties))
		for name, p := range n.properties {
			s.Properties[name] = p.expressionSchema(false)
		}
	}
	if n.additional != nil && !n.additional.isOpen() {
		s.Additional = n.additional.expressionSchema(false)
	}
	if n.items != nil {
		s.Items = n.items.expressionSchema(false)
	}
	if isResource || n.embedded {
		return s.AsResource()
	}
	return s
}

func (n *node) isOpen() bool { return n.kind == "" && !n.intOrString && !n.preserveUnknown }
