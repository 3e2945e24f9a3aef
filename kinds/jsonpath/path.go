package jsonpath

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

// A Path is a list of steps, each of which leads from a value to other values:
//
//	.name ['name']        a field; a dot within a name is written \., and may be between quotes
//	[2] [-1] []           an item of a list, counted from its end if negative; the first one without a number
//	[0:2] [-2:] [::2]     items of a list: from, to but without, and in which steps
//	[0,2] ['a','b']       what several steps lead to
//	[*] .*                all items, or the values of all fields
//	..                    the value itself and all that is in it
//	[?(@.type=="Ready")]  the items with such a field: ==, !=, <, <=, >, >= or, without comparison, any value
type Path []step

// A step leads from a value to others: it calls yield for each of them until that answers false.
type step func(v jsontext.Value, yield func(jsontext.Value) bool) bool

// Parse reads a path; false if it has another form.
//
// As an example, .status.conditions[?(@.type=="Ready")].status has four steps. A path is parsed once
// and walked over many objects.
func Parse(text string) (p Path, ok bool) {
	for text != "" {
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

// pathName is the name that text begins with, and what follows it.
func pathName(text string) (name, rest string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case c == '.' || c == '[':
			return b.String(), text[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

// closingBracket is the index of the bracket that closes the first one; -1 if there is none.
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

// bracketStep is the step for what is between brackets; nil if it has another form.
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

// splitUnquoted are the parts of a text between commas that are not in quotes.
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

// unionStep leads to what each of some steps leads to; nil if one of them has another form.
func unionStep(parts []string) step {
	var steps []step
	for _, part := range parts {
		one := bracketStep(part)
		if one == nil {
			return nil
		}
		steps = append(steps, one)
	}
	return func(v jsontext.Value, yield func(jsontext.Value) bool) bool {
		for _, one := range steps {
			if !one(v, yield) {
				return false
			}
		}
		return true
	}
}

// sliceStep leads to some items of a list; nil if the bounds have another form.
func sliceStep(parts []string) step {
	bounds := [3]int{0, 0, 1} // from, to, in steps of
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
	return func(v jsontext.Value, yield func(jsontext.Value) bool) bool {
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

// deepStep leads to a value and to all that is in it.
func deepStep(v jsontext.Value, yield func(jsontext.Value) bool) bool {
	return yield(v) && eachStep(v, func(w jsontext.Value) bool { return deepStep(w, yield) })
}

// unquoted is a text without its quotes; false if it has none.
func unquoted(text string) (string, bool) {
	if len(text) >= 2 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0] {
		return text[1 : len(text)-1], true
	}
	return "", false
}

// unescaped is a text without the backslashes before its other characters.
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

// fieldStep leads to a field. Its name is looked for as the server writes it: definitions may name fields whose names
// JSON escapes.
func fieldStep(name string) step {
	if name == "*" {
		return eachStep
	}
	written := string(jsontext.AppendEscaped(nil, name))
	return func(v jsontext.Value, yield func(jsontext.Value) bool) bool {
		w := v.Field(written)
		return w == nil || yield(w)
	}
}

// eachStep leads to all items or fields.
func eachStep(v jsontext.Value, yield func(jsontext.Value) bool) bool {
	more := true
	v.Items(func(w jsontext.Value) bool { more = yield(w); return more })
	v.Fields(func(_, w jsontext.Value) bool { more = yield(w); return more })
	return more
}

// itemStep leads to one item.
//
// It stops at the item, as lists may be long; only a negative index has to count all items first.
func itemStep(n int) step {
	return func(v jsontext.Value, yield func(jsontext.Value) bool) bool {
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

// compares tells whether a comparison holds: of numbers, if both are, else of texts.
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

// filterStep reads a condition such as @.type=="Ready"; nil if it has another form.
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
	return func(v jsontext.Value, yield func(jsontext.Value) bool) bool {
		more := true
		v.Items(func(w jsontext.Value) bool {
			found := inner.First(w)
			holds := found.Exists()
			if operator != "" {
				holds = found != nil && compares(Text(found), operator, want)
			}
			if holds {
				more = yield(w)
			}
			return more
		})
		return more
	}
}

// First is the first value that a path leads to; nil if there is none.
func (p Path) First(v jsontext.Value) (found jsontext.Value) {
	p.Walk(v, func(w jsontext.Value) bool { found = w; return false })
	return found
}

// Walk calls yield for each value that the path leads to until it answers false.
func (p Path) Walk(v jsontext.Value, yield func(jsontext.Value) bool) bool {
	if len(p) == 0 {
		return yield(v)
	}
	return p[0](v, func(w jsontext.Value) bool { return p[1:].Walk(w, yield) })
}

// Text is a value as a text: a string without its quotes, anything else as it is written.
func Text(v jsontext.Value) string {
	if len(v) > 0 && v[0] == '"' {
		return v.Text()
	}
	return string(v)
}
