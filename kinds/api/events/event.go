package events

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// eventsGroupStrategy is the strategy of Events in the events group. New Events must have the newer
// fields, and updates may change only the series. The rules apply to the stored version, which has
// the core group's field names.
type eventsGroupStrategy struct {
	schema.DefaultStrategy
	schema.Lossless
}

func validateEventName(metadata tree.Tree, _ string, faults *schema.Faults) {
	rules.ValidateName(schema.NameSubdomain, metadata, faults)
}
