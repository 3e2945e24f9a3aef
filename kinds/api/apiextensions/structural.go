package apiextensions

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/regex"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A structuralValidator checks that a schema is structural. Outside the logical junctors allOf,
// anyOf, oneOf and not, the schema must declare a type for every value. Junctors may only restrict
// fields that are declared outside them, so that pruning, defaulting and apply can ignore junctors.
type structuralValidator struct {
	keys   crd.Extensions
	faults *schema.Faults
}

// validateStructure reports missing types, misplaced keywords, and fields that are declared only in
// a junctor. Errors are sorted by text, as in kube-apiserver.
func validateStructure(k crd.Extensions, root tree.Tree, path string, faults *schema.Faults) {
	w := structuralValidator{keys: k, faults: faults}
	before := len(faults.List)
	w.node(root, path, rootLevel)
	w.specifiedOutside(root, root, path, path) // only for junctors at the root, as in kube-apiserver
	slices.SortFunc(faults.List[before:], func(a, b meta.Cause) int {
		return cmp.Compare(a.Field+": "+a.Message, b.Field+": "+b.Message)
	})
}

// A structuralLevel is a subschema's position. It selects the message for a missing type.
type structuralLevel uint8

const (
	rootLevel structuralLevel = iota
	itemLevel
	fieldLevel
)

var missingTypeMsgs = [...]string{
	rootLevel:  "must not be empty at the root",
	itemLevel:  "must not be empty for specified array items",
	fieldLevel: "must not be empty for specified object fields",
}

func (w structuralValidator) node(s tree.Tree, path string, l structuralLevel) {
	if l == rootLevel && s["additionalProperties"] != nil {
		w.faults.Forbidden(path+".additionalProperties", "must not be used at the root")
	}
	w.each(s, path, func(sub tree.Tree, at string, below structuralLevel) { w.node(sub, at, below) })
	if s.String("type") == "array" && !s.Has("items") {
		w.faults.Required(path+".items", "must be specified")
	}
	for _, key := range []string{w.keys.Preserve, w.keys.Embedded} {
		if s.Bool(w.keys.IntOrString) && s.Bool(key) {
			w.faults.Invalid(path+"."+key, true, "must be false if "+w.keys.IntOrString+" is true")
		}
	}
	w.conditions(s, path, w.intOrStringPattern(s))
	w.nodeType(s, path, l)
	if s.Bool(w.keys.Embedded) {
		w.embedded(s, path)
	}
	w.objectMeta(s, path, l, l == rootLevel || s.Bool(w.keys.Embedded))
}

// each calls do for the schemas of items, properties and additionalProperties, but not for
// junctors.
func (w structuralValidator) each(s tree.Tree, path string, do func(sub tree.Tree, path string, l structuralLevel)) {
	if sub, ok := s["items"].(tree.Tree); ok {
		do(sub, path+".items", itemLevel)
	}
	properties := s.Object("properties")
	for _, name := range properties.SortedKeys() {
		if sub, ok := properties[name].(tree.Tree); ok {
			do(sub, tree.KeyPath(path+".properties", name), fieldLevel)
		}
	}
	if sub, ok := s["additionalProperties"].(tree.Tree); ok {
		do(sub, path+".additionalProperties", fieldLevel)
	}
}

// nodeType checks the type of a value. The type may be missing only for int-or-string values and
// where unknown fields are preserved. The root must be an object.
func (w structuralValidator) nodeType(s tree.Tree, path string, l structuralLevel) {
	kind := s.String("type")
	embedded := s.Bool(w.keys.Embedded)
	msg := "must be object if " + w.keys.Embedded + " is true"
	switch {
	case embedded && kind == "":
		w.faults.Required(path+".type", msg)
	case embedded && kind != "object":
		w.faults.Invalid(path+".type", kind, msg)
	case !embedded && kind == "" && !s.Bool(w.keys.IntOrString) && !s.Bool(w.keys.Preserve):
		w.faults.Required(path+".type", missingTypeMsgs[l])
	}
	if l == rootLevel && kind != "" && kind != "object" {
		w.faults.Invalid(path+".type", kind, "must be object at the root")
	}
}

// embedded checks the schema of an embedded object, such as a template. The object has the fields
// apiVersion, kind and metadata, so the schema must not use additionalProperties.
func (w structuralValidator) embedded(s tree.Tree, path string) {
	if s.Has("additionalProperties") {
		w.faults.Forbidden(path+".additionalProperties", "must not be used if "+w.keys.Embedded+" is set")
	}
	if len(s.Object("properties")) == 0 && !s.Bool(w.keys.Preserve) {
		w.faults.Required(path+".properties", "must not be empty if "+w.keys.Embedded+" is true without "+w.keys.Preserve)
	}
}

// objectMeta checks the schemas of apiVersion, kind and metadata. The fields of metadata are
// predefined, so a schema may restrict only metadata.name and metadata.generateName.
func (w structuralValidator) objectMeta(s tree.Tree, path string, l structuralLevel, object bool) {
	properties := s.Object("properties")
	if !object {
		return
	}
	for _, name := range []string{"kind", "apiVersion"} {
		if p, ok := properties[name].(tree.Tree); ok && p.String("type") != "string" {
			w.faults.Invalid(tree.KeyPath(path+".properties", name)+".type", p.String("type"), "must be string")
		}
	}
	metadata, ok := properties["metadata"].(tree.Tree)
	if !ok {
		return
	}
	at := tree.KeyPath(path+".properties", "metadata")
	if kind := metadata.String("type"); kind != "object" {
		w.faults.Invalid(at+".type", kind, "must be object")
	}
	if l != rootLevel {
		return
	}
	for name, value := range metadata {
		said := name != "type" && name != "default" && !tree.IsEmpty(value)
		if name == "properties" {
			said = len(metadata.Object(name)) > named(metadata.Object(name))
		}
		if said {
			w.faults.Forbidden(at, "must not specify anything other than name and generateName, but metadata is implicitly specified")
			return
		}
	}
}

func named(properties tree.Tree) int {
	n := 0
	for _, name := range []string{"name", "generateName"} {
		if properties.Has(name) {
			n++
		}
	}
	return n
}

// intOrStringPattern records where a schema has the int-or-string pattern: in anyOf, or in anyOf of
// the first item of allOf. No other junctor may use type.
type intOrStringPattern struct{ inAnyOf, inAllOf bool }

func (w structuralValidator) intOrStringPattern(s tree.Tree) intOrStringPattern {
	both := func(t tree.Tree) bool {
		options := t.Objects("anyOf")
		return len(options) == 2 && tree.SemanticEqual(options[0], tree.Tree{"type": "integer"}) && tree.SemanticEqual(options[1], tree.Tree{"type": "string"})
	}
	all := s.Objects("allOf")
	return intOrStringPattern{inAnyOf: both(s), inAllOf: len(all) > 0 && both(all[0])}
}

// conditions validates the junctors and the keyword pattern of s. skip locates the int-or-string
// pattern, whose subschemas may contain types.
func (w structuralValidator) conditions(s tree.Tree, path string, skip intOrStringPattern) {
	if pattern := s.String("pattern"); pattern != "" {
		if _, err := regex.Compile(pattern); err != nil {
			w.faults.Invalid(path+".pattern", pattern, fmt.Sprintf("must be a valid regular expression, but isn't: %v", err))
		}
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		for i, sub := range s.Objects(name) {
			at := tree.IndexPath(path+"."+name, i)
			switch {
			case name == "anyOf" && skip.inAnyOf:
			case name == "allOf" && i == 0 && skip.inAllOf:
				w.condition(sub, at, intOrStringPattern{inAnyOf: true})
			default:
				w.condition(sub, at, intOrStringPattern{})
			}
		}
	}
	if sub, ok := s["not"].(tree.Tree); ok {
		w.condition(sub, path+".not", intOrStringPattern{})
	}
}

// condition validates a subschema within allOf, anyOf, oneOf or not. The subschema may restrict a
// value, for example by a pattern. It may not set a type, default or merge strategy, because these
// must not depend on which alternative matches.
func (w structuralValidator) condition(s tree.Tree, path string, skip intOrStringPattern) {
	w.conditions(s, path, skip)
	w.each(s, path, func(sub tree.Tree, at string, _ structuralLevel) { w.condition(sub, at, intOrStringPattern{}) })
	for _, c := range []struct{ state, key string }{
		{"empty", "type"}, {"undefined", "additionalProperties"}, {"undefined", "default"}, {"empty", "title"},
		{"empty", "description"}, {"false", "nullable"}, {"false", w.keys.Preserve}, {"false", w.keys.Embedded},
		{"false", w.keys.IntOrString}, {"empty", w.keys.ListKeys}, {"undefined", w.keys.ListType},
		{"undefined", w.keys.MapType}, {"empty", w.keys.Validations},
	} {
		if set := s[c.key]; c.state == "undefined" && set != nil || !tree.IsEmpty(set) {
			w.faults.Forbidden(path+"."+c.key, "must be "+c.state+" to be structural")
		}
	}
	if s.Object("properties").Has("metadata") {
		w.faults.Forbidden(tree.KeyPath(path+".properties", "metadata"), "must not be specified in a nested context")
	}
}

// specifiedOutside checks that schema s declares every field that the junctors in c restrict.
// inside and outside are the paths of c and s.
func (w structuralValidator) specifiedOutside(c, s tree.Tree, inside, outside string) {
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		for i, sub := range c.Objects(name) {
			w.specifiedPartsOutside(sub, s, tree.IndexPath(inside+"."+name, i), outside)
		}
	}
	if sub, ok := c["not"].(tree.Tree); ok {
		w.specifiedPartsOutside(sub, s, inside+".not", outside)
	}
}

// specifiedPartsOutside walks junctor subschema c and schema s together. It reports a missing field
// at the path where the schema must declare it.
func (w structuralValidator) specifiedPartsOutside(c, s tree.Tree, inside, outside string) {
	w.specifiedOutside(c, s, inside, outside)
	part := func(c, s any, inside, outside string) {
		condition, _ := c.(tree.Tree)
		if specified, ok := s.(tree.Tree); ok {
			w.specifiedPartsOutside(condition, specified, inside, outside)
		} else if c != nil {
			w.faults.Required(outside, "because it is defined in "+inside)
		}
	}
	part(c["items"], s["items"], inside+".items", outside+".items")
	conditions, properties := c.Object("properties"), s.Object("properties")
	for _, name := range conditions.SortedKeys() {
		part(conditions[name], properties[name], tree.KeyPath(inside+".properties", name), tree.KeyPath(outside+".properties", name))
	}
}
