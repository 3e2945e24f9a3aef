package custom

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/tree"
)

// limits checks a value against the bounds of its schema.
func (c *validator) limits(n *node, v any, path string) {
	c.enum(n.enum, v, path)
	switch v := v.(type) {
	case string:
		c.text(n, v, path)
	case int64:
		c.number(n, v, float64(v), path)
	case float64:
		c.number(n, v, v, path)
	case []any:
		c.length(n, v, path)
	case tree.Tree:
		if n.minProperties != nil && int64(len(v)) < *n.minProperties {
			c.faults.Invalid(path, v, fmt.Sprintf("%sshould have at least %d properties", inBody(path), *n.minProperties))
		}
		if n.maxProperties != nil && int64(len(v)) > *n.maxProperties {
			c.faults.TooMany(path, len(v), int(*n.maxProperties))
		}
	}
}

func (c *validator) text(n *node, s, path string) {
	length := int64(utf8.RuneCountInString(s))
	switch {
	case n.maxLength != nil && length > *n.maxLength:
		c.faults.TooLong(path, int(*n.maxLength))
	case n.minLength != nil && length < *n.minLength:
		c.faults.Invalid(path, s, fmt.Sprintf("%sshould be at least %d chars long", inBody(path), *n.minLength))
	case n.pattern != nil && !n.pattern.MatchString(s):
		c.faults.Invalid(path, s, fmt.Sprintf("%sshould match '%s'", inBody(path), n.pattern))
	}
	if n.format != "" && !hasFormat(n.format, s) {
		c.faults.TypeInvalid(path, s, fmt.Sprintf("%smust be of type %s: %q", inBody(path), n.format, s))
	}
}

func (c *validator) number(n *node, v any, f float64, path string) {
	fault := func(msg string, bound float64) {
		c.faults.Invalid(path, v, inBody(path)+msg+" "+string(codec.AppendAny(nil, formatBound(bound))))
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
	if n.format == "int32" && (f < math.MinInt32 || f > math.MaxInt32) {
		c.faults.Invalid(path, v, inBody(path)+"must be of type int32: \""+string(codec.AppendAny(nil, v))+"\"")
	}
}

func isMultiple(f, of float64) bool {
	q := f / of
	return of > 0 && math.Abs(q-math.Round(q)) < 1e-9
}

// formatBound is a number without a fraction if it has none.
func formatBound(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return f
}

func (c *validator) length(n *node, list []any, path string) {
	if n.maxItems != nil && int64(len(list)) > *n.maxItems {
		c.faults.TooMany(path, len(list), int(*n.maxItems))
	}
	if n.minItems != nil && int64(len(list)) < *n.minItems {
		c.faults.Invalid(path, list, fmt.Sprintf("%sshould have at least %d items", inBody(path), *n.minItems))
	}
}
