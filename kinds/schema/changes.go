package schema

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

const maxShownChanges = 10

// Changes returns the paths below path that differ between was and now, as one line for the error
// of a rejected update. It omits values, which the requester may not be allowed to read.
func (m *Message) Changes(was, now tree.Tree, path string) string {
	paths := m.changes(was, now, path)
	if len(paths) > maxShownChanges {
		paths = append(paths[:maxShownChanges:maxShownChanges], "…")
	}
	return "\nchanged: " + strings.Join(paths, ", ")
}

func (m *Message) changes(was, now tree.Tree, path string) (paths []string) {
	for _, f := range m.Sorted() {
		if a, b := was[f.Name], now[f.Name]; !f.Same(a, b) {
			paths = append(paths, f.changes(a, b, tree.FieldPath(path, f.Name))...)
		}
	}
	return paths
}

// changes returns the paths at which two values of a field differ. It descends only into messages
// and lists of equal length.
func (f *Field) changes(was, now any, path string) (paths []string) {
	if f.Type == TypeMessage && f.Shape == Single {
		return f.itemChanges(was, now, path)
	}
	x, _ := was.([]any)
	y, _ := now.([]any)
	if f.Type != TypeMessage || f.Shape != List || len(x) != len(y) {
		return []string{path}
	}
	for i := range x {
		if !f.sameItems(x[i], y[i]) {
			paths = append(paths, f.itemChanges(x[i], y[i], tree.IndexPath(path, i))...)
		}
	}
	return paths
}

func (f *Field) itemChanges(was, now any, path string) []string {
	x, isObject := was.(tree.Tree)
	y, isObjectToo := now.(tree.Tree)
	if isObject && isObjectToo {
		if paths := f.Message.changes(x, y, path); len(paths) > 0 {
			return paths
		}
	}
	return []string{path}
}
