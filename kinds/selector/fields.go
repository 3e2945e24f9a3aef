package selector

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Fields is a field selector of one kind. The zero value selects everything.
//
// Values are compared as text: the value of a field of type bool is "true" or "false". Which fields there
// are is declared by the kind (schema.Kind.SelectFields); only those are kept beside an object, so that
// matching does not look into its JSON.
type Fields struct{ terms []term }

// A term is a condition on one field.
type term struct {
	field int // index into the SelectFields of the stored kind, or one of the two below
	value string
	not   bool
}

const (
	fieldName      = -1
	fieldNamespace = -2
)

// ParseFields reads a field selector; the empty text selects everything. The error is a
// *meta.Status, 400: the text is malformed, or k does not select by that field.
//
// As examples for Pods:
//
//	status.phase=Running,spec.nodeName!=      running Pods that have a node
//	metadata.name=a\,b                        the name "a,b"
//	spec.image=x                              400, field label not supported: spec.image
func ParseFields(k *schema.Kind, s string) (Fields, error) {
	var f Fields
	for _, text := range splitTerms(s) {
		if text == "" {
			continue
		}
		name, value, not, ok := splitTerm(text)
		if !ok {
			return Fields{}, badRequest(fmt.Errorf("invalid selector: '%s'; can't understand '%s'", s, text))
		}
		value, err := unescape(value)
		if err != nil {
			return Fields{}, badRequest(err)
		}
		i, err := fieldOf(k, name)
		if err != nil {
			return Fields{}, badRequest(err)
		}
		f.terms = append(f.terms, term{i, value, not})
	}
	return f, nil
}

// fieldOf finds a selectable field of k.
//
// A kind without namespaces does not select by them if it has fields of its own, or a definition: clients know it so.
//
// A field of one version may have another name in the stored version: terms refer to the field by its index
// in the stored version, because that is what the metadata of objects has.
func fieldOf(k *schema.Kind, name string) (int, error) {
	switch name {
	case "metadata.name":
		return fieldName, nil
	case "metadata.namespace":
		if k.Namespaced || !k.IsCustom() && len(k.SelectFields) == 0 {
			return fieldNamespace, nil
		}
	}
	offered := k.IsCustom()
	for _, f := range k.SelectFields {
		offered = offered || f.Name != ""
		if f.Name == name && name != "" {
			return slices.IndexFunc(k.Stored.SelectFields, func(s schema.SelectField) bool { return s.Path == f.Path }), nil
		}
	}
	if !offered {
		return 0, fmt.Errorf("%q is not a known field selector: only %q, %q", name, "metadata.name", "metadata.namespace")
	}
	return 0, errors.New("field label not supported: " + name)
}

// splitTerms splits at the commas that are not escaped.
func splitTerms(s string) []string {
	var out []string
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ',':
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

// splitTerm splits at the first operator that is not escaped.
func splitTerm(s string) (name, value string, not, ok bool) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], "!="):
			return s[:i], s[i+2:], true, true
		case strings.HasPrefix(s[i:], "=="):
			return s[:i], s[i+2:], false, true
		case s[i] == '=':
			return s[:i], s[i+1:], false, true
		}
	}
	return "", "", false, false
}

// unescape resolves \\ \, and \= in a value.
func unescape(s string) (string, error) {
	if !strings.ContainsAny(s, `\,=`) {
		return s, nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i == len(s) {
				return "", fmt.Errorf(`invalid field selector: invalid escape sequence: \`)
			}
			if c = s[i]; c != '\\' && c != ',' && c != '=' {
				return "", fmt.Errorf(`invalid field selector: invalid escape sequence: \%c`, c)
			}
			out = append(out, c)
		case ',', '=':
			return "", fmt.Errorf("invalid field selector: unescaped character in value: %c", c)
		default:
			out = append(out, c)
		}
	}
	return string(out), nil
}

// Empty reports whether f selects everything.
func (f Fields) Empty() bool { return len(f.terms) == 0 }

// OnlyNames reports whether f selects by nothing but name and namespace, which are the same in all versions of an object.
func (f Fields) OnlyNames() bool {
	return !slices.ContainsFunc(f.terms, func(t term) bool { return t.field >= 0 })
}

// Matches reports whether o meets every term. A field that o lacks is empty.
func (f Fields) Matches(o *meta.Object) bool {
	for i := range f.terms {
		t := &f.terms[i]
		if (t.of(o) == t.value) == t.not {
			return false
		}
	}
	return true
}

// of is the value of the term's field in o.
func (t *term) of(o *meta.Object) string { return FieldOf(t.field, o) }

// FieldOf is the value of a field in o, "" if it lacks the field. The field is one that Exact has answered.
func FieldOf(field int, o *meta.Object) string {
	switch {
	case field == fieldName:
		return o.Key.Name
	case field == fieldNamespace:
		return o.Key.Namespace
	case field < len(o.Meta.Fields):
		return o.Meta.Fields[field]
	}
	return ""
}

// Exact is a field that must have a value, if the selector requires one: the name rather than others, for it selects
// least. FieldOf reads it.
func (f Fields) Exact() (field int, value string, ok bool) {
	for _, t := range f.terms {
		if !t.not && (!ok || t.field == fieldName) {
			field, value, ok = t.field, t.value, true
		}
	}
	return field, value, ok
}

// Name is the value that metadata.name must have, if the selector requires one. At most one object matches
// then.
func (f Fields) Name() (string, bool) { return f.requiredValue(fieldName) }

// Namespace is the value that metadata.namespace must have, if the selector requires one.
func (f Fields) Namespace() (string, bool) { return f.requiredValue(fieldNamespace) }

// Value is the value that a selectable field must have, if the selector requires one; i is the index among
// the SelectFields of the stored kind.
//
// An index of that field finds all objects that can match; each is then still held against the selector.
func (f Fields) Value(i int) (string, bool) { return f.requiredValue(i) }

func (f Fields) requiredValue(field int) (string, bool) {
	for i := range f.terms {
		if t := &f.terms[i]; t.field == field && !t.not {
			return t.value, true
		}
	}
	return "", false
}
