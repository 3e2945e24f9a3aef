package managedfields

import (
	"errors"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Overlay merges config into live, an object of message m, like an apply without ownership. It
// rejects atomic lists, maps and messages in config, because they would replace content unknown to
// the author. The result shares unchanged subtrees with live.
func Overlay(m *schema.Message, live, config tree.Tree, undeclared []string) (tree.Tree, error) {
	if fault := CheckConfig(m, config, undeclared); fault != "" {
		return nil, fmt.Errorf("failed to convert patch object to typed object: %s", fault)
	}
	if found := atomicParts(m, config, ""); len(found) > 0 {
		return nil, errors.New("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: " + strings.Join(found, ", "))
	}
	named := withNulls(m, config)
	version := ServedVersion{Message: m}
	merged := combineTrees(m, version.fromStored(live), named)
	if !tree.SameRef(named, config) {
		merged = resolveNulls(m, merged)
	}
	return version.toStored(merged), nil
}

func atomicParts(m *schema.Message, t tree.Tree, path string) (found []string) {
	for _, name := range t.SortedKeys() {
		if f := m.Field(name); f != nil {
			found = append(found, atomicValue(f, false, t[name], path+"."+name)...)
		}
	}
	return found
}

// atomicValue returns the paths of the atomic values in v, except in maps.
func atomicValue(f *schema.Field, element bool, v any, path string) (found []string) {
	switch v := v.(type) {
	case tree.Tree:
		if granularityOf(f, element) == atomic {
			found = append(found, path)
		}
		if f.Type == schema.TypeMessage && (element || f.Shape == schema.Single) {
			found = append(found, atomicParts(f.Message, v, path)...)
		}
	case []any:
		if granularityOf(f, element) == atomic {
			found = append(found, path)
		}
		for i, item := range v {
			found = append(found, atomicValue(f, true, item, tree.IndexPath(path, i))...)
		}
	}
	return found
}
