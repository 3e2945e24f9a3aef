package events

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// eventFieldNames maps an Event's field names in the events group to the stored names in the core
// group.
var eventFieldNames = [][2]string{
	{"regarding", "involvedObject"},
	{"note", "message"},
	{"reportingController", "reportingComponent"},
	{"deprecatedSource", "source"},
	{"deprecatedFirstTimestamp", "firstTimestamp"},
	{"deprecatedLastTimestamp", "lastTimestamp"},
	{"deprecatedCount", "count"},
}

// ToStored renames fields. The versions differ only in field names.
func (eventsGroupStrategy) ToStored(obj tree.Tree) tree.Tree {
	for _, names := range eventFieldNames {
		renameField(obj, names[0], names[1])
	}
	return obj
}

func (eventsGroupStrategy) FromStored(obj tree.Tree) tree.Tree {
	for _, names := range eventFieldNames {
		renameField(obj, names[1], names[0])
	}
	return obj
}

func renameField(obj tree.Tree, from, to string) {
	if v, ok := obj[from]; ok {
		delete(obj, from)
		obj[to] = v
	}
}
