package managedfields

import (
	"errors"
	"unicode/utf8"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

// AppendJSON appends the set as FieldsV1. For example, the set of spec.replicas and
// spec.list[name="c"].image becomes:
//
//	{"f:spec":{"f:list":{"k:{\"name\":\"c\"}":{"f:image":{}}},"f:replicas":{}}}
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

// appendJSON appends the node as a member of a JSON object. The member "." marks a path in the set
// that also has paths below it.
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

func appendPathElement(b []byte, s pathElement) []byte {
	b = append(b, '"', s.kind, ':')
	b = jsontext.AppendEscaped(b, s.text)
	return append(b, '"', ':')
}

var errFields = errors.New("fieldsV1 is not a set of fields")

// Parse parses FieldsV1 with any member order and whitespace. It ignores unknown path elements,
// which later releases may write. Below the top level, an empty object adds its own path.
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

type parser struct{ jsontext.Scanner }

func (p *parser) open() error {
	if p.Peek() != '{' {
		return errFields
	}
	return p.Open()
}

// object parses the paths below a path. self is true if the set contains the path itself.
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
