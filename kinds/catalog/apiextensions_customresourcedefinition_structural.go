package catalog

import (
	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A structure is the check that a schema is structural: outside of allOf, anyOf, oneOf and
// not it says the type of every value there can be, and inside of those it says nothing
// but conditions on what is known from outside.
type structuralValidator struct {
	keys   custom.Extensions
	faults *schema.Faults
}

func validateStructure(k custom.Extensions, root schema.Tree, path string, faults *schema.Faults) {
	w := structuralValidator{keys: k, faults: faults}
	w.node(root, path, rootLevel)
	w.conditionsAreSpecified(root, path)
}

// A level is how a part of a schema hangs together with the whole.
type structuralLevel uint8

const (
	rootLevel structuralLevel = iota
	itemLevel
	fieldLevel
)

// missingTypeMsgs says what a part of each level without a type lacks.
var missingTypeMsgs = [...]string{
	rootLevel:  "must not be empty at the root",
	itemLevel:  "must not be empty for specified array items",
	fieldLevel: "must not be empty for specified object fields",
}

// node checks a part that stands outside of all conditions.
func (w structuralValidator) node(s schema.Tree, path string, l structuralLevel) {
	w.each(s, path, func(sub schema.Tree, at string, below structuralLevel) { w.node(sub, at, below) })
	if rules.String(s, "type") == "array" && !rules.Has(s, "items") {
		w.faults.Required(path+".items", "must be specified")
	}
	for _, key := range []string{w.keys.Preserve, w.keys.Embedded} {
		if rules.Bool(s, w.keys.IntOrString) && rules.Bool(s, key) {
			w.faults.Invalid(path+"."+key, true, "must be false if "+w.keys.IntOrString+" is true")
		}
	}
	w.conditions(s, path, w.intOrStringPattern(s))
	w.nodeType(s, path, l)
	if rules.Bool(s, w.keys.Embedded) {
		w.embedded(s, path)
	}
	w.objectMeta(s, path, l == rootLevel || rules.Bool(s, w.keys.Embedded))
}

// each calls do for the schemas of items, properties and additional properties.
func (w structuralValidator) each(s schema.Tree, path string, do func(sub schema.Tree, path string, l structuralLevel)) {
	if sub, ok := s["items"].(schema.Tree); ok {
		do(sub, path+".items", itemLevel)
	}
	properties := rules.Nested(s, "properties")
	for _, name := range rules.Keys(properties) {
		if sub, ok := properties[name].(schema.Tree); ok {
			do(sub, rules.KeyPath(path+".properties", name), fieldLevel)
		}
	}
	if sub, ok := s["additionalProperties"].(schema.Tree); ok {
		do(sub, path+".additionalProperties", fieldLevel)
	}
}

func (w structuralValidator) nodeType(s schema.Tree, path string, l structuralLevel) {
	kind := rules.String(s, "type")
	embedded := rules.Bool(s, w.keys.Embedded)
	msg := "must be object if " + w.keys.Embedded + " is true"
	switch {
	case embedded && kind == "":
		w.faults.Required(path+".type", msg)
	case embedded && kind != "object":
		w.faults.Invalid(path+".type", kind, msg)
	case !embedded && kind == "" && !rules.Bool(s, w.keys.IntOrString) && !rules.Bool(s, w.keys.Preserve):
		w.faults.Required(path+".type", missingTypeMsgs[l])
	}
	if l == rootLevel && kind != "" && kind != "object" {
		w.faults.Invalid(path+".type", kind, "must be object at the root")
	}
}

func (w structuralValidator) embedded(s schema.Tree, path string) {
	if rules.Has(s, "additionalProperties") {
		w.faults.Forbidden(path+".additionalProperties", "must not be used if "+w.keys.Embedded+" is set")
	}
	if len(rules.Nested(s, "properties")) == 0 && !rules.Bool(s, w.keys.Preserve) {
		w.faults.Required(path+".properties", "must not be empty if "+w.keys.Embedded+" is true without "+w.keys.Preserve)
	}
}

// objectMeta checks what a schema says of an object's kind, apiVersion and metadata, if its
// values are objects.
func (w structuralValidator) objectMeta(s schema.Tree, path string, object bool) {
	properties := rules.Nested(s, "properties")
	if !object {
		return
	}
	for _, name := range []string{"kind", "apiVersion"} {
		if p, ok := properties[name].(schema.Tree); ok && rules.String(p, "type") != "string" {
			w.faults.Invalid(rules.KeyPath(path+".properties", name)+".type", rules.String(p, "type"), "must be string")
		}
	}
	metadata, ok := properties["metadata"].(schema.Tree)
	if !ok {
		return
	}
	at := rules.KeyPath(path+".properties", "metadata")
	if kind := rules.String(metadata, "type"); kind != "object" {
		w.faults.Invalid(at+".type", kind, "must be object")
	}
	for name, value := range metadata {
		said := name != "type" && name != "description" && name != "title" && name != "default" && !rules.Empty(value)
		if name == "properties" {
			said = len(rules.Nested(metadata, name)) > named(rules.Nested(metadata, name))
		}
		if said {
			w.faults.Forbidden(at, "must not specify anything other than name and generateName, but metadata is implicitly specified")
			return
		}
	}
}

// named counts the properties of metadata that a schema may restrict.
func named(properties schema.Tree) int {
	n := 0
	for _, name := range []string{"name", "generateName"} {
		if rules.Has(properties, name) {
			n++
		}
	}
	return n
}

// intOrStringPattern is how a schema says that a value is a number or text, which is allowed where
// nothing else about types is: in anyOf, or in the anyOf of the first of allOf.
type intOrStringPattern struct{ inAnyOf, inAllOf bool }

func (w structuralValidator) intOrStringPattern(s schema.Tree) intOrStringPattern {
	if !rules.Bool(s, w.keys.IntOrString) {
		return intOrStringPattern{}
	}
	both := func(t schema.Tree) bool {
		options := rules.Trees(t, "anyOf")
		return len(options) == 2 && rules.SemanticEqual(options[0], schema.Tree{"type": "integer"}) && rules.SemanticEqual(options[1], schema.Tree{"type": "string"})
	}
	all := rules.Trees(s, "allOf")
	return intOrStringPattern{inAnyOf: both(s), inAllOf: len(all) > 0 && both(all[0])}
}

// conditions checks the parts of allOf, anyOf, oneOf and not.
func (w structuralValidator) conditions(s schema.Tree, path string, skip intOrStringPattern) {
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		for i, sub := range rules.Trees(s, name) {
			at := rules.IndexPath(path+"."+name, i)
			switch {
			case name == "anyOf" && skip.inAnyOf:
			case name == "allOf" && i == 0 && skip.inAllOf:
				w.condition(sub, at, intOrStringPattern{inAnyOf: true})
			default:
				w.condition(sub, at, intOrStringPattern{})
			}
		}
	}
	if sub, ok := s["not"].(schema.Tree); ok {
		w.condition(sub, path+".not", intOrStringPattern{})
	}
}

// condition checks a part that stands inside of a condition.
func (w structuralValidator) condition(s schema.Tree, path string, skip intOrStringPattern) {
	w.conditions(s, path, skip)
	w.each(s, path, func(sub schema.Tree, at string, _ structuralLevel) { w.condition(sub, at, intOrStringPattern{}) })
	for _, c := range []struct{ state, key string }{
		{"empty", "type"}, {"undefined", "additionalProperties"}, {"undefined", "default"}, {"empty", "title"},
		{"empty", "description"}, {"false", "nullable"}, {"false", w.keys.Preserve}, {"false", w.keys.Embedded},
		{"false", w.keys.IntOrString}, {"empty", w.keys.ListKeys}, {"undefined", w.keys.ListType},
		{"undefined", w.keys.MapType}, {"empty", w.keys.Validations},
	} {
		if set := s[c.key]; c.state == "undefined" && set != nil || !rules.Empty(set) {
			w.faults.Forbidden(path+"."+c.key, "must be "+c.state+" to be structural")
		}
	}
	if rules.Has(rules.Nested(s, "properties"), "metadata") {
		w.faults.Forbidden(rules.KeyPath(path+".properties", "metadata"), "must not be specified in a nested context")
	}
}

// conditionsAreSpecified checks that conditions speak of nothing that is not known from outside.
func (w structuralValidator) conditionsAreSpecified(s schema.Tree, path string) {
	w.each(s, path, func(sub schema.Tree, at string, _ structuralLevel) { w.conditionsAreSpecified(sub, at) })
	w.specifiedOutside(s, s, path, path)
}

// specifiedOutside compares the conditions of c, at inside, with s, at outside.
func (w structuralValidator) specifiedOutside(c, s schema.Tree, inside, outside string) {
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		for i, sub := range rules.Trees(c, name) {
			w.specifiedPartsOutside(sub, s, rules.IndexPath(inside+"."+name, i), outside)
		}
	}
	if sub, ok := c["not"].(schema.Tree); ok {
		w.specifiedPartsOutside(sub, s, inside+".not", outside)
	}
}

func (w structuralValidator) specifiedPartsOutside(c, s schema.Tree, inside, outside string) {
	w.specifiedOutside(c, s, inside, outside)
	part := func(c, s any, inside, outside string) {
		condition, _ := c.(schema.Tree)
		if specified, ok := s.(schema.Tree); ok {
			w.specifiedPartsOutside(condition, specified, inside, outside)
		} else if c != nil {
			w.faults.Required(outside, "because it is defined in "+inside)
		}
	}
	part(c["items"], s["items"], inside+".items", outside+".items")
	conditions, properties := rules.Nested(c, "properties"), rules.Nested(s, "properties")
	for _, name := range rules.Keys(conditions) {
		part(conditions[name], properties[name], rules.KeyPath(inside+".properties", name), rules.KeyPath(outside+".properties", name))
	}
}
