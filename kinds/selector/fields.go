package selector

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Fields is a field selector for one kind. The zero value selects everything. Values are compared
// as strings, so a bool is "true" or "false". Matching parses no JSON, because every meta.Object
// contains the values of its kind's SelectFields.
type Fields struct{ terms []term }

type term struct {
	field int // index into the SelectFields of the stored kind, or one of the constants below
	value string
	not   bool
}

const (
	fieldName      = -1
	fieldNamespace = -2
)

// ParseFields parses a field selector. An empty selector selects everything. If s is malformed or
// names a field that k does not support, the error is a *meta.Status with code 400.
//
// Examples for Pods:
//
//	status.phase=Running,spec.nodeName!=      running Pods that have a node
//	metadata.name=a\,b                        the name "a,b"
//	spec.image=x                              400, field label not supported: spec.image
func ParseFields(k *schema.Kind, s string) (Fields, error) {
	all, err := FieldRequirements(s)
	if err != nil {
		return Fields{}, err
	}
	var f Fields
	for _, r := range all {
		i, err := fieldOf(k, r.Key)
		if err != nil {
			return Fields{}, badRequest(err)
		}
		f.terms = append(f.terms, term{i, r.Values[0], r.Operator == "NotIn"})
	}
	return f, nil
}

// fieldOf returns the index of a selectable field in the SelectFields of the stored version of k,
// in which the field may have another name. As in Kubernetes, custom kinds and kinds with their own
// selectable fields support metadata.namespace only if they are namespaced.
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

// splitTerm splits a term at the first operator. As in Kubernetes, a backslash in the name does not
// escape it: `\=` compares a field named `\` with the empty string.
func splitTerm(s string) (name, value string, not, ok bool) {
	for i := range len(s) {
		switch {
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

// Size returns the number of requirements.
func (f Fields) Size() int { return len(f.terms) }

// OnlyNames reports whether f selects only by name and namespace, which are the same in all
// versions of an object.
func (f Fields) OnlyNames() bool {
	return !slices.ContainsFunc(f.terms, func(t term) bool { return t.field >= 0 })
}

// Matches reports whether o meets every requirement. A field that o lacks has the value "".
func (f Fields) Matches(o *meta.Object) bool {
	for i := range f.terms {
		t := &f.terms[i]
		if (t.of(o) == t.value) == t.not {
			return false
		}
	}
	return true
}

func (t *term) of(o *meta.Object) string { return FieldOf(t.field, o) }

// FieldOf returns the value of a field in o, or "". field comes from Exact.
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

// Exact returns a field for which f requires a specific value, and the value. It prefers
// metadata.name, the most selective field. Callers pass field to FieldOf.
func (f Fields) Exact() (field int, value string, ok bool) {
	for _, t := range f.terms {
		if !t.not && (!ok || t.field == fieldName) {
			field, value, ok = t.field, t.value, true
		}
	}
	return field, value, ok
}

// Name returns the required value of metadata.name, if any. Such a selector matches at most one
// object per namespace.
func (f Fields) Name() (string, bool) { return f.requiredValue(fieldName) }

// Namespace returns the required value of metadata.namespace, if any.
func (f Fields) Namespace() (string, bool) { return f.requiredValue(fieldNamespace) }

// Value returns the required value of a selectable field, if any. i is an index into the
// SelectFields of the stored kind. Callers that use the value for an index lookup must still call
// Matches for each object found.
func (f Fields) Value(i int) (string, bool) { return f.requiredValue(i) }

func (f Fields) requiredValue(field int) (string, bool) {
	for i := range f.terms {
		if t := &f.terms[i]; t.field == field && !t.not {
			return t.value, true
		}
	}
	return "", false
}
