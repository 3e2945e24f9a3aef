package apiextensions

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateVersions checks the versions of a CRD, each alone and then together.
func (c definitionValidator) validateVersions(spec tree.Tree, faults *schema.Faults) {
	const path = "spec.versions"
	versions := spec.Objects("versions")
	stored, unique := 0, true
	seen := map[string]bool{}
	for i, v := range versions {
		at, name := tree.IndexPath(path, i), v.String("name")
		if messages := rules.Label1035(name); len(messages) > 0 {
			faults.Invalid(at+".name", name, strings.Join(messages, ","))
		}
		unique = unique && !seen[name]
		seen[name] = true
		if v.Bool("storage") {
			stored++
		}
		validateDeprecationWarning(v, at, faults)
		if _, ok := v.Object("schema")["openAPIV3Schema"].(tree.Tree); !ok {
			faults.Required(at + ".schema.openAPIV3Schema")
		}
	}
	for _, part := range []versionField{
		{[]string{"schema", "subresources"}, "spec.validation", c.validateSchema},
		{[]string{"subresources"}, "spec.subresources", validateSubresources},
		{[]string{"additionalPrinterColumns"}, "spec.additionalPrinterColumns", validatePrinterColumns},
		{[]string{"selectableFields", "schema"}, "spec.selectableFields", validateSelectableFields},
	} {
		part.validate(versions, faults)
	}
	if !unique {
		faults.Invalid(path, spec["versions"], "must contain unique version names")
	}
	if stored != 1 {
		faults.Invalid(path, spec["versions"], "must have exactly one version marked as storage version")
	}
	if len(versions) > 0 { // v1beta1 had a field for the first version
		if name := versions[0].String("name"); name != "" && len(rules.Label1035(name)) > 0 {
			faults.Invalid("spec.version", name, strings.Join(rules.Label1035(name), ","))
		}
	}
}

// A versionField is a field of each version, with the fields that its validity depends on. If all
// versions agree on these, its faults are reported once at topLevelPath, where v1beta1 had the
// field for all versions. fields[0] is the field itself, whose name ends the path of a version's
// own faults.
type versionField struct {
	fields       []string
	topLevelPath string
	check        func(version tree.Tree, path string, faults *schema.Faults)
}

func (p versionField) validate(versions []tree.Tree, faults *schema.Faults) {
	same := len(versions) > 0 && !slices.ContainsFunc(versions, func(v tree.Tree) bool {
		return slices.ContainsFunc(p.fields, func(name string) bool { return !tree.StrictEqual(v[name], versions[0][name]) })
	})
	if same {
		p.check(versions[0], p.topLevelPath, faults)
		return
	}
	for i, v := range versions {
		p.check(v, tree.IndexPath("spec.versions", i)+"."+p.fields[0], faults)
	}
}

// maxDeprecationWarning bounds the text of a warning, in bytes.
const maxDeprecationWarning = 256

// validateDeprecationWarning keeps the text suitable for Warning headers. "characters" in the
// message means bytes.
func validateDeprecationWarning(v tree.Tree, path string, faults *schema.Faults) {
	text, ok := v["deprecationWarning"].(string)
	path += ".deprecationWarning"
	switch {
	case !ok:
	case !v.Bool("deprecated"):
		faults.Invalid(path, text, "can only be set for deprecated versions")
	case text == "":
		faults.Invalid(path, text, "must not be an empty string")
	case len(text) > maxDeprecationWarning:
		faults.Invalid(path, text, fmt.Sprintf("must be <= %d characters long", maxDeprecationWarning))
	case !utf8.ValidString(text):
		faults.Invalid(path, text, "must only contain printable UTF-8 characters")
	default:
		if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			faults.Invalid(path, text, fmt.Sprintf("must only contain printable UTF-8 characters; non-printable character found at index %d", i))
		}
	}
}

// validateSubresources checks the paths of the scale subresource. They must be below spec and
// status, and so cannot reach the metadata. The selector is optional, because not every controller
// counts Pods.
func validateSubresources(version tree.Tree, path string, faults *schema.Faults) {
	scale, ok := version.Object("subresources")["scale"].(tree.Tree)
	if !ok {
		return
	}
	path += ".scale"
	validateScalePath(scale, "specReplicasPath", path, faults, "should be a json path under .spec", ".spec.")
	validateScalePath(scale, "statusReplicasPath", path, faults, "should be a json path under .status", ".status.")
	if scale.String("labelSelectorPath") != "" {
		validateScalePath(scale, "labelSelectorPath", path, faults, "should be a json path under either .spec or .status", ".spec.", ".status.")
	}
}

// validateScalePath checks one path. below are its allowed prefixes.
func validateScalePath(scale tree.Tree, name, path string, faults *schema.Faults, msg string, below ...string) {
	s := scale.String(name)
	path += "." + name
	switch {
	case s == "":
		faults.Required(path)
	case !validateJSONPath(s, path, faults):
	case !slices.ContainsFunc(below, func(prefix string) bool { return strings.HasPrefix(s, prefix) }):
		faults.Invalid(path, s, msg)
	}
}

// validateJSONPath reports whether a path starts like a simple path, such as .spec.size. The rest
// is not checked: a path without a match leaves a column empty.
func validateJSONPath(s, path string, faults *schema.Faults) bool {
	if s[0] != '.' {
		faults.Invalid(path, s, "must be a simple json path starting with .")
		return false
	}
	return true
}

// Types and formats of printer columns. They follow OpenAPI; date is shown as an age.
var (
	columnTypes   = []string{"boolean", "date", "integer", "number", "string"}
	columnFormats = []string{"byte", "date", "date-time", "double", "float", "int32", "int64", "password"}
)

// validatePrinterColumns does not look up paths in the schema: they may lead into preserved unknown
// fields.
func validatePrinterColumns(version tree.Tree, path string, faults *schema.Faults) {
	for i, column := range version.Objects("additionalPrinterColumns") {
		at := tree.IndexPath(path, i)
		field.Require(column, at, faults, "name")
		types := "must be one of " + strings.Join(columnTypes, ",")
		if kind := column.String("type"); kind == "" {
			faults.Required(at+".type", types)
		} else if !slices.Contains(columnTypes, kind) {
			faults.Invalid(at+".type", kind, types)
		}
		if format := column.String("format"); format != "" && !slices.Contains(columnFormats, format) {
			faults.Invalid(at+".format", format, "must be one of "+strings.Join(columnFormats, ","))
		}
		if s := column.String("jsonPath"); s == "" {
			faults.Required(at + ".JSONPath")
		} else {
			validateJSONPath(s, at+".JSONPath", faults)
		}
	}
}

// maxSelectableFields bounds the selectable fields of a version, which are evaluated for every
// object of a list or watch that selects by them.
const maxSelectableFields = 8

// validateSelectableFields requires paths to scalar fields of the schema, because values are
// compared as text.
func validateSelectableFields(version tree.Tree, path string, faults *schema.Faults) {
	fields := version.Objects("selectableFields")
	root := version.Object("schema", "openAPIV3Schema")
	if root == nil && len(fields) > 0 {
		faults.Invalid(path, "", "may only be set when `version.schema.openAPIV3Schema` is not included")
		return
	}
	seen := map[string]bool{}
	for i, f := range fields {
		at, s := tree.IndexPath(path, i)+".jsonPath", f.String("jsonPath")
		if s == "" {
			faults.Required(at)
			continue
		}
		if msg := selectableFieldError(root, s); msg != "" {
			faults.Invalid(at, s, msg)
		}
		if seen[s] {
			faults.Duplicate(at, s)
		}
		seen[s] = true
	}
	if len(seen) > maxSelectableFields {
		faults.TooMany(path, len(seen), maxSelectableFields)
	}
}

// selectableFieldError returns why the field at a path is not selectable; "" if it is.
func selectableFieldError(root tree.Tree, path string) string {
	at, err := fieldSchema(root, path)
	switch {
	case err != nil:
		return "is an invalid path: " + err.Error()
	case path == ".metadata" || strings.HasPrefix(path, ".metadata."):
		return "must not point to fields in metadata"
	case !slices.Contains([]string{"string", "boolean", "integer"}, at.String("type")):
		return "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
	}
	return ""
}

// fieldSchema returns the schema of the field at a path of names, such as .spec.size. A name may be
// a key of a map. The result is nil if the schema says nothing about entries.
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
