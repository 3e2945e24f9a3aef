package events

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kind with its strategy.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "events.platform.io/v1/Event", Strategy: eventsGroupStrategy{}},
	}
}

// RuleFunctions contains the functions that declarative rules call by name.
var RuleFunctions = map[string]schema.CheckFunc{"eventName": schema.ObjectCheck(validateEventName)}
