package catalog

import (
	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A structure is the check that a schema is structural: outside of allOf, anyOf, oneOf and
// not it says the type of every value there can be, and inside of those it says nothing
// but conditions on what is known from outside.
type structure struct {
	keys   custom.Keys
	faults *schema.Faults
}

func validateStructure(k custom.Keys, root schema.Tree, path string, faults *schema.Faults) {
	w := structure{keys: k, faults: faults}
	w.node(root, path, atRoot)
	w.complete(root, path)
}

// A level is how a part of a schema hangs together with the whole.
type level uint8

const (
	atRoot level = iota
	atItem
	atField
)

// untyped says what a part of each level without a type lacks.
var untyped = [...]string{
	atRoot:  "must not be empty at the root",
	atItem:  "must not be empty for specified array items",
	atField: "must not be empty for specified object fields",
}

// node checks a part that stands outside of all conditions.
func (w structure) node(s schema.Tree, path string, l level) {
	w.each(s, path, func(sub schema.Tree, at string, below level) { w.node(sub, at, below) })
	if rules.Text(s, "type") == "array" && !rules.Has(s, "items") {
		w.faults.Required(path+".items", "must be specified")
	}
	for _, key := range []string{w.keys.Preserve, w.keys.Embedded} {
		if rules.Flag(s, w.keys.IntOrString) && rules.Flag(s, key) {
			w.faults.Invalid(path+"."+key, true, "must be false if "+w.keys.IntOrString+" is true")
		}
	}
	w.conditions(s, path, w.eitherPattern(s))
	w.kind(s, path, l)
	if rules.Flag(s, w.keys.Embedded) {
		w.embedded(s, path)
	}
	w.head(s, path, l == atRoot || rules.Flag(s, w.keys.Embedded))
}

// each calls do for the schemas of items, properties and additional properties.
func (w structure) each(s schema.Tree, path string, do func(sub schema.Tree, path string, l level)) {
	if sub, ok := s["items"].(schema.Tree); ok {
		do(sub, path+".items", atItem)
	}
	properties := rules.Sub(s, "properties")
	for _, name := range rules.Keys(properties) {
		if sub, ok := properties[name].(schema.Tree); ok {
			do(sub, rules.Key(path+".properties", name), atField)
		}
	}
	if sub, ok := s["additionalProperties"].(schema.Tree); ok {
		do(sub, path+".additionalProperties", atField)
	}
}

func (w structure) kind(s schema.Tree, path string, l level) {
	kind := rules.Text(s, "type")
	embedded := rules.Flag(s, w.keys.Embedded)
	msg := "must be object if " + w.keys.Embedded + " is true"
	switch {
	case embedded && kind == "":
		w.faults.Required(path+".type", msg)
	case embedded && kind != "object":
		w.faults.Invalid(path+".type", kind, msg)
	case !embedded && kind == "" && !rules.Flag(s, w.keys.IntOrString) && !rules.Flag(s, w.keys.Preserve):
		w.faults.Required(path+".type", untyped[l])
	}
	if l == atRoot && kind != "" && kind != "object" {
		w.faults.Invalid(path+".type", kind, "must be object at the root")
	}
}

func (w structure) embedded(s schema.Tree, path string) {
	if rules.Has(s, "additionalProperties") {
		w.faults.Forbidden(path+".additionalProperties", "must not be used if "+w.keys.Embedded+" is set")
	}
	if len(rules.Sub(s, "properties")) == 0 && !rules.Flag(s, w.keys.Preserve) {
		w.faults.Required(path+".properties", "must not be empty if "+w.keys.Embedded+" is true without "+w.keys.Preserve)
	}
}

// head checks what a schema says of an object's kind, apiVersion and metadata, if its
// values are objects.
func (w structure) head(s schema.Tree, path string, object bool) {
	properties := rules.Sub(s, "properties")
	if !object {
		return
	}
	for _, name := range []string{"kind", "apiVersion"} {
		if p, ok := properties[name].(schema.Tree); ok && rules.Text(p, "type") != "string" {
			w.faults.Invalid(rules.Key(path+".properties", name)+".type", rules.Text(p, "type"), "must be string")
		}
	}
	metadata, ok := properties["metadata"].(schema.Tree)
	if !ok {
		return
	}
	at := rules.Key(path+".properties", "metadata")
	if kind := rules.Text(metadata, "type"); kind != "object" {
		w.faults.Invalid(at+".type", kind, "must be object")
	}
	for name, value := range metadata {
		said := name != "type" && name != "description" && name != "title" && name != "default" && !rules.Empty(value)
		if name == "properties" {
			said = len(rules.Sub(metadata, name)) > named(rules.Sub(metadata, name))
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

// either is how a schema says that a value is a number or text, which is allowed where
// nothing else about types is: in anyOf, or in the anyOf of the first of allOf.
type either struct{ here, inFirst bool }

func (w structure) eitherPattern(s schema.Tree) either {
	if !rules.Flag(s, w.keys.IntOrString) {
		return either{}
	}
	both := func(t schema.Tree) bool {
		options := rules.Trees(t, "anyOf")
		return len(options) == 2 && rules.Equal(options[0], schema.Tree{"type": "integer"}) && rules.Equal(options[1], schema.Tree{"type": "string"})
	}
	all := rules.Trees(s, "allOf")
	return either{here: both(s), inFirst: len(all) > 0 && both(all[0])}
}

// conditions checks the parts of allOf, anyOf, oneOf and not.
func (w structure) conditions(s schema.Tree, path string, skip either) {
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		for i, sub := range rules.Trees(s, name) {
			at := rules.At(path+"."+name, i)
			switch {
			case name == "anyOf" && skip.here:
			case name == "allOf" && i == 0 && skip.inFirst:
				w.condition(sub, at, either{here: true})
			default:
				w.condition(sub, at, either{})
			}
		}
	}
	if sub, ok := s["not"].(schema.Tree); ok {
		w.condition(sub, path+".not", either{})
	}
}

// condition checks a part that stands inside of a condition.
func (w structure) condition(s schema.Tree, path string, skip either) {
	w.conditions(s, path, skip)
	w.each(s, path, func(sub schema.Tree, at string, _ level) { w.condition(sub, at, either{}) })
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
	if rules.Has(rules.Sub(s, "properties"), "metadata") {
		w.faults.Forbidden(rules.Key(path+".properties", "metadata"), "must not be specified in a nested context")
	}
}

// complete checks that conditions speak of nothing that is not known from outside.
func (w structure) complete(s schema.Tree, path string) {
	w.each(s, path, func(sub schema.Tree, at string, _ level) { w.complete(sub, at) })
	w.known(s, s, path, path)
}

// known compares the conditions of c, at inside, with s, at outside.
func (w structure) known(c, s schema.Tree, inside, outside string) {
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		for i, sub := range rules.Trees(c, name) {
			w.knownParts(sub, s, rules.At(inside+"."+name, i), outside)
		}
	}
	if sub, ok := c["not"].(schema.Tree); ok {
		w.knownParts(sub, s, inside+".not", outside)
	}
}

func (w structure) knownParts(c, s schema.Tree, inside, outside string) {
	w.known(c, s, inside, outside)
	part := func(c, s any, inside, outside string) {
		condition, _ := c.(schema.Tree)
		if specified, ok := s.(schema.Tree); ok {
			w.knownParts(condition, specified, inside, outside)
		} else if c != nil {
			w.faults.Required(outside, "because it is defined in "+inside)
		}
	}
	part(c["items"], s["items"], inside+".items", outside+".items")
	conditions, properties := rules.Sub(c, "properties"), rules.Sub(s, "properties")
	for _, name := range rules.Keys(conditions) {
		part(conditions[name], properties[name], rules.Key(inside+".properties", name), rules.Key(outside+".properties", name))
	}
}
