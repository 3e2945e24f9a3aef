package events

import (
	"github.com/troupe-api/troupe/kinds/schema"
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

// Nothing but names differs, so nothing is lost on the way there and back, and an object is changed in place.
func eventConversion() schema.Conversion {
	return schema.Conversion{
		ToStored: func(obj tree.Tree) tree.Tree {
			for _, names := range eventFieldNames {
				renameField(obj, names[0], names[1])
			}
			return obj
		},
		FromStored: func(obj tree.Tree) tree.Tree {
			for _, names := range eventFieldNames {
				renameField(obj, names[1], names[0])
			}
			return obj
		},
	}
}

// renameField renames a field of obj.
func renameField(obj tree.Tree, from, to string) {
	if v, ok := obj[from]; ok {
		delete(obj, from)
		obj[to] = v
	}
}
