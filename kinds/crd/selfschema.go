package crd

import "github.com/troupe-api/troupe/kinds/cel"

// rootTypeName is the prefix of the type names of rules. Expressions cannot contain this name.
const rootTypeName = "@self"

// prepareRules sets the CEL schema and type of each node with rules. A node that expressions of its
// parent cannot access gets a separate type.
func (n *node) prepareRules() {
	n.prepare(n.expressionSchema(true), nil, true)
}

// prepare sets the CEL type of a node. If possible, this is the type of the field in the parent,
// so that self in the rules of a field a has the same type as self.a in the parent's rules.
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

// expressionSchema returns the CEL schema of a node. It omits additionalProperties without a type.
// Expressions cannot refer to them, so a type added later cannot change an expression's meaning.
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
