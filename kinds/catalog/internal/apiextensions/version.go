package apiextensions

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateVersions checks the versions of a definition, alone and together.
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
}

// A versionField is a field that each version has, with the fields that its validity depends on. Where
// all versions agree on them, its faults are reported once, at the path together, where v1beta1 had
// the field for all versions; clients expect that.
type versionField struct {
	fields       []string
	topLevelPath string
	check        func(version tree.Tree, path string, faults *schema.Faults)
}

func (p versionField) validate(versions []tree.Tree, faults *schema.Faults) {
	same := len(versions) > 0 && !slices.ContainsFunc(versions, func(v tree.Tree) bool {
		return slices.ContainsFunc(p.fields, func(name string) bool { return !tree.SemanticEqual(v[name], versions[0][name]) })
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

func validateDeprecationWarning(v tree.Tree, path string, faults *schema.Faults) {
	text, ok := v["deprecationWarning"].(string)
	path += ".deprecationWarning"
	switch {
	case !ok:
	case !v.Bool("deprecated"):
		faults.Invalid(path, text, "can only be set for deprecated versions")
	case text == "":
		faults.Invalid(path, text, "must be nonempty")
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

// validateSubresources checks the paths of the scale sub-resource.
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

// validateJSONPath checks a simple path such as .spec.size, and reports whether it is one.
func validateJSONPath(s, path string, faults *schema.Faults) bool {
	if s[0] != '.' {
		faults.Invalid(path, s, "must be a simple json path starting with .")
		return false
	}
	return true
}

// The types and formats of printer columns.
var (
	columnTypes   = []string{"boolean", "date", "integer", "number", "string"}
	columnFormats = []string{"byte", "date", "date-time", "double", "float", "int32", "int64", "password"}
)

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
			faults.Required(at + ".jsonPath")
		} else {
			validateJSONPath(s, at+".jsonPath", faults)
		}
	}
}

// maxSelectableFields bounds the selectable fields of a version.
const maxSelectableFields = 8

func validateSelectableFields(version tree.Tree, path string, faults *schema.Faults) {
	fields := version.Objects("selectableFields")
	if len(fields) > maxSelectableFields {
		faults.TooMany(path, len(fields), maxSelectableFields)
	}
	root := version.Object("schema", "openAPIV3Schema")
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
}

// selectableFieldError is the reason why the field at a path is not selectable; "" if it is.
func selectableFieldError(root tree.Tree, path string) string {
	switch {
	case path[0] != '.' || strings.ContainsAny(path, "[]*()"):
		return "is an invalid path: must be a simple path of names, such as .spec.size"
	case path == ".metadata" || strings.HasPrefix(path, ".metadata."):
		return "must not point to fields in metadata"
	}
	at := root
	for _, name := range strings.Split(path[1:], ".") {
		next, ok := at.Object("properties")[name].(tree.Tree)
		if !ok {
			return "is an invalid path: does not refer to a valid field"
		}
		at = next
	}
	if !slices.Contains([]string{"string", "boolean", "integer"}, at.String("type")) {
		return "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
	}
	return ""
}
