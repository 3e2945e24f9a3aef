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

// RuleFunctions maps names to validation functions. The declarative validation rules of the kinds
// call the functions by name.
var RuleFunctions = map[string]schema.CheckFunc{"eventName": schema.ObjectCheck(validateEventName)}
