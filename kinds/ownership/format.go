package ownership

import (
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/troupe-api/troupe/kinds/codec"
)

// AppendJSON appends the FieldsV1 form of a set.
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

// appendPathElement appends a step as a key of an object, with its colon.
func appendPathElement(b []byte, s pathElement) []byte {
	b = append(b, '"', s.kind, ':')
	b = codec.AppendEscaped(b, s.text)
	return append(b, '"', ':')
}

// plain tells whether a text is the same inside a JSON string.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

var errFields = errors.New("fieldsV1 is no set of fields")

// maxDepth bounds how deeply sets nest.
const maxDepth = 512

// Parse reads the FieldsV1 form. Steps of an unknown kind are left out, as nobody can
// tell what they mean.
func Parse(text string) (Set, error) {
	if !utf8.ValidString(text) {
		return Set{}, errFields
	}
	p := parser{text: text}
	s, _, err := p.object()
	if err != nil {
		return Set{}, err
	}
	if p.space(); p.pos != len(p.text) {
		return Set{}, errFields
	}
	return s, nil
}

type parser struct {
	text       string
	pos, depth int
}

func (p *parser) space() byte {
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; c {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return c
		}
	}
	return 0
}

func (p *parser) expect(c byte) error {
	if p.space() != c {
		return errFields
	}
	p.pos++
	return nil
}

// object reads a set; self tells that it holds the path to it.
func (p *parser) object() (s Set, self bool, err error) {
	if err := p.expect('{'); err != nil {
		return s, false, err
	}
	if p.depth++; p.depth > maxDepth {
		return s, false, errFields
	}
	defer func() { p.depth-- }()
	if p.space() == '}' {
		p.pos++
		return s, true, nil
	}
	var b builder
	for {
		key, err := p.key()
		if err != nil {
			return s, false, err
		}
		below, member, err := p.object()
		switch {
		case err != nil:
			return s, false, err
		case key == ".":
			self = true
		default:
			at, known, err := parsePathElement(key)
			if err != nil {
				return s, false, err
			}
			if known {
				b.add(at, member, below)
			}
		}
		switch p.space() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			return b.set(), self, nil
		default:
			return s, false, errFields
		}
	}
}

// key reads a key and its colon.
func (p *parser) key() (string, error) {
	if err := p.expect('"'); err != nil {
		return "", err
	}
	start, escaped := p.pos, false
	for p.pos < len(p.text) && p.text[p.pos] != '"' {
		if p.text[p.pos] == '\\' {
			escaped = true
			p.pos++
		}
		p.pos++
	}
	if p.pos >= len(p.text) {
		return "", errFields
	}
	key := p.text[start:p.pos]
	if p.pos++; escaped {
		var err error
		if key, err = unescape(key); err != nil {
			return "", err
		}
	}
	return key, p.expect(':')
}

// unescape is the text inside a JSON string.
func unescape(s string) (string, error) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			if i++; s[i] != '"' && s[i] != '\\' {
				return unescapeAny(s)
			}
		} else if s[i] < ' ' {
			return "", errFields
		}
		b = append(b, s[i])
	}
	return string(b), nil
}

func unescapeAny(s string) (text string, err error) {
	if err := json.Unmarshal([]byte(`"`+s+`"`), &text); err != nil {
		return "", errFields
	}
	return text, nil
}
