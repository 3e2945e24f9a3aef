package managedfields

import (
	"bytes"
	"slices"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// IsNoOpApply reports whether an apply of config is known to change neither the stored object nor
// its managers. It may return false for a no-op, for example because the field order differs. json
// is the stored object, of message m. config must have passed CheckConfig.
func IsNoOpApply(w Writer, m *schema.Message, json []byte, config tree.Tree) bool {
	s := noOpChecker{json: json, custom: m.Custom != nil}
	return w.Scale == nil && s.message(m, nil, config) && s.managers > 0 &&
		s.owns(w, m, encodeFields(m, config, w.excluded(), false))
}

// A noOpChecker compares a configuration with an object's JSON as the codec writes it, without
// whitespace. This is several times faster than decoding, and most applies are repeated by
// controllers. It stops at the first difference.
type noOpChecker struct {
	json     []byte
	pos      int
	depth    int
	custom   bool
	metadata bool
	managers int    // offset of the managed fields; 0 if there are none
	scratch  []byte // buffer for expected bytes
}

func (s *noOpChecker) peek() byte {
	if s.pos < len(s.json) {
		return s.json[s.pos]
	}
	return 0
}

func (s *noOpChecker) next(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

// key consumes the next key, its colon and the comma before it. At the end of the object, key is
// nil. ok is false for malformed JSON and for keys with escapes.
func (s *noOpChecker) key() (key []byte, ok bool) {
	s.next(',')
	if s.next('}') {
		return nil, true
	}
	start := s.pos + 1
	if !s.skip() || !s.next(':') {
		return nil, false
	}
	key = s.json[start : s.pos-2]
	return key, bytes.IndexByte(key, '\\') < 0
}

// message reports whether the JSON object at the current position, of message m, contains all
// fields of t. If list is not nil, the object is an item of that list, and t may omit keys with
// defaults.
func (s *noOpChecker) message(m *schema.Message, list *schema.Field, t tree.Tree) bool {
	if !s.next('{') {
		return false
	}
	s.depth++
	for found := 0; ; {
		key, ok := s.key()
		if !ok || key == nil {
			s.depth--
			return ok && found == len(t)
		}
		if s.depth == 1 {
			s.metadata = string(key) == "metadata"
		}
		f := m.Field(string(key))
		v, named := t[string(key)]
		switch {
		case named && f == nil:
			ok = s.isString(v) || s.is(codec.AppendAny(s.scratch[:0], v))
		case named:
			ok = s.value(f, false, v)
		case list != nil && f != nil && slices.Contains(list.ListMapKeys, f.Name):
			ok = s.is(codec.AppendAny(s.scratch[:0], keyOf(list, t, f.Name)))
		default:
			if s.depth == 2 && s.metadata && string(key) == "managedFields" {
				s.managers = s.pos
			}
			ok = s.skip()
		}
		if !ok {
			return false
		}
		if named {
			found++
		}
	}
}

func (s *noOpChecker) value(f *schema.Field, element bool, v any) bool {
	object, isTree := v.(tree.Tree)
	switch granularity := granularityOf(f, element); {
	case v == nil:
		return false // a null, which the object does not have
	case granularity == byItem:
		return s.list(f, v)
	case granularity == byField && isTree:
		return s.message(f.Message, nil, object)
	case granularity == byKey && isTree:
		return s.mapField(f, object)
	case s.custom && !s.metadata:
		return s.isString(v) || s.is(codec.AppendAny(s.scratch[:0], v))
	case f.Message == nil && f.Type != schema.TypeFields && s.isString(v):
		return true
	case element:
		return s.is(codec.AppendElement(s.scratch[:0], f, v))
	}
	return s.is(codec.AppendField(s.scratch[:0], f, v))
}

func (s *noOpChecker) mapField(f *schema.Field, t tree.Tree) bool {
	if !s.next('{') {
		return false
	}
	for found := 0; ; {
		key, ok := s.key()
		if !ok || key == nil {
			return ok && found == len(t)
		}
		if v, named := t[string(key)]; !named {
			ok = s.skip()
		} else if ok = s.value(f, true, v); ok {
			found++
		}
		if !ok {
			return false
		}
	}
}

// maxOthers limits the extra live items in the fast paths, because each is compared with the whole
// configuration. Admission adds only a few, such as a Pod's token volume.
const maxOthers = 16

func (s *noOpChecker) list(f *schema.Field, v any) bool {
	wanted, _ := v.([]any)
	if len(wanted) == 0 || !s.next('[') {
		return false
	}
	for found, others := 0, 0; ; {
		pos, depth := s.pos, s.depth
		if found < len(wanted) && s.item(f, wanted[found]) {
			found++
		} else {
			s.pos, s.depth = pos, depth
			if others++; others > maxOthers || !s.otherItem(f, wanted) {
				return false
			}
		}
		if !s.next(',') {
			return s.next(']') && found == len(wanted)
		}
	}
}

func (s *noOpChecker) item(f *schema.Field, wanted any) bool {
	object, isTree := wanted.(tree.Tree)
	switch {
	case f.ListType == schema.ListMap && isTree && granularityOf(f, true) == byField:
		return s.message(f.Message, f, object)
	case s.custom && !s.metadata:
		return s.is(codec.AppendAny(s.scratch[:0], wanted))
	}
	return s.is(codec.AppendElement(s.scratch[:0], f, wanted))
}

func (s *noOpChecker) otherItem(f *schema.Field, wanted []any) bool {
	item, ok := s.itemKeys(f)
	return ok && isOther(f, item, wanted)
}

// itemKeys consumes an item and returns its identity: the value of a set item, or an object with
// only the list-map keys.
func (s *noOpChecker) itemKeys(f *schema.Field) (item any, ok bool) {
	if f.ListType == schema.ListSet {
		return s.scalar()
	}
	if !s.next('{') {
		return nil, false
	}
	keys := tree.Tree{}
	for {
		key, ok := s.key()
		switch {
		case !ok || key == nil:
			return keys, ok
		case slices.Contains(f.ListMapKeys, string(key)):
			if keys[string(key)], ok = s.scalar(); !ok {
				return nil, false
			}
		case !s.skip():
			return nil, false
		}
	}
}

func (s *noOpChecker) scalar() (any, bool) {
	start, first := s.pos, s.peek()
	if first == '{' || first == '[' || !s.skip() {
		return nil, false
	}
	v, _, err := codec.DecodeAny(s.json[start:s.pos])
	return v, err == nil
}

// isString reports whether the next value is the string v without escapes. If so, it consumes the
// value.
func (s *noOpChecker) isString(v any) bool {
	text, isText := v.(string)
	end := s.pos + 1 + len(text)
	if !isText || s.peek() != '"' || end >= len(s.json) || s.json[end] != '"' {
		return false
	}
	found := s.json[s.pos+1 : end]
	if string(found) != text || bytes.IndexByte(found, '"') >= 0 || bytes.IndexByte(found, '\\') >= 0 {
		return false
	}
	s.pos = end + 1
	return true
}

// is reports whether the next value consists of the wanted bytes. If so, it consumes the value. It
// reuses wanted as the scratch buffer.
func (s *noOpChecker) is(wanted []byte) bool {
	s.scratch = wanted
	if !bytes.HasPrefix(s.json[s.pos:], wanted) {
		return false
	}
	s.pos += len(wanted)
	c := s.peek()
	return c == ',' || c == '}' || c == ']'
}

func (s *noOpChecker) skip() bool {
	n := jsontext.Value(s.json[s.pos:]).Length()
	s.pos += n
	return n > 0
}

// owns reports whether the writer's last apply had exactly the FieldsV1 in text and the writer's
// version. For custom kinds, it checks all managers, because any set may need reconciling.
func (s *noOpChecker) owns(w Writer, m *schema.Message, text string) bool {
	s.pos = s.managers
	if !s.next('[') {
		return false
	}
	found := false
	for s.peek() == '{' {
		entry, ok := s.entry()
		if !ok || s.custom && !s.upToDate(entry, w, m) {
			return false
		}
		if entry.writtenBy(w, s) {
			if string(entry.fields) != text || !s.isQuoted(entry.version, w.APIVersion) {
				return false
			}
			if found = true; !s.custom {
				return true
			}
		}
		s.next(',')
	}
	return found
}

func (s *noOpChecker) upToDate(e entry, w Writer, m *schema.Message) bool {
	return s.isQuoted(e.version, w.APIVersion) && !parseCached(string(e.fields), m).reconciled
}

type entry struct{ manager, operation, version, subresource, fields []byte }

func (s *noOpChecker) entry() (e entry, ok bool) {
	s.next('{')
	for {
		key, ok := s.key()
		if !ok || key == nil {
			return e, ok
		}
		start := s.pos
		if !s.skip() {
			return e, false
		}
		value := s.json[start:s.pos]
		switch string(key) {
		case "manager":
			e.manager = value
		case "operation":
			e.operation = value
		case "apiVersion":
			e.version = value
		case "subresource":
			e.subresource = value
		case "fieldsV1":
			e.fields = value
		}
	}
}

func (e *entry) writtenBy(w Writer, s *noOpChecker) bool {
	return s.isQuoted(e.operation, opApply) && s.isQuoted(e.manager, w.Manager) && s.isQuoted(e.subresource, w.Subresource)
}

func (s *noOpChecker) isQuoted(value []byte, text string) bool {
	if len(value) == 0 {
		return text == ""
	}
	s.scratch = jsontext.AppendString(s.scratch[:0], text)
	return bytes.Equal(value, s.scratch)
}
