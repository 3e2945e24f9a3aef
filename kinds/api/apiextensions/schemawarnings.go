package apiextensions

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/tree"
)

// schemaWarnings returns warnings about unknown formats, which other consumers of the schema may
// support, and about sets of objects or lists, which apply and validation rules do not support.
func schemaWarnings(definition tree.Tree, known crd.Formats, keys crd.Extensions) []string {
	var formats, sets []string
	for _, version := range definition.Object("spec").Objects("versions") {
		visitSchemas(version.Object("schema", "openAPIV3Schema"), func(s tree.Tree) {
			if f := s.String("format"); f != "" && !known.Known(s.String("type"), f) {
				formats = append(formats, fmt.Sprintf("unrecognized format %q", f))
			}
			item := s.Object("items").String("type")
			if s.String(keys.ListType) == "set" && (item == "object" || item == "array") {
				sets = append(sets, fmt.Sprintf("%s: set for items of type %q is not supported by server-side apply or CEL validation rules", keys.ListType, item))
			}
		})
	}
	slices.Sort(sets)
	return append(formats, sets...)
}

// visitSchemas calls visit for a schema and its subschemas, including those of unsupported
// keywords, which stored CRDs may contain.
func visitSchemas(schema tree.Tree, visit func(tree.Tree)) {
	visit(schema)
	for _, name := range [...]string{"items", "not", "additionalProperties", "additionalItems"} {
		if s := schema.Object(name); s != nil {
			visitSchemas(s, visit)
		}
	}
	for _, name := range [...]string{"items", "allOf", "anyOf", "oneOf"} {
		for _, s := range schema.Objects(name) {
			visitSchemas(s, visit)
		}
	}
	for _, name := range [...]string{"properties", "patternProperties", "definitions", "dependencies"} {
		fields := schema.Object(name)
		for _, field := range fields.SortedKeys() {
			visitSchemas(fields.Object(field), visit)
		}
	}
}
