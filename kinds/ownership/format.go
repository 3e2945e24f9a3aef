package ownership

import (
	"errors"
	"unicode/utf8"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

// AppendJSON appends the FieldsV1 text of a set.
//
// As examples, the paths spec.replicas and spec.list[name="c"].image, and the empty set:
//
//	{"f:spec":{"f:list":{"k:{\"name\":\"c\"}":{"f:image":{}}},"f:replicas":{}}}
//	{}
func (s Set) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, n := range s.nodes {
		if i > 0 {
			b = append(b, ',')
		}
		b = n.appendJSON(b)
	}
	return append(b, '}')
}

// appendJSON appends the node as a member. A path that is in the set and has longer ones gets the member
// ".".
func (n *node) appendJSON(b []byte) []byte {
	b = appendPathElement(b, n.pathElement)
	if !n.member || n.below.Empty() {
		return n.below.AppendJSON(b)
	}
	b = append(b, `{".":{},`...)
	below := len(b)
	b = n.below.AppendJSON(b)
	return append(b[:below], b[below+1:]...) // without its opening brace
}

// appendPathElement appends a path element as a key of an object, with its colon.
func appendPathElement(b []byte, s pathElement) []byte {
	b = append(b, '"', s.kind, ':')
	b = jsontext.AppendEscaped(b, s.text)
	return append(b, '"', ':')
}

var errFields = errors.New("fieldsV1 is no set of fields")

// Parse reads the FieldsV1 form. Path elements of an unknown kind are left out: a later release may
// write them, and nothing can be said about what they mean.
//
// Members may come in any order and with blanks, and keys and values as other servers write them;
// AppendJSON writes one form. An object that is empty is a path, unless it is the whole set.
func Parse(text string) (Set, error) {
	if !utf8.ValidString(text) {
		return Set{}, errFields
	}
	p := parser{jsontext.Scanner{Text: text, Limit: jsontext.MaxFieldSetDepth}}
	s, _, err := p.object()
	if err != nil || p.End() != nil {
		return Set{}, errFields
	}
	return s, nil
}

// A parser reads FieldsV1 text.
type parser struct{ jsontext.Scanner }

// open consumes the brace that begins an object: there is nothing else in a set.
func (p *parser) open() error {
	if p.Peek() != '{' {
		return errFields
	}
	return p.Open()
}

// object reads what is below a path; self tells that the set holds the path itself.
func (p *parser) object() (s Set, self bool, err error) {
	if err := p.open(); err != nil {
		return s, false, err
	}
	var b builder
	for first := true; ; first = false {
		key, more, err := p.Key(first)
		if err != nil {
			return s, false, err
		}
		if !more {
			return b.set(), self || first, nil
		}
		below, member, err := p.object()
		if err != nil {
			return s, false, err
		}
		if key == "." {
			self = true
			continue
		}
		at, known, err := parsePathElement(key)
		if err != nil {
			return s, false, err
		}
		if known {
			b.add(at, member, below)
		}
	}
}
