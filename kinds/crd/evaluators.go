package crd

import (
	"fmt"
	"io"
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

// This file implements schema keywords with kube-apiserver's error messages. Evaluators run in
// kube-apiserver's error order: type, value, other schemas, content.

func (n *node) typeEvaluators() []schema.Evaluator {
	switch {
	case n.intOrString:
		return []schema.Evaluator{valueType("integer,string")}
	case n.kind != "":
		return []schema.Evaluator{valueType(n.kind)}
	}
	return nil
}

// valueEvaluators returns the evaluators for enum, limits and combinators such as anyOf. It skips
// the anyOf of an int-or-string, which only repeats the two types in structural schemas.
func (n *node) valueEvaluators(atRoot bool) (all []schema.Evaluator) {
	if len(n.enum) > 0 {
		all = append(all, newEnum(n.enum))
	}
	all = append(all, n.limits.evaluators(n.kind, n.format, n.hasFormat)...)
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

// evaluators returns evaluators only for the limits that are set, because each one is called for
// every value. hasFormat is nil if the format is unknown.
func (l *limits) evaluators(kind, format string, hasFormat func(string) bool) (all []schema.Evaluator) {
	if l.minLength != nil || l.maxLength != nil || l.pattern != nil || hasFormat != nil {
		all = append(all, &textLimits{l.minLength, l.maxLength, l.pattern, l.patternSize, format, hasFormat})
	}
	fits := numberFormats[kind+"/"+format]
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

func (n *node) objectEvaluators(atRoot bool, parts *schema.Parts) (all []schema.Evaluator) {
	wanted := n.required
	if atRoot { // schemas do not apply to the fields of every object
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

// listEvaluators returns the uniqueness check of a list, followed by the checks of its items.
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

// isInteger reports whether v is an integer. It accepts 1.0, which JSON Schema does not distinguish
// from 1. It rejects floats beyond 2^53, which may differ from the number that the client sent.
func isInteger(v any) bool {
	switch v := v.(type) {
	case int64:
		return true
	case float64:
		return v == math.Trunc(v) && math.Abs(v) < 1<<53
	}
	return false
}

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

type enum struct {
	values map[any]struct{} // keys from enumKey
	nested bool             // some values are objects or lists
	texts  []string         // as shown in errors
}

// newEnum returns an enum. It formats the allowed values in advance rather than for each error.
func newEnum(values []any) *enum {
	m := &enum{values: make(map[any]struct{}, len(values)), texts: make([]string, len(values))}
	for i, v := range values {
		m.values[enumKey(v)] = struct{}{}
		m.nested = m.nested || !isScalar(v)
		if s, ok := v.(string); ok {
			m.texts[i] = s
		} else {
			m.texts[i] = string(codec.AppendAny(nil, v))
		}
	}
	return m
}

func (m *enum) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	found := false
	if m.nested || isScalar(v) {
		key := enumKey(v)
		if text, nested := key.(nestedKey); nested && !e.Spend(len(text)/16) {
			return
		}
		_, found = m.values[key]
	}
	if !found {
		e.NotSupported(e.Path(), v, m.texts)
	}
}

type nestedKey string

// enumKey returns a map key that is the same for equal JSON values, such as 1 and 1.0.
func enumKey(v any) any {
	if f, isNumber := asFloat(v); isNumber {
		return f
	}
	if isScalar(v) {
		return v
	}
	return nestedKey(codec.AppendAny(nil, v))
}

func isScalar(v any) bool {
	switch v.(type) {
	case tree.Tree, []any:
		return false
	}
	return true
}

// A nullableEnum checks a nullable value with an enum, which must contain null to allow it. The
// other evaluators do not apply to null.
type nullableEnum struct {
	enum *enum
	all  []schema.Evaluator // including enum
}

func (n nullableEnum) Evaluate(e *schema.Evaluation, v any, was schema.Previous) {
	if v == nil {
		n.enum.Evaluate(e, v, was)
		return
	}
	for _, evaluator := range n.all {
		evaluator.Evaluate(e, v, was)
	}
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

// textLimits checks strings. Lengths are in characters. Length and pattern together cause at most
// one error.
type textLimits struct {
	min, max    *int64
	pattern     *regexp.Regexp
	patternSize int
	format      string
	// hasFormat is nil for unknown formats, which are ignored so that a CRD can use newer formats.
	hasFormat func(s string) bool
}

// Evaluate checks length, pattern and format. As JSON Schema requires, it counts characters, not
// bytes, and does not anchor patterns.
func (t *textLimits) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	s, ok := v.(string)
	if !ok || !e.Spend(len(s)/64) {
		return
	}
	length := int64(utf8.RuneCountInString(s))
	switch {
	case t.max != nil && length > *t.max:
		e.TooLong(e.Path(), int(*t.max))
	case t.min != nil && length < *t.min:
		e.Invalid(e.Path(), s, fmt.Sprintf("%sshould be at least %d chars long", inBody(e), *t.min))
	case t.pattern != nil && !t.matches(e, s):
		e.Invalid(e.Path(), s, fmt.Sprintf("%sshould match '%s'", inBody(e), t.pattern))
	}
	if t.hasFormat != nil && !t.hasFormat(s) {
		e.TypeInvalid(e.Path(), s, fmt.Sprintf("%smust be of type %s: %q", inBody(e), t.format, s))
	}
}

// matches charges the validation budget while it reads a long string, so that it stops once the
// budget is exhausted.
func (t *textLimits) matches(e *schema.Evaluation, s string) bool {
	const long = 1 << 18 // takes a few milliseconds
	if cost := schema.PatternCost(len(s), t.patternSize); cost < long {
		return e.Spend(cost) && t.pattern.MatchString(s)
	}
	return t.pattern.MatchReader(&matchedText{*strings.NewReader(s), e, schema.PatternCost(1, t.patternSize)})
}

type matchedText struct {
	strings.Reader
	e    *schema.Evaluation
	cost int // per character
}

func (m *matchedText) ReadRune() (r rune, size int, err error) {
	if !m.e.Spend(m.cost) {
		return 0, 0, io.EOF
	}
	return m.Reader.ReadRune()
}

type numberLimits struct {
	*limits
	format string
	fits   func(f float64) bool // reports whether a number has the format; nil for all
}

var numberFormats = map[string]func(f float64) bool{
	"integer/int32": func(f float64) bool { return f >= math.MinInt32 && f <= math.MaxInt32 },
	"number/float":  func(f float64) bool { return !math.IsInf(float64(float32(f)), 0) },
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

// isMultiple reports whether f is a multiple of another number. It tolerates rounding errors,
// because binary floats rarely represent decimal fractions exactly. For example, 0.3 / 0.1 is not
// 3.
func isMultiple(f, of float64) bool {
	q := f / of
	return of > 0 && math.Abs(q-math.Round(q)) < 1e-9
}

// formatBound returns f, as an int64 if f is a whole number below 2^53. Floats cannot represent
// every larger integer.
func formatBound(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return f
}

type minItems int64

func (m minItems) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if list, ok := v.([]any); ok && int64(len(list)) < int64(m) {
		e.Invalid(e.Path(), list, fmt.Sprintf("%sshould have at least %d items", inBody(e), int64(m)))
	}
}

type minProperties int64

func (m minProperties) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if t, ok := v.(tree.Tree); ok && int64(len(t)) < int64(m) {
		e.Invalid(e.Path(), t, fmt.Sprintf("%sshould have at least %d properties", inBody(e), int64(m)))
	}
}

func inBody(e *schema.Evaluation) string { return strings.TrimPrefix(e.Path(), ".") + " in body " }
