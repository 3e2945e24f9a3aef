package events

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kind of the group with its strategy.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "events.platform.io/v1/Event", Strategy: eventsGroupStrategy{}},
	}
}

// RuleFunctions holds the functions that declared rules call.
var RuleFunctions = map[string]schema.CheckFunc{"eventName": schema.ObjectCheck(validateEventName)}
