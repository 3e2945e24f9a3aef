package table

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

// eventField returns a field of an Event by either of its names, which differ between the core
// group and events.k8s.io.
func eventField(event *jsontext.Object, core, events string) jsontext.Value {
	if v := event.Field(core); v != nil {
		return v
	}
	return event.Field(events)
}

func firstSeen(r *row) string {
	if t := r.json.Field("firstTimestamp"); t.Exists() {
		return t.Text()
	}
	if t := r.json.Field("deprecatedFirstTimestamp"); t.Exists() {
		return t.Text()
	}
	return r.json.Field("eventTime").Text()
}

func showEventFirstSeen(r *row, _ string) string {
	return Age(firstSeen(r), r.now)
}

func showEventLastSeen(r *row, _ string) string {
	for _, path := range []string{"series.lastObservedTime", "lastTimestamp", "deprecatedLastTimestamp"} {
		if t := r.json.At(path); t.Exists() {
			return Age(t.Text(), r.now)
		}
	}
	return Age(firstSeen(r), r.now)
}

func showEventCount(b []byte, r *row, _ string) []byte {
	for _, path := range []string{"series.count", "count", "deprecatedCount"} {
		if n := r.json.At(path).Int(); n > 0 {
			return strconv.AppendInt(b, n, 10)
		}
	}
	return append(b, '1')
}

func showEventObject(r *row, _ string) string {
	about := eventField(&r.json, "involvedObject", "regarding")
	s := strings.ToLower(about.Field("kind").Text())
	if name := about.Field("name").Text(); name != "" {
		s += "/" + name
	}
	return s
}

func showEventSubobject(r *row, _ string) string {
	return eventField(&r.json, "involvedObject", "regarding").Field("fieldPath").Text()
}

func showEventSource(r *row, _ string) string {
	source := eventField(&r.json, "source", "deprecatedSource")
	component, host := source.Field("component").Text(), source.Field("host").Text()
	if component == "" {
		component = r.json.Field("reportingComponent").Text()
	}
	if component == "" {
		component = r.json.Field("reportingController").Text()
	}
	if host == "" {
		host = r.json.Field("reportingInstance").Text()
	}
	if host != "" {
		component += ", " + host
	}
	return component
}

// showEventMessage shows the message, trimmed because a trailing newline would break the row.
func showEventMessage(r *row, _ string) string {
	return strings.TrimSpace(eventField(&r.json, "message", "note").Text())
}
