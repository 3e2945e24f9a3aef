package events

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The bounds of the texts of an Event, in bytes. A client that repeats an Event counts it up instead of
// writing longer texts.
const (
	maxEventName    = 128
	maxEventMessage = 1024
)

// eventStrategy is that of the core group's Event, which is the stored version.
//
// Events are written by every component and read by people, so the rules for the core group are few: an event that is
// refused helps nobody.
type eventStrategy struct {
	schema.DefaultStrategy
	system string // the namespace
}

// Validate checks all Events. Those with an eventTime, which clients of the newer API set, have
// stricter fields; the declaration requires more of them.
func (s eventStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	ns := obj.Object("metadata").String("namespace")
	about := obj.Object("involvedObject").String("namespace")
	timed := obj.Has("eventTime")
	// An event about an object of the cluster lives in the namespace default.
	ofCluster := about == "" && (ns == "default" || timed && ns == s.system)
	if !ofCluster && about != ns && !(timed && about != "") {
		faults.Invalid("involvedObject.namespace", about, "does not match event.namespace")
	}
	if !timed {
		return
	}
	field.Format(obj, "reportingComponent", "", faults, rules.QualifiedName)
	for _, name := range []string{"reportingInstance", "action", "reason"} {
		validateEventText(obj, name, maxEventName, faults)
	}
	validateEventText(obj, "message", maxEventMessage, faults)
}

// The value is left out of the fault, since it is too long by definition.
func validateEventText(obj tree.Tree, name string, most int, faults *schema.Faults) {
	if len(obj.String(name)) > most {
		faults.Invalid(name, "", fmt.Sprintf("can have at most %d characters", most))
	}
}

// eventsGroupStrategy is that of the group events: Events must have the newer fields, and an
// update may change the series only.
//
// It looks at the stored form, in which the fields have the names of the core group.
type eventsGroupStrategy struct {
	schema.DefaultStrategy
	schema.Lossless
}

func (eventsGroupStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	if old == nil {
		validateEventsGroupEvent(obj, faults)
		return
	}
	if !tree.SemanticEqual(obj["series"], old["series"]) {
		validateSeries(obj, faults)
	}
	for _, name := range immutableEventFields {
		if !tree.SemanticEqual(obj[name], old[name]) {
			faults.Invalid(name, obj[name], "field is immutable")
		}
	}
}

// immutableEventFields cannot change through the group events.
var immutableEventFields = []string{
	"involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type", "eventTime",
	"action", "related", "reportingComponent", "reportingInstance",
}

// The fields of the older form must be empty, so that a reader needs to look in one place only. Names are stricter
// than in the core group, where they come from the names of any objects.
func validateEventsGroupEvent(obj tree.Tree, faults *schema.Faults) {
	rules.ValidateName(schema.NameSubdomain, obj.Object("metadata"), faults)
	validateSeries(obj, faults)
	if !obj.Has("eventTime") {
		faults.Required("eventTime")
	}
	if kind := obj.String("type"); kind != "Normal" && kind != "Warning" {
		faults.Invalid("type", "", "has invalid value: "+kind)
	}
	for _, name := range []string{"firstTimestamp", "lastTimestamp", "count", "source"} {
		if !tree.SemanticEqual(obj[name], nil) {
			faults.Invalid(name, "", "needs to be unset")
		}
	}
}

// A series is two occurrences at least; a single one is the event itself.
func validateSeries(obj tree.Tree, faults *schema.Faults) {
	series, ok := obj["series"].(tree.Tree)
	if !ok {
		return
	}
	if n, _ := series.Int("count"); n < 2 {
		faults.Invalid("series.count", "", "should be at least 2")
	}
	if !series.Has("lastObservedTime") {
		faults.Required("series.lastObservedTime")
	}
}
