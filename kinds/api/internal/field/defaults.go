package field

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// SetIfAbsent sets a field that is absent. Unlike for SetIfEmpty, "" is a value.
func SetIfAbsent(t tree.Tree, name string, v any) {
	if t[name] == nil {
		t[name] = v
	}
}

// SetIfEmpty sets a field that is absent or "".
func SetIfEmpty(t tree.Tree, name string, v any) {
	if old := t[name]; old == nil || old == "" {
		t[name] = v
	}
}
