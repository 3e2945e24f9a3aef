package actors

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// A fieldIndex indexes the objects in a collection by one selectable field. An object's key
// consists of the field's value, a zero byte, and the object's namespace and name, so that objects
// with the same value are in list order.
type fieldIndex struct {
	field   int // index into the kind's SelectFields
	objects *objectIndex
}

func newFieldIndexes(k *schema.Kind, objects *objectIndex) []fieldIndex {
	var indexes []fieldIndex
	for i, f := range k.SelectFields {
		if !f.Indexed {
			continue
		}
		index := fieldIndex{i, new(objectIndex)}
		objects.Scan(func(path string, o *meta.Object) bool {
			index.put(path, o)
			return true
		})
		indexes = append(indexes, index)
	}
	return indexes
}

func (x fieldIndex) key(path string, o *meta.Object) string {
	return o.Meta.Fields[x.field] + "\x00" + path
}

func (x fieldIndex) put(path string, o *meta.Object) { x.objects.Set(x.key(path, o), o) }

func (x fieldIndex) delete(path string, o *meta.Object) { x.objects.Delete(x.key(path, o)) }

func forkFieldIndexes(indexes []fieldIndex) []fieldIndex {
	own := make([]fieldIndex, len(indexes))
	for i, l := range indexes {
		own[i] = fieldIndex{l.field, fork(l.objects)}
	}
	return own
}

// shareFieldIndexes returns read-only, copy-on-write copies of the indexes. Only the goroutine that
// modifies the indexes may call it.
func shareFieldIndexes(indexes []fieldIndex) []fieldIndex {
	shared := make([]fieldIndex, len(indexes))
	for i, l := range indexes {
		shared[i] = fieldIndex{l.field, l.objects.Copy()}
	}
	return shared
}

// candidates calls fn for each object that may match f, until fn returns false. An empty namespace
// means all namespaces.
func (s *snapshot) candidates(f selector.Fields, namespace, from string, fn func(path string, o *meta.Object) bool) {
	for _, l := range s.fieldIndexes {
		if value, ok := f.Value(l.field); ok {
			l.scan(value, namespace, from, fn)
			return
		}
	}
	s.scan(namespace, from, fn)
}

func (x fieldIndex) scan(value, namespace, from string, fn func(path string, o *meta.Object) bool) {
	value += "\x00"
	prefix := value
	if namespace != "" {
		prefix += namespace + "/"
	}
	x.objects.Ascend(max(value+from, prefix), func(key string, o *meta.Object) bool {
		return strings.HasPrefix(key, prefix) && fn(key[len(value):], o)
	})
}
