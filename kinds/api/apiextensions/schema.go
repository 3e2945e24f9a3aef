package apiextensions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/regex"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

var schemaTypes = []string{"array", "boolean", "integer", "number", "object", "string"}

// validateSchema validates the schema of one version, or the schema shared by all versions. old is
// the previous value of version. It skips an unchanged schema, which may exceed newer limits.
//
// As in kube-apiserver, structural errors come first, unless unsupported keywords prevent the
// structural check. Expressions are compiled only if there are no other errors, because the schema
// determines their types.
func (c definitionChecks) validateSchema(version, old tree.Tree, path string, faults *schema.Faults) {
	root, ok := version.Object("schema")["openAPIV3Schema"].(tree.Tree)
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
	c.compiler.CheckCost(root, path, faults)
	if len(faults.List) == before {
		c.compiler.CheckRules(root, path, faults)
	}
}

// These limits far exceed the sizes of real CRDs. They keep recursive walks from exhausting the
// stack, and bound the time to compile a schema of a few megabytes.
const (
	maxSchemaDepth = 100
	maxRules       = 1000
	maxRuleText    = 256 << 10 // total bytes of all expressions
	maxPatterns    = 500_000   // total size of all patterns (regex.Expansion)
	maxPaths       = 128 << 20 // total bytes of all property paths, which each walk builds
)

// checkSchemaSize reports whether a schema is within the limits, and adds an error for each
// exceeded limit. The caller must not walk a schema that is too large.
func (c definitionChecks) checkSchemaSize(root tree.Tree, path string, faults *schema.Faults) bool {
	before := len(faults.List)
	size := schemaSize{key: c.keys.Validations}
	if !size.add(root, 1, 0) {
		faults.Forbidden(path, fmt.Sprintf("must not have more than %d levels", maxSchemaDepth))
	}
	if size.rules > maxRules {
		faults.Forbidden(path, fmt.Sprintf("must not have more than %d rules in %s", maxRules, c.keys.Validations))
	}
	if size.text > maxRuleText {
		faults.Forbidden(path, fmt.Sprintf("must not have more than %d bytes of expressions in %s", maxRuleText, c.keys.Validations))
	}
	if size.paths > maxPaths {
		faults.Forbidden(path, "must not have so many properties below long names")
	}
	if size.patterns > maxPatterns {
		faults.Forbidden(path, "must not have so many large patterns: their total size in memory is limited")
	}
	return len(faults.List) == before
}

type schemaSize struct {
	key         string // the keyword of validation rules
	rules, text int
	patterns    float64
	paths       int
}

// add adds the sizes of a schema and its subschemas. It reports whether the depth is within
// maxSchemaDepth. path is the length of the schema's path in bytes. Keywords that are rejected
// anyway are not counted, because later walks do not visit their subschemas.
func (z *schemaSize) add(s tree.Tree, level, path int) bool {
	if level > maxSchemaDepth {
		return false
	}
	z.paths += path
	z.patterns += regex.Expansion(s.String("pattern"))
	for _, rule := range s.Objects(z.key) {
		z.rules++
		z.text += len(rule.String("rule")) + len(rule.String("messageExpression"))
	}
	for _, name := range []string{"items", "additionalProperties", "not"} {
		if sub, ok := s[name].(tree.Tree); ok && !z.add(sub, level+1, path+len(name)) {
			return false
		}
	}
	for name, sub := range s.Object("properties") {
		if sub, ok := sub.(tree.Tree); ok && !z.add(sub, level+1, path+len(name)) {
			return false
		}
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		for _, sub := range s.Objects(name) {
			if !z.add(sub, level+1, path) {
				return false
			}
		}
	}
	return true
}

// statusRootFields lists the keywords allowed at the root of a schema with a status subresource.
// With other keywords, an unrelated field could make a status write fail. The names match
// kube-apiserver's Go fields, as in its error message.
var statusRootFields = []string{
	"Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum", "MaxLength",
	"MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items", "Properties",
	"ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations",
}

// validateStatusRoot checks the root of a schema with a status subresource. It reports only the
// first forbidden keyword, because the error message lists all allowed keywords.
func (c definitionChecks) validateStatusRoot(root tree.Tree, path string, faults *schema.Faults) {
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

// isWritten reports whether a forbidden keyword counts as set. Empty lists, objects and strings
// count, except for empty strings in id and $schema. False counts only for additionalProperties and
// additionalItems.
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

type schemaValidator struct {
	keys   crd.Extensions
	faults *schema.Faults
	root   string // path of the whole schema
}

type schemaContext struct {
	root bool
	// inMeta is true within an object's apiVersion, kind or metadata.
	inMeta bool
	// noDefaults is the reason why defaults are forbidden, or "". They are forbidden in the
	// top-level apiVersion, kind and metadata, which the server sets, but allowed in embedded
	// objects.
	noDefaults string
}

func (p schemaContext) nested() schemaContext {
	return schemaContext{inMeta: p.inMeta, noDefaults: p.noDefaults}
}

// property returns the validation context of a property of schema s. inMeta remains set for all
// descendants of metadata, where embedded objects are forbidden.
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

// unsupportedSchemaKeys lists unsupported JSON Schema keywords. Pruning and merging cannot handle
// them: $ref may be cyclic, and patternProperties may give one property several types.
var unsupportedSchemaKeys = []string{"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"} // in error order

// unsupportedEmptyKeys lists the unsupported keywords that are rejected even with an empty value.
var unsupportedEmptyKeys = []string{"additionalItems", "dependencies", "$ref"}

func hasUnsupported(root tree.Tree) (found bool) {
	visitSchemas(root, func(s tree.Tree) {
		items, _ := s["items"].([]any)
		found = found || s.String("$schema") != "" || len(items) > 0 || slices.ContainsFunc(unsupportedSchemaKeys, func(key string) bool {
			return !tree.IsEmpty(s[key]) || key == "additionalItems" && isWritten(key, s[key])
		})
	})
	return found
}

// node validates the keywords of a schema and its subschemas. A structuralValidator checks the
// rules that need the whole schema, such as the rules for types within allOf.
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

// children checks the subschemas. It sorts properties, so that errors have a fixed order.
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

func (w schemaValidator) extensions(s tree.Tree, path string) {
	// An explicit false has no effect, but would change the published schema.
	if v, ok := s[w.keys.Preserve].(bool); ok && !v {
		w.faults.Invalid(path+"."+w.keys.Preserve, v, "must be true or undefined")
	}
	w.typedExtension(s, w.keys.MapType, "object", path, "atomic", "granular")
	w.typedExtension(s, w.keys.ListType, "array", path, "atomic", "set", "map")
}

// typedExtension validates a schema extension with the given key, such as x-kubernetes-list-type.
// Its value must be one of choices, and the schema must have the type want.
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

// validationRules checks the structure of validation rules. Package crd compiles their expressions
// and checks their fieldPaths.
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
