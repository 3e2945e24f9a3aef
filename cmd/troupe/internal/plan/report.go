package plan

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/manifest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Level is the severity of a Finding, as in SARIF.
type Level string

// The levels of findings.
const (
	Error   Level = "error"
	Warning Level = "warning"
)

// A Finding is one problem.
type Finding struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Level   Level  `json:"level"`
	Rule    string `json:"rule"` // the reason of the server's error, or a name of this package's own
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	Object  string `json:"object,omitempty"`
}

// A Report is the result of Run.
type Report struct {
	Objects []*object // of the input, in order
	Diff    bool      // the objects have actions

	all   []*object // also of the extra definitions
	other []Finding // that concern no object
}

// Findings returns all findings: first those of unreadable documents and of the initial state, then
// those of objects in the order of the input.
func (r *Report) Findings() []Finding {
	all := slices.Clone(r.other)
	for _, o := range r.all {
		all = append(all, slices.SortedStableFunc(slices.Values(o.findings), func(a, b Finding) int { return a.Line - b.Line })...)
	}
	return all
}

// Count returns the number of findings of a level.
func (r *Report) Count(level Level) (n int) {
	for _, f := range r.Findings() {
		if f.Level == level {
			n++
		}
	}
	return n
}

var errorLine = regexp.MustCompile(`line (\d+): (.*)`)

// addUnreadable adds the findings of a document that cannot be parsed. It returns false for other
// errors, such as a missing file.
func (r *Report) addUnreadable(err error) bool {
	var parse *manifest.ParseError
	var untyped *manifest.MissingTypeError
	switch {
	case errors.As(err, &untyped):
		r.other = append(r.other, Finding{untyped.Source, untyped.Locate("").Line, Error, "Required", untyped.Field, "every object needs apiVersion and kind", ""})
		return true
	case !errors.As(err, &parse):
		return false
	}
	text := strings.TrimPrefix(parse.Err.Error(), "error converting YAML to JSON: ")
	lines := errorLine.FindAllStringSubmatch(text, -1)
	for _, l := range lines {
		n, _ := strconv.Atoi(l[1]) // from 1 in the document; matched digits
		r.other = append(r.other, Finding{parse.Source, parse.Line + n - 1, Error, "Parse", "", l[2], ""})
	}
	if len(lines) == 0 {
		r.other = append(r.other, Finding{parse.Source, parse.Line, Error, "Parse", "", text, ""})
	}
	return true
}

// note adds a finding, unless it exists.
func (o *object) note(level Level, rule, field, message string) {
	at := field
	if o.Kind == definitionKind { // the server's name for a schema that all versions have
		at = strings.Replace(at, "spec.validation.", "spec.versions[0].schema.", 1)
	}
	f := Finding{o.File, o.Locate(at).Line, level, rule, field, message, o.title()}
	if !slices.Contains(o.findings, f) {
		o.findings = append(o.findings, f)
	}
}

var (
	mistypedField = regexp.MustCompile(`cannot unmarshal (\S+) into Go struct field \w+\.(\S+) of type (\S+)`)
	strictField   = regexp.MustCompile(`(unknown|duplicate) field "((?:[^"\\]|\\.)*)"`)
)

// explain adds the findings of an error response. It returns the steps to the fields that the
// server cannot decode. If fields were dropped before, errors in them and in defaulted fields may
// be a consequence of their absence and are omitted.
func (o *object) explain(e *rest.StatusError, dropped [][]any) (undecodable [][]any) {
	drop := func(field, message string) {
		if at := o.Locate(field); at.Found {
			field, undecodable = pathOf(at.Steps), append(undecodable, at.Steps)
		}
		o.note(Error, e.Reason, field, message)
	}
	causes := e.Details.Objects("causes")
	if typed, ok := strings.CutPrefix(e.Message, "failed to create typed patch object "); ok {
		_, text, _ := strings.Cut(typed, "): ")
		for line := range strings.Lines(strings.TrimPrefix(text, "errors:\n")) {
			field, message, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "."), ": ")
			if !ok {
				field, message = "", line
			}
			drop(field, strings.ReplaceAll(message, "field not declared in schema", "unknown field"))
		}
		return undecodable
	}
	if m := mistypedField.FindStringSubmatch(e.Message); m != nil {
		field := m[2] // without list indexes and map keys
		if path, ok := findType(o.Object, strings.Split(field, "."), "", m[1]); ok {
			field = path
		}
		drop(field, "cannot unmarshal "+m[1]+" into type "+m[3])
		return undecodable
	}
	if all := strictField.FindAllStringSubmatch(e.Message, -1); all != nil && e.Reason == "BadRequest" {
		for _, m := range all {
			drop(m[2], m[1]+" field")
		}
		return undecodable
	}
	if len(causes) == 0 {
		o.note(Error, e.Reason, "", e.Message)
	}
	for _, c := range causes {
		field, message := c.String("field"), c.String("message")
		at := o.Locate(field)
		below := func(d []any) bool { return len(at.Steps) >= len(d) && slices.Equal(at.Steps[:len(d)], d) }
		if len(dropped) > 0 && (!at.Found && !strings.HasPrefix(message, "Required") || slices.ContainsFunc(dropped, below)) {
			continue
		}
		o.note(Error, e.Reason, field, message)
	}
	return nil
}

// pathOf returns the path of a field in the notation of the server's errors.
func pathOf(steps []any) (path string) {
	for _, s := range steps {
		switch s := s.(type) {
		case int:
			path = tree.IndexPath(path, s)
		case string:
			if strings.ContainsAny(s, "./") {
				path = tree.KeyPath(path, s)
			} else {
				path = tree.FieldPath(path, s)
			}
		}
	}
	return path
}

// remove removes the field at steps, and reports whether it existed.
func remove(t tree.Tree, steps []any) bool {
	if len(steps) == 0 {
		return false
	}
	var parent any = t
	for _, s := range steps[:len(steps)-1] {
		parent = child(parent, s)
	}
	name, ok := steps[len(steps)-1].(string)
	object, isObject := parent.(tree.Tree)
	if !ok || !isObject || object[name] == nil {
		return false
	}
	delete(object, name)
	return true
}

func child(v any, step any) any {
	switch v := v.(type) {
	case tree.Tree:
		name, _ := step.(string)
		return v[name]
	case []any:
		if i, ok := step.(int); ok && i < len(v) {
			return v[i]
		}
	}
	return nil
}

// findType returns the path of the first value of a JSON type below the named fields of v. The
// names lead through lists, and may end at a list or map of such values.
func findType(v any, names []string, path, jsonType string) (string, bool) {
	if len(names) == 0 && typeOf(v) == jsonType {
		return path, true
	}
	switch v := v.(type) {
	case tree.Tree:
		for _, key := range v.SortedKeys() {
			switch {
			case len(names) == 0 && typeOf(v[key]) == jsonType:
				return tree.KeyPath(path, key), true
			case len(names) > 0 && key == names[0]:
				return findType(v[key], names[1:], tree.FieldPath(path, key), jsonType)
			}
		}
	case []any:
		for i, item := range v {
			if found, ok := findType(item, names, tree.IndexPath(path, i), jsonType); ok {
				return found, true
			}
		}
	}
	return "", false
}

func typeOf(v any) string {
	switch v.(type) {
	case tree.Tree:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "bool"
	case nil:
		return "null"
	}
	return "number"
}
