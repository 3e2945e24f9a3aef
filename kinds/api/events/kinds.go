package events

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the Event of the group events with its strategy.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "events.platform.io/v1/Event", Strategy: eventsGroupStrategy{}},
	}
}

// RuleFunctions maps the function names in declared rules to functions.
var RuleFunctions = map[string]schema.CheckFunc{"eventName": schema.ObjectCheck(validateEventName)}
