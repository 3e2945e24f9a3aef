package openapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
)

// A Remote is a part of another server's version 2 document: the paths with given prefixes, and the
// definitions and parameters to which they refer. A Remote is kept compressed and is safe for
// concurrent use.
type Remote struct {
	packed []byte // compressed JSON
	size   int    // size of the JSON
	hash   string
}

// ReadRemote parses another server's version 2 document and keeps the paths with the given
// prefixes. It drops members that the gnostic models lack or declare with another type.
func ReadRemote(body []byte, prefixes []string) (*Remote, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var document map[string]any
	if err := decoder.Decode(&document); err != nil {
		return nil, err
	}
	if document["swagger"] != "2.0" {
		return nil, errors.New("it is not a document of version 2.0")
	}
	r := remoteReader{document: document, taken: map[string]map[string]any{}}
	r.takePaths(prefixes)
	text, err := json.Marshal(r.taken)
	if err != nil {
		return nil, err
	}
	return &Remote{packed: compress(text), size: len(text), hash: hash(text)}, nil
}

// Hash returns a hash of the content.
func (r *Remote) Hash() string { return r.hash }

// Size returns the size of the content in bytes.
func (r *Remote) Size() int { return r.size }

var sections = map[string]string{"definitions": "#/definitions/", "parameters": "#/parameters/"}

type remoteReader struct {
	document map[string]any
	taken    map[string]map[string]any // by section and name
}

func (r *remoteReader) takePaths(prefixes []string) {
	paths, _ := r.document["paths"].(map[string]any)
	for path, item := range paths {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(path, p) }) {
			r.take("paths", path, item)
		}
	}
}

func (r *remoteReader) take(section, name string, part any) {
	if r.taken[section] == nil {
		r.taken[section] = map[string]any{}
	}
	r.taken[section][name] = part
	r.follow(part)
}

func (r *remoteReader) follow(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			r.follow(item)
		}
	case map[string]any:
		for name, value := range v {
			if reference, ok := value.(string); ok && name == "$ref" {
				r.refer(reference)
			} else {
				r.follow(value)
			}
		}
	}
}

func (r *remoteReader) refer(reference string) {
	for section, prefix := range sections {
		name, ok := strings.CutPrefix(reference, prefix)
		if !ok {
			continue
		}
		parts, _ := r.document[section].(map[string]any)
		if part, there := parts[name]; there && r.taken[section][name] == nil {
			r.take(section, name, part)
		}
	}
}

// unpack returns a section's entries by name, limited to the members in the layout.
func (r *Remote) unpack(section string, l *layout) map[string]object {
	packed, err := gzip.NewReader(bytes.NewReader(r.packed))
	if err != nil {
		panic(err) // this package compressed it
	}
	text, err := io.ReadAll(packed)
	if err != nil {
		panic(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var all map[string]map[string]any
	if err := decoder.Decode(&all); err != nil {
		panic(err)
	}
	parts := map[string]object{}
	for name, part := range all[section] {
		if o, ok := l.conform(part); ok {
			parts[name] = o
		}
	}
	return parts
}

// conform converts a decoded value to an object with only the members that the layout can write.
func (l *layout) conform(v any) (object, bool) {
	members, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	o := object{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var value any
		ok := false
		if mapping, known := l.fields[name]; known {
			value, ok = mapping.conform(members[name])
		} else if strings.HasPrefix(name, "x-") && l.extensions != 0 {
			value, ok = free(members[name]), true
		} else if l.entries != nil {
			value, ok = l.entries.conform(members[name])
		}
		if ok {
			o = o.with(name, value)
		}
	}
	return o, true
}

// conform converts a decoded value to a value that fits the field. ok is false if that is
// impossible.
func (s fieldMapping) conform(v any) (value any, ok bool) {
	if list, isList := v.([]any); isList && s.kind != kindAny {
		return s.conformList(list)
	}
	if s.alternatives != nil {
		members, isObject := v.(map[string]any)
		if !isObject {
			return nil, false
		}
		return s.pick(free(members)).conform(v)
	}
	switch s.kind {
	case kindString, kindStrings:
		value, ok = v.(string)
	case kindBool:
		value, ok = v.(bool)
	case kindInt64:
		value, ok = free(v).(int64)
	case kindDouble:
		value = free(v)
		_, isInt := value.(int64)
		_, isFloat := value.(float64)
		ok = isInt || isFloat
	case kindAny:
		value, ok = free(v), true
	case kindMessage:
		value, ok = s.layout.conform(v)
	}
	return value, ok
}

func (s fieldMapping) conformList(list []any) (any, bool) {
	if s.kind == kindStrings {
		texts := []string{}
		for _, item := range list {
			if text, ok := item.(string); ok {
				texts = append(texts, text)
			}
		}
		return texts, true
	}
	items := []any{}
	for _, item := range list {
		if _, nested := item.([]any); nested {
			continue
		}
		if value, ok := s.conform(item); ok {
			items = append(items, value)
		}
	}
	return items, len(items) > 0 || len(list) == 0
}

func free(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String() // exceeds all number types
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = free(item)
		}
		return list
	case map[string]any:
		o := object{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			o = o.with(name, free(v[name]))
		}
		return o
	}
	return v
}

// V2With returns the version 2 document merged with those of other servers. For duplicate paths or
// names, this server takes precedence, then the first remote.
func (d *Documents) V2With(remotes []*Remote) *Document {
	if len(remotes) == 0 {
		return d.all
	}
	s := d.allScope
	s.remotes = remotes
	return newDocument(d.options, version2, s)
}

func remoteParts(remotes []*Remote, section, message string) map[string]object {
	all := map[string]object{}
	for _, r := range slices.Backward(remotes) {
		maps.Copy(all, r.unpack(section, layoutOf(message)))
	}
	return all
}

// remotePaths adds the paths of aggregated servers, unless this server has the same path, and
// registers the definitions to which they refer. This server's definitions take precedence, because
// they are already registered.
func (b *builder) remotePaths(s scope, written map[string]bool, yield func(string, object) bool) {
	if len(s.remotes) == 0 {
		return
	}
	if b.dialect.v3 {
		b.convertedPaths(s, yield)
		return
	}
	for name, definition := range remoteParts(s.remotes, "definitions", "Schema2") {
		b.definitions.add(name, func() object { return definition })
	}
	paths := remoteParts(s.remotes, "paths", "PathItem2")
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if !written[path] && !yield(path, paths[path]) {
			return
		}
	}
}

func (b *builder) parameters(s scope) entries {
	return func(yield func(string, object) bool) {
		own := map[string]bool{}
		for _, p := range standard().Shared {
			own[p.Name] = true
			if !yield(p.Name, p.in2()) {
				return
			}
		}
		others := remoteParts(s.remotes, "parameters", "AnyParameter2")
		for _, name := range slices.Sorted(maps.Keys(others)) {
			if !own[name] && !yield(name, others[name]) {
				return
			}
		}
	}
}
