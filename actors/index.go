package actors

import (
	"strings"

	"github.com/tidwall/btree"

	"github.com/troupe-api/troupe/kinds/meta"
)

// objectIndex maps "namespace/name" to objects, in the order of lists.
type objectIndex = btree.Map[string, *meta.Object]

// fork is a copy of an index that can be changed while others read t.
func fork(t *objectIndex) *objectIndex {
	own := *t
	return own.Copy()
}

// snapshot is one published state of a collection. It is immutable.
type snapshot struct {
	objects      *objectIndex
	fieldIndexes []fieldIndex // of the fields that the kind declares; none in a snapshot of an older version
	version      uint64       // of the newest change in it
}

// path is the key of an object within its collection.
func path(namespace, name string) string { return namespace + "/" + name }

// pathOf is the path of the object that is stored under a key. It shares the memory of the key.
func pathOf(key string) string {
	_, rest, _ := strings.Cut(key, "/")
	_, path, _ := strings.Cut(rest, "/")
	return path
}

// get finds one object; nil if it does not exist.
func (s *snapshot) get(path string) *meta.Object {
	object, _ := s.objects.Get(path)
	return object
}

// scan calls fn for the objects of a namespace ("" for all), in order, starting at the
// path from ("" for the first), until fn returns false.
func (s *snapshot) scan(namespace, from string, fn func(path string, o *meta.Object) bool) {
	prefix := ""
	if namespace != "" {
		prefix = namespace + "/"
	}
	s.objects.Ascend(max(from, prefix), func(path string, o *meta.Object) bool {
		return strings.HasPrefix(path, prefix) && fn(path, o)
	})
}

// count is the number of objects in a namespace ("" for all) from a path on, which may be after the last
// of the namespace.
func (s *snapshot) count(namespace, from string) int {
	end := s.objects.Len()
	if namespace != "" {
		end = s.rank(namespace + "0") // the byte after '/'
		from = max(from, namespace+"/")
	}
	return max(end-s.rank(from), 0)
}

// rank is the number of paths below path, found by bisection.
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
