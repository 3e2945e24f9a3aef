package jsonpath

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

// A Path is a list of steps. Each step selects values within a value:
//
//	.name ['name']        a field; a dot or space in a name follows a backslash, or the name is quoted
//	[2] [-1] []           a list item, from the end if negative; without a number the first one
//	[0:2] [-2:] [::2]     list items: start, exclusive end, and step
//	[0,2] ['a','b']       the union of several steps
//	[*] .*                all items, or the values of all fields
//	..                    recursive descent: the value itself and everything in it
//	[?(@.type=="Ready")]  items whose field fulfills a condition: ==, !=, <, <=, >, >=, exists
type Path []step

// A step selects values within v. It calls yield for each selected value until yield returns false.
type step func(w *walk, v jsontext.Value, yield func(jsontext.Value) bool) bool

// A walk limits the work of evaluating a path, because several recursive descents (..) could take
// exponential time.
type walk struct{ rest int }

// workUnit is the number of scanned bytes that cost as much as one selected value.
const workUnit = 64

// Parse parses a path. ok is false if the path is invalid or not supported. For example,
// .status.conditions[?(@.type=="Ready")].status has four steps. Spaces around steps are ignored.
func Parse(text string) (p Path, ok bool) {
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		var step step
		switch text[0] {
		case '.':
			if rest, deep := strings.CutPrefix(text, ".."); deep && rest != "" && rest[0] != '.' {
				p = append(p, deepStep)
				if text = rest; text[0] == '[' {
					continue
				}
				text = "." + text
			}
			name, rest := pathName(text[1:])
			if name == "" {
				return nil, false
			}
			step, text = fieldStep(name), rest
		case '[':
			end := closingBracket(text)
			if end < 0 {
				return nil, false
			}
			if step = bracketStep(text[1:end]); step == nil {
				return nil, false
			}
			text = text[end+1:]
		default:
			return nil, false
		}
		p = append(p, step)
	}
	return p, true
}

func pathName(text string) (name, rest string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case c == '.' || c == '[' || c == ' ':
			return b.String(), text[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

func closingBracket(text string) int {
	quote := byte(0)
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == ']':
			return i
		}
	}
	return -1
}

func bracketStep(text string) step {
	if inner, ok := strings.CutPrefix(text, "?("); ok && strings.HasSuffix(inner, ")") {
		return filterStep(strings.TrimSuffix(inner, ")"))
	}
	if parts := splitUnquoted(text); len(parts) > 1 {
		return unionStep(parts)
	}
	text = strings.TrimSpace(text)
	if name, ok := unquoted(text); ok {
		return fieldStep(unescaped(name))
	}
	if text == "*" {
		return eachStep
	}
	if n, err := strconv.Atoi(cmp.Or(text, "0")); err == nil {
		return itemStep(n)
	}
	if strings.Contains(text, ":") {
		return sliceStep(strings.Split(text, ":"))
	}
	return nil
}

func splitUnquoted(text string) (parts []string) {
	quote, begin := byte(0), 0
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == ',':
			parts, begin = append(parts, text[begin:i]), i+1
		}
	}
	return append(parts, text[begin:])
}

func unionStep(parts []string) step {
	var steps []step
	for _, part := range parts {
		one := bracketStep(part)
		if one == nil {
			return nil
		}
		steps = append(steps, one)
	}
	return func(w *walk, v jsontext.Value, yield func(jsontext.Value) bool) bool {
		for _, one := range steps {
			if !w.spend(v) || !one(w, v, yield) {
				return false
			}
		}
		return true
	}
}

// sliceStep returns a step that selects a range of items, or nil if a bound is invalid.
func sliceStep(parts []string) step {
	bounds := [3]int{0, 0, 1} // start, end, step
	given := [3]bool{}
	for i, part := range parts {
		if part = strings.TrimSpace(part); i > 2 || part == "" {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		bounds[i], given[i] = n, true
	}
	if len(parts) > 3 || bounds[2] <= 0 {
		return nil
	}
	return func(_ *walk, v jsontext.Value, yield func(jsontext.Value) bool) bool {
		from, to, more := bounds[0], bounds[1], true
		if n := v.Count(); len(v) > 0 && v[0] == '[' {
			if from < 0 {
				from += n
			}
			if to < 0 || !given[1] {
				to += n
			}
		}
		i := 0
		v.Items(func(w jsontext.Value) bool {
			if i >= from && i < to && (i-from)%bounds[2] == 0 {
				more = yield(w)
			}
			i++
			return more && i < to
		})
		return more
	}
}

func deepStep(w *walk, v jsontext.Value, yield func(jsontext.Value) bool) bool {
	return w.spend(v) && yield(v) && eachStep(w, v, func(below jsontext.Value) bool { return deepStep(w, below, yield) })
}

func unquoted(text string) (string, bool) {
	if len(text) >= 2 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0] {
		return text[1 : len(text)-1], true
	}
	return "", false
}

func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// fieldStep compares names in their JSON-escaped form, because a CRD may declare field names with
// characters that JSON escapes.
func fieldStep(name string) step {
	if name == "*" {
		return eachStep
	}
	written := string(jsontext.AppendEscaped(nil, name))
	return func(_ *walk, v jsontext.Value, yield func(jsontext.Value) bool) bool {
		field := v.Field(written)
		return field == nil || yield(field)
	}
}

func eachStep(_ *walk, v jsontext.Value, yield func(jsontext.Value) bool) bool {
	more := true
	v.Items(func(w jsontext.Value) bool { more = yield(w); return more })
	v.Fields(func(_, w jsontext.Value) bool { more = yield(w); return more })
	return more
}

// itemStep returns a step that selects one list item. A negative index requires counting all items
// first.
func itemStep(n int) step {
	return func(_ *walk, v jsontext.Value, yield func(jsontext.Value) bool) bool {
		at, i, more := n, 0, true
		if n < 0 && len(v) > 0 && v[0] == '[' {
			at += v.Count()
		}
		v.Items(func(w jsontext.Value) bool {
			if i == at {
				more = yield(w)
			}
			i++
			return i <= at
		})
		return more
	}
}

// compares reports whether a comparison is true. Numbers compare numerically, all other values as
// strings.
func compares(a, operator, b string) bool {
	order := strings.Compare(a, b)
	if x, err := strconv.ParseFloat(a, 64); err == nil {
		if y, err := strconv.ParseFloat(b, 64); err == nil {
			order = cmp.Compare(x, y)
		}
	}
	switch operator {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// filterStep parses a condition such as @.type=="Ready", or returns nil if it is invalid.
func filterStep(text string) step {
	path, operator, want := strings.TrimSpace(text), "", ""
	for _, o := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if before, after, found := strings.Cut(text, o); found {
			path, operator, want = strings.TrimSpace(before), o, strings.TrimSpace(after)
			break
		}
	}
	if text, ok := unquoted(want); ok {
		want = text
	}
	rest, ok := strings.CutPrefix(path, "@")
	inner, valid := Parse(rest)
	if !ok || !valid {
		return nil
	}
	return func(w *walk, v jsontext.Value, yield func(jsontext.Value) bool) bool {
		more := true
		v.Items(func(item jsontext.Value) bool {
			found := inner.first(w, item)
			holds := found.Exists()
			if operator != "" {
				holds = found != nil && compares(Text(found), operator, want)
			}
			if holds {
				more = yield(item)
			}
			return more && w.rest > 0
		})
		return more
	}
}

// First returns the first selected value, or nil. work is the budget shared by all paths that are
// evaluated on one object. First subtracts its work, and returns nil once the budget is exhausted.
func (p Path) First(v jsontext.Value, work *int) jsontext.Value {
	w := walk{*work}
	found := p.first(&w, v)
	*work = w.rest
	return found
}

func (p Path) first(w *walk, v jsontext.Value) (found jsontext.Value) {
	p.walk(w, v, func(selected jsontext.Value) bool { found = selected; return false })
	return found
}

// Walk calls yield for each selected value. If yield returns false, Walk stops and returns false.
func (p Path) Walk(v jsontext.Value, yield func(jsontext.Value) bool) bool {
	return p.walk(&walk{math.MaxInt}, v, yield)
}

func (p Path) walk(w *walk, v jsontext.Value, yield func(jsontext.Value) bool) bool {
	if len(p) == 0 {
		return yield(v)
	}
	return w.spend(v) && p[0](w, v, func(selected jsontext.Value) bool { return p[1:].walk(w, selected, yield) })
}

func (w *walk) spend(v jsontext.Value) bool {
	w.rest -= 1 + len(v)/workUnit
	return w.rest > 0
}

// Text returns the content of a string, and other values as JSON.
func Text(v jsontext.Value) string {
	if len(v) > 0 && v[0] == '"' {
		return v.Text()
	}
	return string(v)
}
