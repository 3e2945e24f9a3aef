package actors

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// A lookup finds the objects of a collection by the value of one selectable field: it maps
// the value, a zero byte and the path to the object. Within a value the order is that of lists.
type fieldIndex struct {
	field   int // place in the kind's SelectFields
	objects *objectIndex
}

// newFieldIndexes makes the lookups that a kind declares, of the objects of a tree.
func newFieldIndexes(k *schema.Kind, objects *objectIndex) []fieldIndex {
	indexes := make([]fieldIndex, len(k.IndexedFields))
	for i, field := range k.IndexedFields {
		indexes[i] = fieldIndex{field, new(objectIndex)}
		objects.Scan(func(path string, o *meta.Object) bool {
			indexes[i].put(path, o)
			return true
		})
	}
	return indexes
}

func (l fieldIndex) key(path string, o *meta.Object) string {
	return o.Meta.Fields[l.field] + "\x00" + path
}

func (l fieldIndex) put(path string, o *meta.Object) { l.objects.Set(l.key(path, o), o) }

func (l fieldIndex) delete(path string, o *meta.Object) { l.objects.Delete(l.key(path, o)) }

// forkFieldIndexes are lookups that begin as these and can be changed.
func forkFieldIndexes(indexes []fieldIndex) []fieldIndex {
	own := make([]fieldIndex, len(indexes))
	for i, l := range indexes {
		own[i] = fieldIndex{l.field, fork(l.objects)}
	}
	return own
}

// shareFieldIndexes are lookups as these are now, for others to read. Unlike forkFieldIndexes it is for
// the owner alone: from then on its own changes copy what is shared.
func shareFieldIndexes(indexes []fieldIndex) []fieldIndex {
	shared := make([]fieldIndex, len(indexes))
	for i, l := range indexes {
		shared[i] = fieldIndex{l.field, l.objects.Copy()}
	}
	return shared
}

// candidates calls fn for the objects of a namespace ("" for all) that may have the fields, in
// order, starting at the path from ("" for the first), until fn returns false. It looks at all
// objects unless a lookup knows better.
func (s *snapshot) candidates(f selector.Fields, namespace, from string, fn func(path string, o *meta.Object) bool) {
	for _, l := range s.fieldIndexes {
		if value, ok := f.Value(l.field); ok {
			l.scan(value, namespace, from, fn)
			return
		}
	}
	s.scan(namespace, from, fn)
}

func (l fieldIndex) scan(value, namespace, from string, fn func(path string, o *meta.Object) bool) {
	value += "\x00"
	prefix := value
	if namespace != "" {
		prefix += namespace + "/"
	}
	l.objects.Ascend(max(value+from, prefix), func(key string, o *meta.Object) bool {
		return strings.HasPrefix(key, prefix) && fn(key[len(value):], o)
	})
}
