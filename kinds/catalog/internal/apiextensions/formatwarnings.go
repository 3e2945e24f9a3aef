package apiextensions

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/tree"
)

// appendFormatWarnings warns of formats that mean nothing, unless the definition had them before.
// They are accepted, for they may be meant for another reader of the schema. A definition is
// usually applied again by every release of its controller, whose users cannot change the schema.
func (s *definitionStrategy) appendFormatWarnings(texts []string, obj, old tree.Tree) []string {
	unknown := unknownFormats(obj, s.formats)
	if len(unknown) == 0 {
		return texts
	}
	had := unknownFormats(old, s.formats)
	for _, format := range unknown {
		if !slices.Contains(had, format) {
			texts = append(texts, fmt.Sprintf("unrecognized format %q", format))
		}
	}
	return texts
}

// unknownFormats are the formats of text in the schemas of a definition that are not known, once each.
// Versions mostly repeat one another's schemas, and one text says enough.
func unknownFormats(definition tree.Tree, known custom.Formats) (formats []string) {
	for _, v := range definition.Object("spec").List("versions") {
		version, _ := v.(tree.Tree)
		formats = appendUnknownFormats(formats, version.Object("schema", "openAPIV3Schema"), known)
	}
	return formats
}

// appendUnknownFormats adds those of a schema and of all schemas in it, fields in the order of their names.
// It visits keywords that validation refuses as well, because it also runs on definitions which were stored
// before. Sorted names give warnings the same order in every response.
func appendUnknownFormats(formats []string, schema tree.Tree, known custom.Formats) []string {
	if f := schema.String("format"); f != "" && schema.String("type") == "string" && known.Of(f) == nil && !slices.Contains(formats, f) {
		formats = append(formats, f)
	}
	for _, name := range [...]string{"items", "not", "additionalProperties", "additionalItems"} {
		if s := schema.Object(name); s != nil {
			formats = appendUnknownFormats(formats, s, known)
		}
	}
	for _, name := range [...]string{"items", "allOf", "anyOf", "oneOf"} {
		for _, v := range schema.List(name) {
			s, _ := v.(tree.Tree)
			formats = appendUnknownFormats(formats, s, known)
		}
	}
	for _, name := range [...]string{"properties", "patternProperties", "definitions", "dependencies"} {
		fields := schema.Object(name)
		for _, field := range fields.SortedKeys() {
			formats = appendUnknownFormats(formats, fields.Object(field), known)
		}
	}
	return formats
}
