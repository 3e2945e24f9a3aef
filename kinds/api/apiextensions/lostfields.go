package apiextensions

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const maxLostFields = 10

// Warnings warns about schemas, and about fields of served versions that the storage version lacks.
// Without a conversion webhook, the values of such fields are lost. Warnings that also apply to old
// are omitted, because controllers apply their CRDs repeatedly.
func (s *definitionStrategy) Warnings(obj, old tree.Tree) (texts []string) {
	had, lost := schemaWarnings(old, s.formats, s.lostFields.keys), 0
	for _, text := range schemaWarnings(obj, s.formats, s.lostFields.keys) {
		if !slices.Contains(had, text) && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	had = s.lostFields.definition(old)
	for _, text := range s.lostFields.definition(obj) {
		if lost < maxLostFields && !slices.Contains(had, text) {
			texts = append(texts, text)
			lost++
		}
	}
	return texts
}

type lostFieldFinder struct{ keys crd.Extensions }

func (l lostFieldFinder) definition(definition tree.Tree) (texts []string) {
	spec := definition.Object("spec")
	versions := spec.Objects("versions")
	i := slices.IndexFunc(versions, func(v tree.Tree) bool { return v.Bool("storage") })
	if i < 0 || spec.Object("conversion").String("strategy") == "Webhook" {
		return nil
	}
	stored := versions[i]
	for _, v := range versions {
		if !v.Bool("served") || v.Bool("storage") {
			continue
		}
		for _, field := range l.schema(v.Object("schema", "openAPIV3Schema"), stored.Object("schema", "openAPIV3Schema"), "") {
			texts = append(texts, fmt.Sprintf("version %q has the field %q, which the storage version %q lacks: its values are dropped",
				v.String("name"), field, stored.String("name")))
		}
	}
	return texts
}

func (l lostFieldFinder) schema(s, stored tree.Tree, path string) (fields []string) {
	properties, known := s.Object("properties"), stored.Object("properties")
	more, _ := stored["additionalProperties"].(tree.Tree)
	for _, name := range properties.SortedKeys() {
		if path == "" && schema.IsResourceField(name) {
			continue
		}
		at, below := tree.FieldPath(path, name), more
		if of, there := known[name].(tree.Tree); there {
			below = of
		}
		switch {
		case below != nil:
			fields = append(fields, l.schema(properties.Object(name), below, at)...)
		case stored["additionalProperties"] != true && !stored.Bool(l.keys.Preserve):
			fields = append(fields, at)
		}
	}
	for _, name := range []string{"items", "additionalProperties"} {
		part, ok := s[name].(tree.Tree)
		if of, there := stored[name].(tree.Tree); ok && there {
			fields = append(fields, l.schema(part, of, path+"[*]")...)
		}
	}
	return fields
}
