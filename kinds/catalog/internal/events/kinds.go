package events

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists events, of the core group and of their own, with their functions.
func Kinds(n *meta.Naming) []family.Kind {
	return []family.Kind{
		{Name: "/v1/Event", Rules: eventRules(n)},
		{Name: "events.platform.io/v1/Event", Rules: eventsGroupRules(), Conversion: eventConversion()},
	}
}
