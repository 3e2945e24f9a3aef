package present

import (
	"strconv"
	"strings"
)

// eventField is a field by its name in the core group, or by the one in the group of events.
func eventField(event value, core, events string) value {
	if v := event.field(core); v != nil {
		return v
	}
	return event.field(events)
}

// firstSeen is when an event was first seen: firstTimestamp, or the newer eventTime.
func firstSeen(r *row) string {
	if t := r.json.field("firstTimestamp"); t.exists() {
		return t.text()
	}
	if t := r.json.field("deprecatedFirstTimestamp"); t.exists() {
		return t.text()
	}
	return r.json.field("eventTime").text()
}

func showEventFirstSeen(b []byte, r *row, _ string) []byte {
	return appendAge(b, firstSeen(r), r.now)
}

func showEventLastSeen(b []byte, r *row, _ string) []byte {
	for _, path := range []string{"series.lastObservedTime", "lastTimestamp", "deprecatedLastTimestamp"} {
		if t := r.json.at(path); t.exists() {
			return appendAge(b, t.text(), r.now)
		}
	}
	return appendAge(b, firstSeen(r), r.now)
}

func showEventCount(b []byte, r *row, _ string) []byte {
	for _, path := range []string{"series.count", "count", "deprecatedCount"} {
		if n := r.json.at(path).number(); n > 0 {
			return strconv.AppendInt(b, n, 10)
		}
	}
	return append(b, '1')
}

func showEventObject(b []byte, r *row, _ string) []byte {
	about := eventField(r.json, "involvedObject", "regarding")
	s := strings.ToLower(about.field("kind").text())
	if name := about.field("name").text(); name != "" {
		s += "/" + name
	}
	return appendText(b, s)
}

// showEventSubobject names the part of the object that an event is about.
func showEventSubobject(b []byte, r *row, _ string) []byte {
	return appendText(b, eventField(r.json, "involvedObject", "regarding").field("fieldPath").text())
}

func showEventSource(b []byte, r *row, _ string) []byte {
	source := eventField(r.json, "source", "deprecatedSource")
	component, host := source.field("component").text(), source.field("host").text()
	if component == "" {
		component = r.json.field("reportingComponent").text()
	}
	if component == "" {
		component = r.json.field("reportingController").text()
	}
	if host == "" {
		host = r.json.field("reportingInstance").text()
	}
	if host != "" {
		component += ", " + host
	}
	return appendText(b, component)
}

func showEventMessage(b []byte, r *row, _ string) []byte {
	return appendText(b, strings.TrimSpace(eventField(r.json, "message", "note").text()))
}
