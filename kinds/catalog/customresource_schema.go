package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// schemaKeys are the keys of a schema that bear the vendor's name.
type schemaKeys struct {
	preserve, embedded, intOrString, listType, listKeys, mapType, validations string
}

func newSchemaKeys(n *meta.Naming) schemaKeys {
	return schemaKeys{
		preserve:    n.Name("x-platform-preserve-unknown-fields"),
		embedded:    n.Name("x-platform-embedded-resource"),
		intOrString: n.Name("x-platform-int-or-string"),
		listType:    n.Name("x-platform-list-type"),
		listKeys:    n.Name("x-platform-list-map-keys"),
		mapType:     n.Name("x-platform-map-type"),
		validations: n.Name("x-platform-validations"),
	}
}

// schemaTypes are what a value can be.
var schemaTypes = []string{"array", "boolean", "integer", "number", "object", "string"}

// validateSchema checks the schema of a version, or of all of them.
func (c definitionCheck) validateSchema(version schema.Tree, path string, faults *schema.Faults) {
	root, ok := rules.Sub(version, "schema")["openAPIV3Schema"].(schema.Tree)
	if !ok {
		return
	}
	path += ".openAPIV3Schema"
	if _, status := rules.Sub(version, "subresources")["status"]; status {
		c.validateStatusRoot(root, path, faults)
	}
	if rules.Flag(root, "nullable") {
		faults.Forbidden(path+".nullable", "nullable cannot be true at the root")
	}
	before := len(faults.List)
	walk := schemaWalk{keys: c.keys, faults: faults}
	walk.node(root, path, schemaPlace{root: true})
	c.keys.validateStructure(root, path, faults)
	if len(faults.List) == before {
		c.compiler.CheckRules(root, path, faults)
	}
}

// rootFields may stand at the root of a schema whose status is a sub-resource: nothing
// else may say of the root what a status alone would have to meet.
var rootFields = []string{
	"Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum", "MaxLength",
	"MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items", "Properties",
	"ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations",
}

func (c definitionCheck) validateStatusRoot(root schema.Tree, path string, faults *schema.Faults) {
	if kind := rules.Text(root, "type"); kind != "" && kind != "object" {
		faults.Invalid(path+".type", kind, `only "object" is allowed as the type at the root of the schema if the status subresource is enabled`)
		return
	}
	for _, key := range rules.Keys(root) {
		name := strings.ToUpper(key[:1]) + key[1:]
		known := key == c.keys.preserve || key == c.keys.validations || slices.Contains(rootFields, name)
		if !known && !rules.Empty(root[key]) {
			faults.Invalid(path, root, fmt.Sprintf("only %v fields are allowed at the root of the schema if the status subresource is enabled", rootFields))
			return
		}
	}
}

// A schemaWalk checks what each part of a schema may say at all.
type schemaWalk struct {
	keys   schemaKeys
	faults *schema.Faults
}

// A schemaPlace is where a part of a schema stands.
type schemaPlace struct {
	root bool
	// inMeta: within the metadata, apiVersion or kind of an object.
	inMeta bool
	// noDefaults says why there may be no defaults; "" if there may.
	noDefaults string
}

// below is the place of a part that is not a property.
func (p schemaPlace) below() schemaPlace {
	return schemaPlace{inMeta: p.inMeta, noDefaults: p.noDefaults}
}

// property is the place of a property of s, which stands at p.
func (w schemaWalk) property(p schemaPlace, s schema.Tree, name string) schemaPlace {
	sub := p.below()
	if (p.root || rules.Flag(s, w.keys.embedded)) && (name == "metadata" || name == "apiVersion" || name == "kind") {
		sub.inMeta = true
		if p.root {
			sub.noDefaults = "in top-level " + name
		}
	}
	return sub
}

// unsupported are the keys of schemas that are not understood.
var unsupported = []string{"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"}

func (w schemaWalk) node(s schema.Tree, path string, p schemaPlace) {
	f := w.faults
	if rules.Has(s, "default") && p.noDefaults != "" {
		f.Forbidden(path+".default", "must not be set "+p.noDefaults)
	}
	for _, key := range unsupported {
		if !rules.Empty(s[key]) {
			f.Forbidden(path+"."+key, key+" is not supported")
		}
	}
	switch kind := rules.Text(s, "type"); {
	case kind == "null":
		f.Forbidden(path+".type", "type cannot be set to null, use nullable as an alternative")
	case kind != "" && !slices.Contains(schemaTypes, kind):
		f.NotSupported(path+".type", kind, schemaTypes)
	}
	if _, list := s["items"].([]any); list {
		f.Forbidden(path+".items", "items must be a schema object and not an array")
	}
	if p.inMeta && rules.Flag(s, w.keys.embedded) {
		f.Forbidden(path+"."+w.keys.embedded, "must not be used inside of resource meta")
	}
	if rules.Flag(s, "uniqueItems") {
		f.Forbidden(path+".uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic")
	}
	if more := s["additionalProperties"]; more != nil && more != true && len(rules.Sub(s, "properties")) > 0 {
		f.Forbidden(path+".additionalProperties", "additionalProperties and properties are mutual exclusive")
	}
	w.children(s, path, p)
	w.extensions(s, path)
	w.lists(s, path)
	w.expressions(s, path)
}

// children checks the schemas inside a schema.
func (w schemaWalk) children(s schema.Tree, path string, p schemaPlace) {
	if sub, ok := s["additionalProperties"].(schema.Tree); ok {
		w.node(sub, path+".additionalProperties", p.below())
	}
	properties := rules.Sub(s, "properties")
	for _, name := range rules.Keys(properties) {
		if sub, ok := properties[name].(schema.Tree); ok {
			w.node(sub, rules.Key(path+".properties", name), w.property(p, s, name))
		}
	}
	for _, name := range []string{"not", "items"} {
		if sub, ok := s[name].(schema.Tree); ok {
			w.node(sub, path+"."+name, p.below())
		}
	}
	for _, name := range []string{"allOf", "oneOf", "anyOf"} {
		for i, sub := range rules.Trees(s, name) {
			w.node(sub, rules.At(path+"."+name, i), p.below())
		}
	}
}

// extensions checks the types of lists and maps.
func (w schemaWalk) extensions(s schema.Tree, path string) {
	if v, ok := s[w.keys.preserve].(bool); ok && !v {
		w.faults.Invalid(path+"."+w.keys.preserve, v, "must be true or undefined")
	}
	w.typed(s, w.keys.mapType, "object", path, "atomic", "granular")
	w.typed(s, w.keys.listType, "array", path, "atomic", "set", "map")
}

// typed checks an extension that is for values of one type and has a few choices.
func (w schemaWalk) typed(s schema.Tree, key, want, path string, choices ...string) {
	value, ok := s[key].(string)
	if !ok {
		return
	}
	msg := "must be " + want + " if " + key + " is specified"
	switch kind := rules.Text(s, "type"); kind {
	case want:
	case "":
		w.faults.Required(path+".type", msg)
	default:
		w.faults.Invalid(path+".type", kind, msg)
	}
	if !slices.Contains(choices, value) {
		w.faults.NotSupported(path+"."+key, value, choices)
	}
}

// expressions checks the structure of rules, not the expressions themselves.
func (w schemaWalk) expressions(s schema.Tree, path string) {
	path += "." + w.keys.validations
	for i, r := range rules.Trees(s, w.keys.validations) {
		at := rules.At(path, i)
		expression := strings.TrimSpace(rules.Text(r, "rule"))
		if expression == "" {
			w.faults.Required(at+".rule", "rule is not specified")
		}
		validateMessageText(r, expression, "rule", at, w.faults)
		if text := rules.Text(r, "messageExpression"); text != "" && strings.TrimSpace(text) == "" {
			w.faults.Required(at+".messageExpression", "must be non-empty if specified")
		}
		optionalChoice(r, "reason", at, w.faults, "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
	}
}
