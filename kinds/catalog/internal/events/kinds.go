package events

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists events, of the core group and of their own, with their strategies.
func Kinds(n *meta.Naming) []family.Kind {
	return []family.Kind{
		{Name: "/v1/Event", Strategy: eventStrategy{system: n.SystemNamespace()}},
		{Name: "events.platform.io/v1/Event", Strategy: eventsGroupStrategy{}},
	}
}
