package apiextensions

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/tree"
)

// appendFormatWarnings appends a warning if the CRD introduces unknown formats. Unknown formats are
// accepted, since other schema consumers may support them. An unchanged CRD gets no warning,
// because controllers apply their CRDs repeatedly.
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

func unknownFormats(definition tree.Tree, known crd.Formats) (formats []string) {
	for _, v := range definition.Object("spec").List("versions") {
		version, _ := v.(tree.Tree)
		formats = appendUnknownFormats(formats, version.Object("schema", "openAPIV3Schema"), known)
	}
	return formats
}

// appendUnknownFormats appends the unknown formats of a schema and its subschemas in a fixed order.
// It also visits unsupported keywords, because stored CRDs may contain them.
func appendUnknownFormats(formats []string, schema tree.Tree, known crd.Formats) []string {
	if f := schema.String("format"); f != "" && !known.Known(schema.String("type"), f) && !slices.Contains(formats, f) {
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
