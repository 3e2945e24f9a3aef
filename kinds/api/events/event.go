package events

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// eventsGroupStrategy is the strategy of Events in the events group. It requires the newer fields
// in new Events, and permits updates only of the series. The rules use the core group's field
// names, because they apply to the stored version.
type eventsGroupStrategy struct {
	schema.DefaultStrategy
	schema.Lossless
}

func validateEventName(metadata tree.Tree, _ string, faults *schema.Faults) {
	rules.ValidateName(schema.NameSubdomain, metadata, faults)
}
