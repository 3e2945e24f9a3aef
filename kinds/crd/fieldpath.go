package crd

import (
	"errors"
	"fmt"
	"strings"
)

var errNoField = errors.New("does not refer to a valid field")

// fieldPath converts the fieldPath of a rule to the form used in errors, relative to the node. For
// example, .spec.labels['a'] becomes spec.labels[a]. A fieldPath contains no indexes, so it cannot
// refer to list items.
func (n *node) fieldPath(path string) (string, error) {
	var b strings.Builder
	for rest := path; rest != ""; {
		name, tail, err := cutFieldName(rest)
		if err != nil {
			return "", err
		}
		switch p := n.properties[name]; {
		case p != nil:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(name)
			n = p
		case n.properties == nil && n.additional != nil && !n.additional.isOpen():
			b.WriteString("[" + name + "]")
			n = n.additional
		default:
			return "", errNoField
		}
		rest = tail
	}
	return b.String(), nil
}

// cutFieldName cuts the first step, .name or ['name'], from a path. For example, .spec['a.b'].c
// becomes spec and ['a.b'].c.
func cutFieldName(path string) (name, rest string, err error) {
	if after, found := strings.CutPrefix(path, "."); found {
		end := strings.IndexAny(after, ".[]")
		if end < 0 {
			end = len(after)
		}
		if end == 0 {
			return "", "", errNoField
		}
		return after[:end], after[end:], nil
	}
	quoted, found := strings.CutPrefix(path, "['")
	if !found {
		return "", "", fmt.Errorf("expected [ or . but got: %s", path)
	}
	for i := 0; i < len(quoted); i++ {
		switch {
		case quoted[i] == '\\':
			i++
		case strings.HasPrefix(quoted[i:], "']"):
			name, err = unescapeQuoted(quoted[:i])
			return name, quoted[i+2:], err
		}
	}
	return "", "", errors.New("unexpected end of JSON path")
}

// quotedEscapes lists pairs of an escape letter and the character that it represents.
const quotedEscapes = "a\ab\bf\fn\nr\rt\tv\v''\\\\"

func unescapeQuoted(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		at := -1
		for j := 0; i < len(s) && j < len(quotedEscapes); j += 2 {
			if quotedEscapes[j] == s[i] {
				at = j + 1
			}
		}
		if at < 0 {
			return "", errors.New("invalid string literal: invalid escape char")
		}
		b.WriteByte(quotedEscapes[at])
	}
	return b.String(), nil
}
