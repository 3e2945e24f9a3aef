package tree

import (
	"strconv"
	"strings"
)

// IndexPath returns the path of a list element.
func IndexPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// KeyPath returns the path of a map entry.
func KeyPath(path, key string) string { return path + "[" + key + "]" }

// FieldPath returns the path of a field below path, which may be "".
func FieldPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// A Position is the path to the current value of a traversal. It reuses one buffer, because a new
// string for every value would repeatedly copy long keys. The Enter methods return the length to
// pass to Leave.
type Position []byte

// EnterField moves to a field of the current value.
func (p *Position) EnterField(name string) (back int) {
	back = len(*p)
	if back > 0 {
		*p = append(*p, '.')
	}
	*p = append(*p, name...)
	return back
}

// EnterPath moves to a path relative to the current value. An empty path stays at the value.
func (p *Position) EnterPath(path string) (back int) {
	if path != "" && path[0] != '[' {
		return p.EnterField(path)
	}
	back = len(*p)
	*p = append(*p, path...)
	return back
}

// EnterKey moves to a map entry.
func (p *Position) EnterKey(key string) (back int) {
	back = len(*p)
	*p = append(append(append(*p, '['), key...), ']')
	return back
}

// EnterItem moves to a list item.
func (p *Position) EnterItem(i int) (back int) {
	back = len(*p)
	*p = append(strconv.AppendInt(append(*p, '['), int64(i), 10), ']')
	return back
}

// Cut returns the path, truncated to limit bytes.
func (p *Position) Cut(limit int) string {
	return strings.ToValidUTF8(string((*p)[:min(len(*p), limit)]), "")
}

// Leave returns to the position before the matching Enter call.
func (p *Position) Leave(back int) { *p = (*p)[:back] }
