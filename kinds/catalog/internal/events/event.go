package events

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// eventsGroupStrategy is that of the group events: Events must have the newer fields, and an
// update may change the series only.
//
// It looks at the stored form, in which the fields have the names of the core group.
type eventsGroupStrategy struct {
	schema.DefaultStrategy
	schema.Lossless
}

// validateEventName checks the name in the metadata of an Event.
func validateEventName(metadata tree.Tree, _ string, faults *schema.Faults) {
	rules.ValidateName(schema.NameSubdomain, metadata, faults)
}
