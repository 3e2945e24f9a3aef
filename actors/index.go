package actors

import (
	"strings"

	"github.com/tidwall/btree"

	"github.com/troupe-api/troupe/kinds/meta"
)

// objectIndex maps "namespace/name" to objects in list order.
type objectIndex = btree.Map[string, *meta.Object]

func fork(t *objectIndex) *objectIndex {
	own := *t
	return own.Copy()
}

type snapshot struct {
	objects      *objectIndex
	fieldIndexes []fieldIndex // one per declared field of the kind; none in a snapshot of an older version
	version      uint64       // version of the newest change
}

func path(namespace, name string) string { return namespace + "/" + name }

// pathOf returns the "namespace/name" part of a stored key. The result shares the key's memory.
func pathOf(key string) string {
	_, rest, _ := strings.Cut(key, "/")
	_, path, _ := strings.Cut(rest, "/")
	return path
}

func (s *snapshot) get(path string) *meta.Object {
	object, _ := s.objects.Get(path)
	return object
}

func (s *snapshot) scan(namespace, from string, fn func(path string, o *meta.Object) bool) {
	prefix := ""
	if namespace != "" {
		prefix = namespace + "/"
	}
	s.objects.Ascend(max(from, prefix), func(path string, o *meta.Object) bool {
		return strings.HasPrefix(path, prefix) && fn(path, o)
	})
}

// count returns the number of objects in a namespace ("" for all) at or after path from, which may
// sort after the whole namespace.
func (s *snapshot) count(namespace, from string) int {
	end := s.objects.Len()
	if namespace != "" {
		end = s.rank(namespace + "0") // the byte after '/'
		from = max(from, namespace+"/")
	}
	return max(end-s.rank(from), 0)
}

func (s *snapshot) rank(path string) int {
	low, high := 0, s.objects.Len()
	for low < high {
		middle := (low + high) / 2
		if at, _, _ := s.objects.GetAt(middle); at < path {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}
