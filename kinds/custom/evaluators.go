package custom

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// What the keywords of a schema ask of values, each in the words that clients know. The order of the evaluators is
// that of their faults: the type, the value itself, other schemas, and then what is in it.

// typeEvaluators ask for the type of the schema.
func (n *node) typeEvaluators() []schema.Evaluator {
	switch {
	case n.intOrString:
		return []schema.Evaluator{valueType("integer,string")}
	case n.kind != "":
		return []schema.Evaluator{valueType(n.kind)}
	}
	return nil
}

// valueEvaluators are those of the value itself, and of the schemas that it has to meet besides.
//
// anyOf of intOrString is skipped: it can only repeat the two types, which were checked already.
func (n *node) valueEvaluators(atRoot bool) (all []schema.Evaluator) {
	if len(n.enum) > 0 {
		all = append(all, newEnum(n.enum))
	}
	all = append(all, n.limits.evaluators(n.format, n.hasFormat)...)
	for _, one := range n.allOf {
		all = append(all, allOf{one.values(atRoot)})
	}
	if len(n.anyOf) > 0 && !n.intOrString {
		all = append(all, anyOf(valuesOfAll(n.anyOf, atRoot)))
	}
	if len(n.oneOf) > 0 {
		all = append(all, oneOf(valuesOfAll(n.oneOf, atRoot)))
	}
	if n.not != nil {
		all = append(all, not{n.not.values(atRoot)})
	}
	return all
}

// evaluators are those of the limits, and of the format of texts; hasFormat is nil if it is not known.
//
// Nothing is made for a limit that is not there. A schema with a thousand fields has few limits, and each evaluator
// is a call for each value.
func (l *limits) evaluators(format string, hasFormat func(string) bool) (all []schema.Evaluator) {
	if l.minLength != nil || l.maxLength != nil || l.pattern != nil || hasFormat != nil {
		all = append(all, &textLimits{l.minLength, l.maxLength, l.pattern, format, hasFormat})
	}
	fits := numberFormats[format]
	if l.min != nil || l.max != nil || l.multipleOf != nil || fits != nil {
		all = append(all, &numberLimits{limits: l, format: format, fits: fits})
	}
	if l.maxItems != nil {
		all = append(all, rules.MaxItems(*l.maxItems))
	}
	if l.minItems != nil {
		all = append(all, minItems(*l.minItems))
	}
	if l.minProperties != nil {
		all = append(all, minProperties(*l.minProperties))
	}
	if l.maxProperties != nil {
		all = append(all, rules.MaxEntries(*l.maxProperties))
	}
	return all
}

// objectEvaluators are those of the fields of an object; parts are those that are checked, or nil.
func (n *node) objectEvaluators(atRoot bool, parts *schema.Parts) (all []schema.Evaluator) {
	wanted := n.required
	if atRoot { // what every object has is no matter of its schema
		wanted = slices.DeleteFunc(slices.Clone(wanted), schema.IsResourceField)
	}
	if len(wanted) > 0 {
		all = append(all, required(wanted))
	}
	if parts != nil && (len(parts.ByName) > 0 || parts.Additional != nil) {
		all = append(all, rules.Fields{Parts: parts})
	}
	return all
}

// listEvaluators are those of the elements of a list, which are of a plan, or nil.
//
// Uniqueness comes before the elements, and is looked at for the list as a whole, for it is a matter of all of them.
func (n *node) listEvaluators(items *schema.ValuePlan) (all []schema.Evaluator) {
	if n.listType == "set" || n.listType == "map" || n.unique {
		u := &rules.Unique{Once: true}
		if n.listType == "map" {
			u.Identity = *n.identity
		}
		all = append(all, u)
	}
	if items != nil {
		all = append(all, rules.Items{Plan: items, Identity: n.identity})
	}
	return all
}

// valueType is the type of a value, as schemas name it.
type valueType string

func (want valueType) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if want.matches(v) {
		return
	}
	path, got := e.Path(), typeOf(v)
	e.TypeInvalid(path, got, fmt.Sprintf("%s in body must be of type %s: %q", path, string(want), got))
}

func (want valueType) matches(v any) bool {
	switch want {
	case "integer,string":
		_, text := v.(string)
		return text || isInteger(v)
	case "integer":
		return isInteger(v)
	case "number":
		_, isNumber := asFloat(v)
		return isNumber
	}
	return typeOf(v) == string(want)
}

// 1.0 is an integer in JSON Schema, which has no two kinds of numbers. Beyond 2^53 a number with a fraction or an exponent,
// or one that does not fit into 64 bits, is none: which integer was meant is lost.
func isInteger(v any) bool {
	switch v := v.(type) {
	case int64:
		return true
	case float64:
		return v == math.Trunc(v) && math.Abs(v) < 1<<53
	}
	return false
}

// typeOf names the type of a value as schemas do.
func typeOf(v any) string {
	switch v := v.(type) {
	case tree.Tree:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		if isInteger(v) {
			return "integer"
		}
		return "number"
	}
	return "null"
}

// An enum lists the only values that there may be.
type enum struct {
	values []any
	texts  []string // as faults list them
}

// The texts are made once, and not for each value that is refused.
func newEnum(values []any) *enum {
	m := &enum{values: values, texts: make([]string, len(values))}
	for i, v := range values {
		if s, ok := v.(string); ok {
			m.texts[i] = s
		} else {
			m.texts[i] = string(codec.AppendAny(nil, v))
		}
	}
	return m
}

func (m *enum) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if !slices.ContainsFunc(m.values, func(one any) bool { return jsonEqual(one, v) }) {
		e.NotSupported(e.Path(), v, m.texts)
	}
}

// nullableEnum is the enum of a value that may be null: null has to be listed as well, and nothing else is asked of it.
type nullableEnum struct {
	enum *enum
	all  []schema.Evaluator // with the enum
}

// Evaluate implements schema.Evaluator.
func (n nullableEnum) Evaluate(e *schema.Evaluation, v any, was schema.Previous) {
	if v == nil {
		n.enum.Evaluate(e, v, was)
		return
	}
	for _, evaluator := range n.all {
		evaluator.Evaluate(e, v, was)
	}
}

// jsonEqual compares values as JSON: 1 and 1.0 are one.
func jsonEqual(a, b any) bool {
	x, okX := asFloat(a)
	y, okY := asFloat(b)
	if okX || okY {
		return okX && okY && x == y
	}
	return tree.StrictEqual(a, b)
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// textLimits bounds texts, in characters. Of length and pattern only one fault is reported.
type textLimits struct {
	min, max *int64
	pattern  *regexp.Regexp
	format   string
	// hasFormat is nil if the format is not known. Such passes, so that a definition can name formats of newer servers.
	hasFormat func(s string) bool
}

// Lengths count characters and not bytes, as JSON Schema says. The pattern has been compiled with the definition and
// is not anchored unless it says so itself.
func (t *textLimits) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	s, ok := v.(string)
	if !ok {
		return
	}
	length := int64(utf8.RuneCountInString(s))
	switch {
	case t.max != nil && length > *t.max:
		e.TooLong(e.Path(), int(*t.max))
	case t.min != nil && length < *t.min:
		e.Invalid(e.Path(), s, fmt.Sprintf("%sshould be at least %d chars long", inBody(e), *t.min))
	case t.pattern != nil && !t.pattern.MatchString(s):
		e.Invalid(e.Path(), s, fmt.Sprintf("%sshould match '%s'", inBody(e), t.pattern))
	}
	if t.hasFormat != nil && !t.hasFormat(s) {
		e.TypeInvalid(e.Path(), s, fmt.Sprintf("%smust be of type %s: %q", inBody(e), t.format, s))
	}
}

// numberLimits bounds numbers.
type numberLimits struct {
	*limits
	format string
	fits   func(f float64) bool // reports whether a number has the format; nil for all
}

// numberFormats are the formats with a smaller range than that of all numbers.
var numberFormats = map[string]func(f float64) bool{
	"int32": func(f float64) bool { return f >= math.MinInt32 && f <= math.MaxInt32 },
	"float": func(f float64) bool { return !math.IsInf(float64(float32(f)), 0) },
}

func (n *numberLimits) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	f, ok := asFloat(v)
	if !ok {
		return
	}
	fault := func(msg string, bound float64) {
		e.Invalid(e.Path(), v, inBody(e)+msg+" "+string(codec.AppendAny(nil, formatBound(bound))))
	}
	if n.max != nil && (f > *n.max || n.maxExclusive && f == *n.max) {
		if n.maxExclusive {
			fault("should be less than", *n.max)
		} else {
			fault("should be less than or equal to", *n.max)
		}
	}
	if n.min != nil && (f < *n.min || n.minExclusive && f == *n.min) {
		if n.minExclusive {
			fault("should be greater than", *n.min)
		} else {
			fault("should be greater than or equal to", *n.min)
		}
	}
	if n.multipleOf != nil && !isMultiple(f, *n.multipleOf) {
		fault("should be a multiple of", *n.multipleOf)
	}
	if n.fits != nil && !n.fits(f) {
		e.Invalid(e.Path(), v, inBody(e)+"must be of type "+n.format+": \""+string(codec.AppendAny(nil, v))+"\"")
	}
}

// The quotient of two decimal fractions is rarely whole in binary: 0.3 / 0.1 is not 3. Hence the tolerance.
func isMultiple(f, of float64) bool {
	q := f / of
	return of > 0 && math.Abs(q-math.Round(q)) < 1e-9
}

// formatBound is a number without a fraction if it has none.
//
// Beyond 2^53 a float does not hold every integer, and its text stays that of a float.
func formatBound(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return f
}

// minItems asks for so many elements of a list.
type minItems int64

func (m minItems) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if list, ok := v.([]any); ok && int64(len(list)) < int64(m) {
		e.Invalid(e.Path(), list, fmt.Sprintf("%sshould have at least %d items", inBody(e), int64(m)))
	}
}

// minProperties asks for so many fields of an object.
type minProperties int64

func (m minProperties) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if t, ok := v.(tree.Tree); ok && int64(len(t)) < int64(m) {
		e.Invalid(e.Path(), t, fmt.Sprintf("%sshould have at least %d properties", inBody(e), int64(m)))
	}
}

// inBody begins what is said about the value at a path.
func inBody(e *schema.Evaluation) string { return strings.TrimPrefix(e.Path(), ".") + " in body " }
