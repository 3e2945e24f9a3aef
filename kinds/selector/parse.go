package selector

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// ParseLabels parses a label selector. An empty selector selects everything. The error is a
// *meta.Status with code 400 and the message that Kubernetes returns.
func ParseLabels(s string) (Labels, error) {
	p := parser{rest: s}
	requirements, err := p.selector()
	if err != nil {
		return Labels{}, badRequest(err)
	}
	return Labels{requirements}, nil
}

func badRequest(err error) error {
	return &meta.Status{Code: http.StatusBadRequest, Reason: meta.ReasonBadRequest, Message: err.Error()}
}

type parser struct {
	rest   string
	tok    string // the next token, if peeked; "" at the end
	peeked bool
}

const special = "=!(),><"

func (p *parser) peek() string {
	if !p.peeked {
		p.tok, p.rest = scan(p.rest)
		p.peeked = true
	}
	return p.tok
}

func (p *parser) next() string {
	t := p.peek()
	p.peeked = false
	return t
}

// scan splits the first token off s. For example, "a!=b" has the tokens "a", "!=" and "b".
func scan(s string) (tok, rest string) {
	s = strings.TrimLeft(s, " \t\r\n")
	if s == "" {
		return "", ""
	}
	n := 1
	if strings.IndexByte(special, s[0]) < 0 {
		if n = strings.IndexAny(s, special+" \t\r\n"); n < 0 {
			n = len(s)
		}
	} else if len(s) > 1 && s[1] == '=' && (s[0] == '=' || s[0] == '!') {
		n = 2
	}
	return s[:n], s[n:]
}

func isIdentifier(tok string) bool {
	return tok != "" && strings.IndexByte(special, tok[0]) < 0
}

func (p *parser) selector() ([]requirement, error) {
	var out []requirement
	for {
		tok := p.peek()
		if tok == "" {
			return out, nil
		}
		if !isIdentifier(tok) && tok != "!" {
			return nil, fmt.Errorf("found '%s', expected: !, identifier, or 'end of string'", tok)
		}
		r, err := p.requirement()
		if err != nil {
			return nil, fmt.Errorf("unable to parse requirement: %w", err)
		}
		out = append(out, r)
		switch tok := p.next(); tok {
		case "":
			return out, nil
		case ",":
			if after := p.peek(); !isIdentifier(after) && after != "!" {
				return nil, fmt.Errorf("found '%s', expected: identifier after ','", after)
			}
		default:
			return nil, fmt.Errorf("found '%s', expected: ',' or 'end of string'", tok)
		}
	}
}

func (p *parser) requirement() (r requirement, err error) {
	tok := p.next()
	if tok == "!" {
		r.op = doesNotExist
		tok = p.next()
	}
	if !isIdentifier(tok) {
		return r, fmt.Errorf("found '%s', expected: identifier", tok)
	}
	if r.key = tok; r.op == doesNotExist {
		return r, checkKey(tok)
	}
	if err := checkKey(tok); err != nil {
		return r, err
	}
	if after := p.peek(); after == "" || after == "," {
		return r, nil
	}
	return p.condition(r)
}

func (p *parser) condition(r requirement) (requirement, error) {
	var err error
	switch op := p.next(); op {
	case "in", "notin":
		r.op = in
		if op == "notin" {
			r.op = notIn
		}
		if r.values, err = p.set(); err != nil {
			return r, err
		}
	case "=", "==", "!=", ">", "<":
		r.op = map[string]operator{"=": in, "==": in, "!=": notIn, ">": greaterThan, "<": lessThan}[op]
		v, err := p.exact()
		if err != nil {
			return r, err
		}
		r.values = []string{v}
	default:
		return r, fmt.Errorf("found '%s', expected: in, notin, =, ==, !=, gt, lt", op)
	}
	if r.op == greaterThan || r.op == lessThan {
		if r.number, err = strconv.ParseInt(r.values[0], 10, 64); err != nil {
			return r, fmt.Errorf("values[0]: Invalid value: %q: for 'Gt', 'Lt' operators, the value must be an integer", r.values[0])
		}
	}
	return r, checkValues(r.key, r.values)
}

// exact parses the value after =, == or !=. The value may be empty.
func (p *parser) exact() (string, error) {
	tok := p.peek()
	if tok == "" || tok == "," {
		return "", nil
	}
	if !isIdentifier(tok) {
		return "", fmt.Errorf("found '%s', expected: identifier", tok)
	}
	return p.next(), nil
}

// set parses a list such as "(v,w)" and returns its sorted, unique values. Values may be empty, so
// (a,,b) has three.
func (p *parser) set() ([]string, error) {
	if tok := p.next(); tok != "(" {
		return nil, fmt.Errorf("found '%s' expected: '('", tok)
	}
	var values []string
	for {
		v := ""
		if isIdentifier(p.peek()) {
			v = p.next()
		}
		values = append(values, v)
		switch tok := p.next(); tok {
		case ",":
		case ")":
			slices.Sort(values)
			return slices.Compact(values), nil
		default:
			return nil, fmt.Errorf("found '%s', expected: ',' or ')'", tok)
		}
	}
}
