package field

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// SetIfAbsent sets a field if it is absent. Unlike SetIfEmpty, it keeps "".
func SetIfAbsent(t tree.Tree, name string, v any) {
	if t[name] == nil {
		t[name] = v
	}
}

// SetIfEmpty sets a field if it is absent or "".
func SetIfEmpty(t tree.Tree, name string, v any) {
	if old := t[name]; old == nil || old == "" {
		t[name] = v
	}
}
