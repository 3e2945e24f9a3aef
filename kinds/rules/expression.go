package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/scanner"

	"github.com/troupe-api/troupe/kinds/tree"
)

// An expr is a compiled expression, which computes a value from the variables of one evaluation.
// Unlike the programs of package cel, an expr is a closure that reads trees directly. It avoids
// conversions and allocations, because rules run for every write.
type expr func(r *run) any

// Slots of the predefined variables.
const (
	varSelf   = iota // the current object
	varObject        // the whole object
	varOld           // the whole object before an update
	varIndex         // of the innermost list
	varKey           // of the innermost map
)

// An exprParser compiles one expression. It supports CEL's operators, lists, fields, indexes,
// calls, and the macros has, exists, all, map and filter.
type exprParser struct {
	scanner.Scanner
	*RuleCompiler
	next   rune
	varies int // number of non-constant parts so far
	err    error
}

func (c *RuleCompiler) parse(text string) expr {
	if text == "" {
		return nil
	}
	p := &exprParser{RuleCompiler: c}
	p.Init(strings.NewReader(text))
	p.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanStrings | scanner.ScanChars
	p.Error = func(_ *scanner.Scanner, msg string) { p.fail(msg) }
	p.advance()
	e := p.expression()
	if p.next != scanner.EOF {
		p.fail("unexpected " + p.TokenText())
	}
	if p.err != nil {
		c.errs = append(c.errs, fmt.Errorf("%s: %w", text, p.err))
	}
	return e
}

func (p *exprParser) fail(msg string) {
	if p.err == nil {
		p.err = fmt.Errorf("column %d: %s", p.Pos().Column, msg)
	}
}

func (p *exprParser) advance() { p.next = p.Scan() }

func (p *exprParser) accept(t rune) bool {
	if p.next != t {
		return false
	}
	p.advance()
	return true
}

func (p *exprParser) expect(t rune) {
	if !p.accept(t) {
		p.fail("expected " + scanner.TokenString(t))
	}
}

func (p *exprParser) expression() expr {
	e := p.binary(1)
	if !p.accept('?') {
		return e
	}
	yes := p.expression()
	p.expect(':')
	no := p.expression()
	return func(r *run) any {
		if e(r) == true {
			return yes(r)
		}
		return no(r)
	}
}

var precedences = map[string]int{"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "in": 3, "+": 4, "-": 4}

// operator returns the operator that starts with the next token, without consuming it.
func (p *exprParser) operator() string {
	switch text := p.TokenText(); p.next {
	case '|', '&', '=':
		return text + text
	case '!':
		return "!="
	case '<', '>':
		if p.Peek() == '=' {
			return text + "="
		}
		return text
	default:
		return text
	}
}

func (p *exprParser) binary(least int) expr {
	left := p.unary()
	for {
		op := p.operator()
		precedence := precedences[op]
		if precedence < least || p.next == scanner.String {
			return left
		}
		p.advance()
		if len(op) == 2 && op != "in" {
			p.advance()
		}
		left = operation(op, left, p.binary(precedence+1))
	}
}

func operation(op string, a, b expr) expr {
	switch op {
	case "||":
		return func(r *run) any { return a(r) == true || b(r) == true }
	case "&&":
		return func(r *run) any { return a(r) == true && b(r) == true }
	case "==":
		return func(r *run) any { return tree.SemanticEqual(a(r), b(r)) }
	case "!=":
		return func(r *run) any { return !tree.SemanticEqual(a(r), b(r)) }
	case "<":
		return func(r *run) any { return compare(a(r), b(r)) < 0 }
	case "<=":
		return func(r *run) any { return compare(a(r), b(r)) <= 0 }
	case ">":
		return func(r *run) any { return compare(a(r), b(r)) > 0 }
	case ">=":
		return func(r *run) any { return compare(a(r), b(r)) >= 0 }
	case "in":
		return func(r *run) any { return contains(b(r), a(r)) }
	case "-":
		return func(r *run) any { return number(a(r)) - number(b(r)) }
	}
	return func(r *run) any { return plus(a(r), b(r)) }
}

func (p *exprParser) unary() expr {
	switch {
	case p.accept('!'):
		e := p.unary()
		return func(r *run) any { return e(r) != true }
	case p.accept('-'):
		e := p.unary()
		return func(r *run) any { return -number(e(r)) }
	}
	e := p.primary()
	for {
		switch {
		case p.accept('.'):
			name := p.TokenText()
			if p.expect(scanner.Ident); p.accept('(') {
				e = p.call(name, e)
			} else {
				e = fieldOf(e, name)
			}
		case p.accept('['):
			of, index := e, p.expression()
			p.expect(']')
			e = func(r *run) any { return entry(of(r), index(r)) }
		default:
			return e
		}
	}
}

func fieldOf(e expr, name string) expr {
	return func(r *run) any {
		t, _ := e(r).(tree.Tree)
		return t[name]
	}
}

func constant(v any) expr { return func(*run) any { return v } }

func (p *exprParser) primary() expr {
	text := p.TokenText()
	switch {
	case p.accept(scanner.Int):
		n, _ := strconv.ParseInt(text, 0, 64)
		return constant(n)
	case p.accept(scanner.String):
		s, err := strconv.Unquote(text)
		if err != nil {
			p.fail(err.Error())
		}
		return constant(s)
	case p.accept('('):
		e := p.expression()
		p.expect(')')
		return e
	case p.accept('['):
		return p.list(']')
	case p.accept('{'):
		return p.mapOfConstants()
	case p.accept(scanner.Ident):
		return p.identifier(text)
	}
	p.fail("unexpected " + text)
	return constant(nil)
}

func (p *exprParser) identifier(name string) expr {
	switch name {
	case "true", "false":
		return constant(name == "true")
	case "null":
		return constant(nil)
	case "reported": // the number of faults so far
		return func(r *run) any { return int64(len(r.Faults.List)) }
	case "currentTime":
		return func(r *run) any { return r.Faults.Now }
	}
	p.varies++
	if p.accept('(') {
		return p.call(name, nil)
	}
	slot, known := p.vars[name]
	if !known {
		p.fail("unknown variable " + name)
	}
	return func(r *run) any { return r.vars[slot] }
}

// list compiles the expressions before a closing token. A list of constants is built only once.
func (p *exprParser) list(end rune) expr {
	before := p.varies
	items := p.items(end)
	list := func(r *run) any {
		values := make([]any, len(items))
		for i, e := range items {
			values[i] = e(r)
		}
		return values
	}
	if p.varies == before {
		return constant(list(nil))
	}
	return list
}

func (p *exprParser) mapOfConstants() expr {
	m, before := tree.Tree{}, p.varies
	for !p.accept('}') && p.err == nil {
		if len(m) > 0 {
			p.expect(',')
		}
		key, _ := strconv.Unquote(p.TokenText())
		p.expect(scanner.String)
		p.expect(':')
		if value := p.primary(); p.varies == before {
			m[key] = value(nil)
		} else {
			p.fail("not a constant")
		}
	}
	return constant(m)
}

func (p *exprParser) items(end rune) []expr {
	var items []expr
	for !p.accept(end) && p.err == nil {
		if len(items) > 0 {
			p.expect(',')
		}
		items = append(items, p.expression())
	}
	return items
}

// macros maps the name of each macro to its step function, which is called for each item. The step
// function returns the new result and whether the result is final.
var macros = map[string]func(sofar, element, v any) (any, bool){
	"exists": func(_, _, v any) (any, bool) { return v == true, v == true },
	"all":    func(_, _, v any) (any, bool) { return v == true, v != true },
	"map":    func(sofar, _, v any) (any, bool) { return append(sofar.([]any), v), false },
	"filter": func(sofar, element, v any) (any, bool) {
		if v != true {
			return sofar, false
		}
		return append(sofar.([]any), element), false
	},
}

var macroResults = map[string]any{"exists": false, "all": true, "map": []any(nil), "filter": []any(nil)}

// call compiles the arguments of a call after the opening parenthesis. on is the receiver of a
// method, or nil.
func (p *exprParser) call(name string, on expr) expr {
	if step := macros[name]; step != nil && on != nil {
		slot := p.slot(p.TokenText())
		p.expect(scanner.Ident)
		p.expect(',')
		body := p.expression()
		p.expect(')')
		return func(r *run) any {
			result, before, done := macroResults[name], r.vars[slot], false
			for _, v := range elements(on(r)) {
				r.vars[slot] = v
				if result, done = step(result, v, body(r)); done {
					break
				}
			}
			r.vars[slot] = before
			return result
		}
	}
	args := p.items(')')
	if on != nil {
		args = slices.Insert(args, 0, on)
	}
	switch f, g := functions[name], functions2[name]; {
	case name == "enabled":
		return constant(slices.Contains(p.enabled, text(args[0](nil))))
	case f != nil && len(args) == 1:
		return func(r *run) any { return f(args[0](r)) }
	case g != nil && len(args) == 2:
		return func(r *run) any { return g(args[0](r), args[1](r)) }
	}
	p.fail(fmt.Sprintf("no function %s of %d arguments", name, len(args)))
	return constant(nil)
}
