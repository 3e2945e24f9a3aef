package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/regex"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// evaluators contains the checks of one field, in the order in which errors are reported. value
// checks each value, and keys each map key. before and after check the whole list or map, before
// and after its values are checked.
type evaluators struct{ value, keys, before, after []schema.Evaluator }

func (e evaluators) empty() bool { return len(e.value)+len(e.keys)+len(e.before)+len(e.after) == 0 }

// newEvaluators compiles the options of a field. It returns an error for unknown formats and
// invalid patterns, so that startup detects them.
func newEvaluators(f *schema.Field) (evaluators, error) {
	var made evaluators
	var err error
	if made.value, err = valueEvaluators(f); err != nil {
		return made, err
	}
	if f.MaxItems > 0 {
		made.before = append(made.before, MaxItems(f.MaxItems), MaxEntries(f.MaxItems))
	}
	if len(f.ReservedDomains) > 0 {
		made.keys = append(made.keys, reservedDomains(f.ReservedDomains))
	}
	if f.KeyFormat != "" {
		check, err := FindFormat(f.KeyFormat)
		if err != nil {
			return made, err
		}
		made.keys = append(made.keys, format(check))
	}
	if f.Shape == schema.List && f.ListType != schema.ListAtomic && !f.MayRepeat {
		u := &Unique{AllowEmpty: true, AtKey: true}
		if f.ListType == schema.ListMap {
			u.Keys = f.ListMapKeys
		}
		made.after = append(made.after, u)
	}
	return made, nil
}

func valueEvaluators(f *schema.Field) (all []schema.Evaluator, err error) {
	if len(f.Enum) > 0 {
		all = append(all, &choice{choices: f.Enum, ofList: f.Shape == schema.List})
	}
	if f.MaxLength > 0 {
		all = append(all, maxLength(f.MaxLength))
	}
	if f.MinLength > 0 {
		all = append(all, minLength(f.MinLength))
	}
	if f.Pattern != "" {
		re, err := regex.Compile(f.Pattern)
		if err != nil {
			return all, err
		}
		all = append(all, pattern{re})
	}
	if f.Format != "" {
		check, err := FindFormat(f.Format)
		if err != nil {
			return all, err
		}
		all = append(all, format(check))
	}
	if f.Min != nil || f.Max != nil {
		all = append(all, newBounds(f.Min, f.Max, f.RangeText))
	}
	if len(f.RequiredFields) > 0 {
		all = append(all, requiredFields(f.RequiredFields))
	}
	return all, nil
}

// MaxItems checks the length of a list.
type MaxItems int

func (m MaxItems) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if list, ok := v.([]any); ok && len(list) > int(m) {
		e.TooMany(e.Path(), len(list), int(m))
	}
}

// MaxEntries checks the number of entries in a map or object.
type MaxEntries int

func (m MaxEntries) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if t, ok := v.(tree.Tree); ok && len(t) > int(m) {
		e.TooMany(e.Path(), len(t), int(m))
	}
}

// A choice is an enum. As in Kubernetes, an invalid item is reported with the path of its list:
// spec.accessModes: Unsupported value: "x": supported values: "ReadWriteOnce", …
type choice struct {
	choices []string
	ofList  bool
}

func (c *choice) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	s, ok := v.(string)
	if !ok || slices.Contains(c.choices, s) {
		return
	}
	path := e.Path()
	if c.ofList {
		path = e.ListPath()
	}
	e.NotSupported(path, s, nonEmpty(c.choices))
}

func nonEmpty(choices []string) []string {
	return slices.DeleteFunc(slices.Clone(choices), func(s string) bool { return s == "" })
}

type maxLength int

func (m maxLength) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if s, ok := v.(string); ok && len(s) > int(m) {
		e.TooLong(e.Path(), int(m))
	}
}

type minLength int

func (m minLength) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if s, ok := v.(string); ok && len(s) < int(m) {
		e.Invalid(e.Path(), s, fmt.Sprintf("must be at least %d bytes", int(m)))
	}
}

// A pattern is a regular expression that must match a part of a string.
type pattern struct{ *regexp.Regexp }

func (p pattern) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if s, ok := v.(string); ok && !p.MatchString(s) {
		e.Invalid(e.Path(), s, "must match the regular expression '"+p.String()+"'")
	}
}

type format func(s string) []string

func (f format) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if s, ok := v.(string); ok {
		for _, msg := range f(s) {
			e.Invalid(e.Path(), s, msg)
		}
	}
}

// bounds contains the inclusive bounds of an integer. A nil bound is unlimited.
type bounds struct {
	min, max *int64
	msg      string
}

func newBounds(low, high *int64, text string) *bounds {
	b := &bounds{min: low, max: high, msg: text}
	switch {
	case text != "":
	case low != nil && high != nil:
		b.msg = fmt.Sprintf("must be between %d and %d, inclusive", *low, *high)
	case low != nil && *low == 1:
		b.msg = "must be greater than zero"
	case low != nil:
		b.msg = fmt.Sprintf("must be greater than or equal to %d", *low)
	default:
		b.msg = fmt.Sprintf("must be less than or equal to %d", *high)
	}
	return b
}

func (b *bounds) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if n, ok := v.(int64); ok && (b.min != nil && n < *b.min || b.max != nil && n > *b.max) {
		e.Invalid(e.Path(), n, b.msg)
	}
}

type requiredFields []string

func (r requiredFields) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	t, ok := v.(tree.Tree)
	if !ok {
		return
	}
	for _, name := range r {
		if tree.IsEmpty(t[name]) {
			e.Required(e.PathOf(name))
		}
	}
}

// reservedDomains lists domains that keys may not use. For example, "example.io" reserves
// example.io/x and a.example.io/x, but not myexample.io/x.
type reservedDomains []string

func (r reservedDomains) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	key, _ := v.(string)
	if !r.contains(key) {
		return
	}
	msg := " namespace is reserved"
	if len(r) > 1 {
		msg = " namespaces are reserved"
	}
	e.Invalid(e.Path(), key, strings.Join(r, " and ")+msg)
}

func (r reservedDomains) contains(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	domain = "." + strings.ToLower(domain)
	return slices.ContainsFunc(r, func(reserved string) bool { return strings.HasSuffix(domain, "."+reserved) })
}
