package custom

import "github.com/troupe-api/troupe/kinds/cel"

// rootTypeName begins the names of the types of rules. No expression can spell it.
const rootTypeName = "@self"

// prepareRules gives every node the schema and the type of its values in expressions. Nodes below values that
// expressions cannot use have types of their own.
func (n *node) prepareRules() {
	n.prepare(n.expressionSchema(true), nil, true)
}

// Types are taken from the parent where it has them: two types of the same schema are not the same to the checker,
// and self.a must have the type that a rule on a knows.
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

// expressionSchema is the node as expressions take it.
//
// Values that no schema describes are left out, so that an expression which names them does not compile, and a later
// schema cannot change its meaning.
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

// isOpen tells the node of values of any type, which no schema describes.
func (n *node) isOpen() bool { return n.kind == "" && !n.intOrString && !n.preserveUnknown }
