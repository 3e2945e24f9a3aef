package events

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// eventFieldNames are the fields of an Event that have different names in the group events and in
// the core group, which is the stored version.
var eventFieldNames = [][2]string{
	{"regarding", "involvedObject"},
	{"note", "message"},
	{"reportingController", "reportingComponent"},
	{"deprecatedSource", "source"},
	{"deprecatedFirstTimestamp", "firstTimestamp"},
	{"deprecatedLastTimestamp", "lastTimestamp"},
	{"deprecatedCount", "count"},
}

// ToStored renames fields: nothing else differs, so nothing is lost on the way there and back.
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

// renameField renames a field of obj.
func renameField(obj tree.Tree, from, to string) {
	if v, ok := obj[from]; ok {
		delete(obj, from)
		obj[to] = v
	}
}
