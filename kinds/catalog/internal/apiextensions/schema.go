package apiextensions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/regex"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// schemaTypes are the values of the keyword type.
var schemaTypes = []string{"array", "boolean", "integer", "number", "object", "string"}

// validateSchema checks the schema of a version, or of all of them. The structure comes first, as in other servers of this API, unless
// the schema has keywords of which none can be made. The expressions are compiled only if the structure has no fault: their types
// are derived from it, and errors that follow from another error would bury the cause.
func (c definitionValidator) validateSchema(version tree.Tree, path string, faults *schema.Faults) {
	root, ok := version.Object("schema")["openAPIV3Schema"].(tree.Tree)
	old := c.stored[version.String("name")]
	if !ok || old != nil && tree.StrictEqual(version["schema"], old["schema"]) && tree.StrictEqual(version["subresources"], old["subresources"]) {
		return
	}
	path += ".openAPIV3Schema"
	if !c.checkSchemaSize(root, path, faults) {
		return
	}
	if _, status := version.Object("subresources")["status"]; status {
		c.validateStatusRoot(root, path, faults)
	}
	if root.Bool("nullable") {
		faults.Forbidden(path+".nullable", "nullable cannot be true at the root")
	}
	before := len(faults.List)
	if !hasUnsupported(root) {
		if validateStructure(c.keys, root, path, faults); len(faults.List) == before {
			c.compiler.CheckDefaults(root, path, faults)
		}
	}
	walk := schemaValidator{keys: c.keys, faults: faults, root: path}
	walk.node(root, path, schemaContext{root: true})
	c.compiler.CheckFieldPaths(root, path, faults)
	if len(faults.List) == before {
		c.compiler.CheckRules(root, path, faults)
	}
}

// The limits of a schema. Definitions in use stay far below them. They keep a recursive walk from
// exhausting the stack, and bound the work of compiling what an untrusted author sends in one request of a
// few megabytes.
const (
	maxSchemaDepth = 100
	maxRules       = 1000
	maxRuleText    = 256 << 10 // bytes of all expressions together
	maxPatterns    = 500_000   // the sizes of all patterns together (regex.Expansion)
)

// checkSchemaSize reports whether a schema is within the limits, and adds a fault if it is not. It reports
// all limits that are exceeded; the caller must not look at the schema any further then.
func (c definitionValidator) checkSchemaSize(root tree.Tree, path string, faults *schema.Faults) bool {
	before := len(faults.List)
	size := schemaSize{key: c.keys.Validations}
	if !size.add(root, 1) {
		faults.Forbidden(path, fmt.Sprintf("must not have more than %d levels", maxSchemaDepth))
	}
	if size.rules > maxRules {
		faults.Forbidden(path, fmt.Sprintf("must not have more than %d rules in %s", maxRules, c.keys.Validations))
	}
	if size.text > maxRuleText {
		faults.Forbidden(path, fmt.Sprintf("must not have more than %d bytes of expressions in %s", maxRuleText, c.keys.Validations))
	}
	if size.patterns > maxPatterns {
		faults.Forbidden(path, "must not have so many large patterns: what they take in memory together is limited")
	}
	return len(faults.List) == before
}

// A schemaSize counts the validation rules and the patterns of a schema.
type schemaSize struct {
	key         string // the keyword of validation rules
	rules, text int
	patterns    float64
}

// add counts the rules of a schema, and reports whether it stays within maxSchemaDepth. It follows only the
// keywords that later walks descend into; others are refused without being entered.
func (z *schemaSize) add(s tree.Tree, level int) bool {
	if level > maxSchemaDepth {
		return false
	}
	z.patterns += regex.Expansion(s.String("pattern"))
	for _, rule := range s.Objects(z.key) {
		z.rules++
		z.text += len(rule.String("rule")) + len(rule.String("messageExpression"))
	}
	for _, name := range []string{"items", "additionalProperties", "not"} {
		if sub, ok := s[name].(tree.Tree); ok && !z.add(sub, level+1) {
			return false
		}
	}
	for _, sub := range s.Object("properties") {
		if sub, ok := sub.(tree.Tree); ok && !z.add(sub, level+1) {
			return false
		}
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		for _, sub := range s.Objects(name) {
			if !z.add(sub, level+1) {
				return false
			}
		}
	}
	return true
}

// statusRootFields are the keywords allowed at the root of a schema with the status sub-resource: a write
// of the status must not fail on a rule about the rest of the object. They have the names of the Go fields
// in the type that other servers print in this message.
var statusRootFields = []string{
	"Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum", "MaxLength",
	"MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items", "Properties",
	"ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations",
}

// validateStatusRoot stops at the first fault, whose message lists all allowed fields anyway.
func (c definitionValidator) validateStatusRoot(root tree.Tree, path string, faults *schema.Faults) {
	if kind := root.String("type"); kind != "" && kind != "object" {
		faults.Invalid(path+".type", kind, `only "object" is allowed as the type at the root of the schema if the status subresource is enabled`)
		return
	}
	for _, key := range root.SortedKeys() {
		name := strings.ToUpper(key[:1]) + key[1:]
		known := key == c.keys.Preserve || key == c.keys.Validations || slices.Contains(statusRootFields, name)
		if !known && (key == "default" || isWritten(key, root[key])) {
			faults.Invalid(path, root, fmt.Sprintf("only %v fields are allowed at the root of the schema if the status subresource is enabled", statusRootFields))
			return
		}
	}
}

// isWritten tells whether a keyword counts where it is not allowed at all: an empty list or object does, and an empty text of those
// that tell it from none. False says nothing, but of the items and properties that come in addition.
func isWritten(key string, v any) bool {
	switch v {
	case nil:
		return false
	case false:
		return key == "additionalProperties" || key == "additionalItems"
	case "":
		return key != "id" && key != "$schema"
	}
	return true
}

// A schemaValidator checks the keywords of each part of a schema. It is passed by value: faults is the only
// thing that it adds to.
type schemaValidator struct {
	keys   custom.Extensions
	faults *schema.Faults
	root   string // the path of the whole schema
}

// A schemaContext describes the position of a part of a schema.
type schemaContext struct {
	root bool
	// inMeta is true inside of the metadata, apiVersion or kind of an object.
	inMeta bool
	// noDefaults is the reason why defaults are not allowed; "" if they are. The server fills apiVersion,
	// kind and metadata of the object itself, so defaults there would never be used. Those of an embedded
	// object are the user's to set, and may have some.
	noDefaults string
}

// nested is the context of a part that is not a property.
func (p schemaContext) nested() schemaContext {
	return schemaContext{inMeta: p.inMeta, noDefaults: p.noDefaults}
}

// property is the context of a property of s, whose context is p. Below a property of the metadata inMeta
// stays set, so that no object can be embedded there.
func (w schemaValidator) property(p schemaContext, s tree.Tree, name string) schemaContext {
	sub := p.nested()
	if (p.root || s.Bool(w.keys.Embedded)) && (name == "metadata" || name == "apiVersion" || name == "kind") {
		sub.inMeta = true
		if p.root {
			sub.noDefaults = "in top-level " + name
		}
	}
	return sub
}

// unsupportedSchemaKeys are keywords of JSON schema that the API does not support. What they say cannot be
// translated into a structural schema, by which fields are pruned and merged: references could be cyclic,
// and patterns could give one property several types.
var unsupportedSchemaKeys = []string{"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"} // in the order of faults

// unsupportedEmptyKeys are those of them that may not be there with an empty value either.
var unsupportedEmptyKeys = []string{"additionalItems", "dependencies", "$ref"}

// hasUnsupported tells whether a schema, or one in it, has a keyword that the API does not support.
func hasUnsupported(s tree.Tree) bool {
	if s.String("$schema") != "" {
		return true
	}
	for _, key := range unsupportedSchemaKeys {
		if !tree.IsEmpty(s[key]) || key == "additionalItems" && isWritten(key, s[key]) {
			return true
		}
	}
	if list, _ := s["items"].([]any); len(list) > 0 {
		return true
	}
	for _, key := range []string{"items", "additionalProperties", "not"} {
		if sub, ok := s[key].(tree.Tree); ok && hasUnsupported(sub) {
			return true
		}
	}
	for _, sub := range s.Object("properties") {
		if sub, ok := sub.(tree.Tree); ok && hasUnsupported(sub) {
			return true
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if slices.ContainsFunc(s.Objects(key), hasUnsupported) {
			return true
		}
	}
	return false
}

// node checks the keywords of one schema and of all in it. Rules that need a view of the whole, such as
// types within conditions, are those of structuralValidator.
func (w schemaValidator) node(s tree.Tree, path string, p schemaContext) {
	f := w.faults
	kind := s.String("type")
	if kind != "" && !slices.Contains(schemaTypes, kind) {
		f.NotSupported(path+".type", kind, schemaTypes)
	}
	if s.Has("default") && p.noDefaults != "" {
		f.Forbidden(path+".default", "must not be set "+p.noDefaults)
	}
	for _, key := range unsupportedSchemaKeys {
		if !tree.IsEmpty(s[key]) || slices.Contains(unsupportedEmptyKeys, key) && isWritten(key, s[key]) {
			f.Forbidden(path+"."+key, key+" is not supported")
		}
	}
	if kind == "null" {
		f.Forbidden(path+".type", "type cannot be set to null, use nullable as an alternative")
	}
	if uri := s.String("$schema"); uri != "" {
		f.Invalid(w.root, "", "OpenAPIV3Schema 'schema' is not supported")
	}
	if _, list := s["items"].([]any); list {
		f.Forbidden(path+".items", "items must be a schema object and not an array")
	}
	if p.inMeta && s.Bool(w.keys.Embedded) {
		f.Forbidden(path+"."+w.keys.Embedded, "must not be used inside of resource meta")
	}
	// A list that must not repeat items has the list type set, whose items can be compared without
	// comparing all pairs.
	if s.Bool("uniqueItems") {
		f.Forbidden(path+".uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic")
	}
	if more := s["additionalProperties"]; more != nil && more != true && len(s.Object("properties")) > 0 {
		f.Forbidden(path+".additionalProperties", "additionalProperties and properties are mutual exclusive")
	}
	w.children(s, path, p)
	w.extensions(s, path)
	w.lists(s, path)
	w.validationRules(s, path)
}

// children checks the nested schemas. Properties are visited in sorted order to report faults in the same
// order each time.
func (w schemaValidator) children(s tree.Tree, path string, p schemaContext) {
	if sub, ok := s["additionalProperties"].(tree.Tree); ok {
		w.node(sub, path+".additionalProperties", p.nested())
	}
	properties := s.Object("properties")
	for _, name := range properties.SortedKeys() {
		if sub, ok := properties[name].(tree.Tree); ok {
			w.node(sub, tree.KeyPath(path+".properties", name), w.property(p, s, name))
		}
	}
	if sub, ok := s["not"].(tree.Tree); ok {
		w.node(sub, path+".not", p.nested())
	}
	for _, name := range []string{"allOf", "oneOf", "anyOf"} {
		for i, sub := range s.Objects(name) {
			w.node(sub, tree.IndexPath(path+"."+name, i), p.nested())
		}
	}
	if sub, ok := s["items"].(tree.Tree); ok {
		w.node(sub, path+".items", p.nested())
	}
}

// extensions checks the list type and the map type.
func (w schemaValidator) extensions(s tree.Tree, path string) {
	// An explicit false would say what absence says, and published schemas would differ for it.
	if v, ok := s[w.keys.Preserve].(bool); ok && !v {
		w.faults.Invalid(path+"."+w.keys.Preserve, v, "must be true or undefined")
	}
	w.typedExtension(s, w.keys.MapType, "object", path, "atomic", "granular")
	w.typedExtension(s, w.keys.ListType, "array", path, "atomic", "set", "map")
}

// typedExtension checks an extension that applies to values of one type and has a few choices. Absent is
// valid, and then means atomic for a list and granular for a map.
func (w schemaValidator) typedExtension(s tree.Tree, key, want, path string, choices ...string) {
	value, ok := s[key].(string)
	if !ok {
		return
	}
	msg := "must be " + want + " if " + key + " is specified"
	switch kind := s.String("type"); kind {
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

// validationRules checks the structure of validation rules; package custom compiles their expressions, and looks at
// the places that they blame.
func (w schemaValidator) validationRules(s tree.Tree, path string) {
	path += "." + w.keys.Validations
	for i, r := range s.Objects(w.keys.Validations) {
		at := tree.IndexPath(path, i)
		expression := strings.TrimSpace(r.String("rule"))
		if expression == "" {
			w.faults.Required(at+".rule", "rule is not specified")
		}
		field.MessageText(r, expression, "rule", at, w.faults)
		if text := r.String("messageExpression"); text != "" && strings.TrimSpace(text) == "" {
			w.faults.Required(at+".messageExpression", "messageExpression must be non-empty if specified")
		}
		field.OptionalEnum(r, "reason", at, w.faults, "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
	}
}
