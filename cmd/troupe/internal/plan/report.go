package plan

import (
	"cmp"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/manifest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The levels of findings, as in SARIF.
const (
	levelError   = "error"
	levelWarning = "warning"
)

// A Finding is one problem.
type Finding struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Level   string `json:"level"`
	Rule    string `json:"rule"` // the reason of the server's error, or a name of this package's own
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	Object  string `json:"object,omitempty"`
}

// A Report is the result of Run.
type Report struct {
	diff  bool
	input []*object
	all   []*object // includes the objects of Options.CRDs
	other []Finding // findings without an object
}

// Add adds an object that was checked elsewhere. It sets the file and object of the findings.
func (r *Report) Add(file string, line int, apiVersion, kind, namespace, name string, findings ...Finding) {
	o := &object{File: file, Line: line, reference: reference{apiVersion, kind, namespace, name}, findings: findings}
	for i := range findings {
		findings[i].File, findings[i].Object = file, o.title()
	}
	r.input, r.all = append(r.input, o), append(r.all, o)
}

// Findings returns the findings of unreadable documents and of the initial state, followed by those
// of objects in input order.
func (r *Report) Findings() []Finding {
	all := append([]Finding{}, r.other...)
	for _, o := range r.all {
		all = append(all, slices.SortedStableFunc(slices.Values(o.findings), func(a, b Finding) int { return a.Line - b.Line })...)
	}
	return all
}

// Counts returns the number of errors, of warnings, of objects, and of objects per action.
func (r *Report) Counts() map[string]int {
	counts := map[string]int{"errors": 0, "warnings": 0, "objects": len(r.input)}
	for _, f := range r.Findings() {
		counts[f.Level+"s"]++
	}
	for _, o := range r.input {
		if o.Action != "" {
			counts[o.Action]++
		}
	}
	return counts
}

var errorLine = regexp.MustCompile(`line (\d+): (.*)`)

// addUnreadable adds the findings for a document that cannot be parsed. It returns false for other
// errors, such as a missing file.
func (r *Report) addUnreadable(err error) bool {
	e, ok := errors.AsType[*manifest.DocumentError](err)
	switch {
	case !ok:
		return false
	case e.Field != "":
		r.other = append(r.other, Finding{e.Source, e.Line, levelError, "Required", e.Field, "every object needs apiVersion and kind", ""})
		return true
	}
	text := strings.TrimPrefix(e.Reason, "error converting YAML to JSON: ")
	lines := errorLine.FindAllStringSubmatch(text, -1)
	if lines == nil {
		lines = [][]string{{text, "1", text}}
	}
	for _, l := range lines {
		n, _ := strconv.Atoi(l[1]) // from 1 in the document; matched digits
		r.other = append(r.other, Finding{e.Source, e.Line + n - 1, levelError, "Parse", "", l[2], ""})
	}
	return true
}

// note adds a finding, unless it already exists.
func (o *object) note(level, rule, field, message string) {
	at := field
	if o.Kind == definitionKind { // how the server names a schema shared by all versions
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

// explain adds the findings for an error response. It returns the steps to the fields that the
// server cannot decode. If fields were dropped from the request, it omits errors that may be
// consequences: errors in these fields and in fields with default values.
func (o *object) explain(e *rest.StatusError, dropped [][]any) (undecodable [][]any) {
	drop := func(field, message string) {
		if at := o.Locate(field); at.Found {
			field, undecodable = pathOf(at.Steps), append(undecodable, at.Steps)
		}
		o.note(levelError, e.Reason, field, message)
	}
	typed, isTyped := strings.CutPrefix(e.Message, "failed to create typed patch object ")
	mistyped := mistypedField.FindStringSubmatch(e.Message)
	malformed, isMalformed := strings.CutPrefix(e.Message, "error decoding patch: ")
	malformedField, malformedText, hasField := strings.Cut(malformed, ": ")
	strict := strictField.FindAllStringSubmatch(e.Message, -1)
	causes := e.Details.Objects("causes")
	switch {
	case isTyped:
		_, text, _ := strings.Cut(typed, "): ")
		for line := range strings.Lines(strings.TrimPrefix(text, "errors:\n")) {
			field, message, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "."), ": ")
			if !ok {
				field, message = "", line
			}
			drop(field, strings.ReplaceAll(message, "field not declared in schema", "unknown field"))
		}
	case mistyped != nil:
		field := mistyped[2] // without list indexes and map keys
		drop(cmp.Or(findType(o.Object, strings.Split(field, "."), "", mistyped[1]), field), "cannot unmarshal "+mistyped[1]+" into type "+mistyped[3])
	case isMalformed && hasField && o.Locate(malformedField).Found:
		drop(malformedField, malformedText)
	case strict != nil && e.Reason == "BadRequest":
		for _, m := range strict {
			drop(m[2], m[1]+" field")
		}
	case len(causes) == 0:
		o.note(levelError, e.Reason, "", e.Message)
	default:
		for _, c := range causes {
			field, message := c.String("field"), c.String("message")
			if field == "<nil>" { // the object as a whole
				field = ""
			}
			at := o.Locate(field)
			below := func(d []any) bool { return len(at.Steps) >= len(d) && slices.Equal(at.Steps[:len(d)], d) }
			isConsequence := len(dropped) > 0 && !at.Found && !strings.HasPrefix(message, "Required")
			if !isConsequence && !slices.ContainsFunc(dropped, below) {
				o.note(levelError, e.Reason, field, message)
			}
		}
	}
	return undecodable
}

// pathOf returns the path of a field in the notation of the server's errors.
func pathOf(steps []any) (path string) {
	for _, s := range steps {
		name, isName := s.(string)
		switch {
		case !isName:
			path = tree.IndexPath(path, s.(int))
		case strings.ContainsAny(name, "./"):
			path = tree.KeyPath(path, name)
		default:
			path = tree.FieldPath(path, name)
		}
	}
	return path
}

// remove removes the field to which steps lead from v, and reports whether it existed.
func remove(v any, steps []any) bool {
	if len(steps) == 0 {
		return false
	}
	switch v := v.(type) {
	case []any:
		return remove(v[steps[0].(int)], steps[1:])
	case tree.Tree:
		name := steps[0].(string)
		if len(steps) > 1 {
			return remove(v[name], steps[1:])
		}
		found := v.Has(name)
		delete(v, name)
		return found
	}
	return false
}

// findType returns the path of the first value of a JSON type below the named fields of v, or "".
// It descends into lists, and may return an item of a list or map at the end of names.
func findType(v any, names []string, path, jsonType string) string {
	if len(names) == 0 && typeOf(v) == jsonType {
		return path
	}
	switch v := v.(type) {
	case tree.Tree:
		if len(names) > 0 {
			return findType(v[names[0]], names[1:], tree.FieldPath(path, names[0]), jsonType)
		}
		for _, key := range v.SortedKeys() {
			if typeOf(v[key]) == jsonType {
				return tree.KeyPath(path, key)
			}
		}
	case []any:
		for i, item := range v {
			if found := findType(item, names, tree.IndexPath(path, i), jsonType); found != "" {
				return found
			}
		}
	}
	return ""
}

var jsonTypes = map[reflect.Kind]string{
	reflect.Map: "object", reflect.Slice: "array", reflect.String: "string", reflect.Bool: "bool", reflect.Int64: "number", reflect.Float64: "number",
}

func typeOf(v any) string { return jsonTypes[reflect.ValueOf(v).Kind()] }
