package apiextensions

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/troupe-api/troupe/kinds/api/internal/webhook"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func validateDeprecationWarning(text, path string, faults *schema.Faults) {
	if !utf8.ValidString(text) {
		faults.Invalid(path, text, "must only contain printable UTF-8 characters")
	} else if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		faults.Invalid(path, text, fmt.Sprintf("must only contain printable UTF-8 characters; non-printable character found at index %d", i))
	}
}

// validateReplacedCABundle validates a changed CA bundle of the conversion webhook. It accepts any
// bundle if the previous one was invalid, because installers first write placeholders.
func validateReplacedCABundle(bundle, old, path string, faults *schema.Faults) {
	var before schema.Faults
	if webhook.ValidateCABundle(old, nil, "", &before); len(before.List) == 0 {
		webhook.ValidateCABundle(bundle, nil, path, faults)
	}
}

// validateSelectableField requires the path of a scalar field, because values are compared as
// strings.
func validateSelectableField(root tree.Tree, field, path string, faults *schema.Faults) {
	at, err := fieldSchema(root, field)
	switch {
	case err != nil:
		faults.Invalid(path, field, "is an invalid path: "+err.Error())
	case field == ".metadata" || strings.HasPrefix(field, ".metadata."):
		faults.Invalid(path, field, "must not point to fields in metadata")
	case !slices.Contains([]string{"string", "boolean", "integer"}, at.String("type")):
		faults.Invalid(path, field, "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.")
	}
}

// fieldSchema returns the schema of the field at a path such as .spec.size. In a path into a map,
// the key follows the name of the map. The result is nil if additionalProperties is not a schema.
func fieldSchema(at tree.Tree, path string) (tree.Tree, error) {
	for rest := path; rest != ""; {
		if rest[0] == '[' {
			return nil, errors.New("array notation is not allowed")
		}
		name, isField := strings.CutPrefix(rest, ".")
		end := strings.IndexAny(name, ".[]")
		if end < 0 {
			end = len(name)
		}
		if !isField {
			return nil, errors.New("expected [ or . but got: " + name[:end])
		}
		fields := at.Object("properties")
		next, known := fields[name[:end]].(tree.Tree)
		if !known && (fields != nil || !at.Has("additionalProperties")) {
			return nil, errors.New("does not refer to a valid field")
		}
		if !known {
			next = at.Object("additionalProperties")
		}
		at, rest = next, name[end:]
	}
	return at, nil
}
