package present

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

// A jsonPath is the path of a column of a custom kind: a list of steps, each of which leads from a value
// to other values. It is the part of JSONPath that definitions use:
//
//	.name ['name']        a field; a dot within a name is written \.
//	[2] [-1]              an item of a list, counted from its end if negative
//	[*] .*                all items, or the values of all fields
//	[?(@.type=="Ready")]  the items with such a field: ==, != or, without comparison, any value
type jsonPath []func(v jsontext.Value, yield func(jsontext.Value) bool) bool

// parseJSONPath reads a path; false if it has another form.
//
// As an example, .status.conditions[?(@.type=="Ready")].status has four steps. A path is parsed once per
// table, and a path in another form shows null in every row.
func parseJSONPath(text string) (p jsonPath, ok bool) {
	for text != "" {
		var step func(v jsontext.Value, yield func(jsontext.Value) bool) bool
		switch text[0] {
		case '.':
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
func bracketStep(text string) func(jsontext.Value, func(jsontext.Value) bool) bool {
	if name, ok := unquoted(text); ok {
		return fieldStep(name)
	}
	if text == "*" {
		return eachStep
	}
	if n, err := strconv.Atoi(text); err == nil {
		return itemStep(n)
	}
	if inner, ok := strings.CutPrefix(text, "?("); ok && strings.HasSuffix(inner, ")") {
		return filterStep(strings.TrimSuffix(inner, ")"))
	}
	return nil
}

// unquoted is a text without its quotes; false if it has none.
func unquoted(text string) (string, bool) {
	if len(text) >= 2 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0] {
		return text[1 : len(text)-1], true
	}
	return "", false
}

// fieldStep leads to a field. Its name is looked for as the server writes it: definitions may name fields whose names
// JSON escapes.
func fieldStep(name string) func(jsontext.Value, func(jsontext.Value) bool) bool {
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
func itemStep(n int) func(jsontext.Value, func(jsontext.Value) bool) bool {
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

// filterStep reads a condition such as @.type=="Ready"; nil if it has another form.
//
// Values are compared as text: a number as it is written, a string without its quotes.
func filterStep(text string) func(jsontext.Value, func(jsontext.Value) bool) bool {
	path, operator, want := strings.TrimSpace(text), "", ""
	for _, o := range []string{"==", "!="} {
		if before, after, found := strings.Cut(text, o); found {
			path, operator, want = strings.TrimSpace(before), o, strings.TrimSpace(after)
			break
		}
	}
	if text, ok := unquoted(want); ok {
		want = text
	}
	rest, ok := strings.CutPrefix(path, "@")
	inner, valid := parseJSONPath(rest)
	if !ok || !valid {
		return nil
	}
	return func(v jsontext.Value, yield func(jsontext.Value) bool) bool {
		more := true
		v.Items(func(w jsontext.Value) bool {
			found := inner.first(w)
			holds := found.Exists()
			if operator != "" {
				holds = found != nil && (plain(found) == want) == (operator == "==")
			}
			if holds {
				more = yield(w)
			}
			return more
		})
		return more
	}
}

// first is the first value that a path leads to; nil if there is none.
func (p jsonPath) first(v jsontext.Value) (found jsontext.Value) {
	p.walk(v, func(w jsontext.Value) bool { found = w; return false })
	return found
}

// walk calls yield for each value that the path leads to until it answers false.
func (p jsonPath) walk(v jsontext.Value, yield func(jsontext.Value) bool) bool {
	if len(p) == 0 {
		return yield(v)
	}
	return p[0](v, func(w jsontext.Value) bool { return p[1:].walk(w, yield) })
}

// showJSON writes the first value that a path leads to, as a column of this type shows it; null if it does
// not fit the type.
//
// Only the first value is shown, however many the path leads to; an integer column cuts fractions.
func showJSON(columnType, path string) cellFunc {
	p, ok := parseJSONPath(path)
	if !ok {
		return showNothing
	}
	return func(b []byte, r *row, _ string) []byte {
		v := p.first(r.json)
		if !v.Exists() {
			return append(b, "null"...)
		}
		switch columnType {
		case "date":
			if v[0] == '"' {
				return appendAge(b, v.Text(), r.now)
			}
		case "integer":
			if f, err := strconv.ParseFloat(string(v), 64); err == nil {
				return strconv.AppendInt(b, int64(f), 10)
			}
		case "number":
			if _, err := strconv.ParseFloat(string(v), 64); err == nil {
				return append(b, v...)
			}
		case "boolean":
			if v.IsTrue() || string(v) == "false" {
				return append(b, v...)
			}
		default:
			return jsontext.AppendString(b, plain(v))
		}
		return append(b, "null"...)
	}
}
