package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

const newEvent = `"eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"a.b/c","reportingInstance":"i","action":"a","reason":"r","type":"Normal","regarding":{"namespace":"ns"}`

func TestEventNamespaces(t *testing.T) {
	timed := strings.Replace(newEvent, "reportingController", "reportingComponent", 1)
	runValidationCases(t, coreKind(t, meta.Platform, "Event"), []validationCase{
		{obj: `{"metadata":{"namespace":"platform-system"},"involvedObject":{}}`, want: []string{`involvedObject.namespace: Invalid value: "": does not match event.namespace`}},
		{obj: `{"metadata":{"namespace":"platform-system"},` + timed + `,"involvedObject":{}}`},
		{obj: `{` + timed + `,"involvedObject":{}}`, want: []string{`involvedObject.namespace: Invalid value: "": does not match event.namespace`}},
		{obj: `{` + timed + `,"involvedObject":{"namespace":"other"}}`},
		{obj: `{` + timed + `,"involvedObject":{"namespace":"ns"},"message":"` + strings.Repeat("m", 1025) + `"}`, want: []string{`message: Invalid value: "": can have at most 1024 characters`}},
	})
}

func TestNewEvent(t *testing.T) {
	k := kindInGroup(t, meta.Platform, "events.platform.io", "Event")
	for _, c := range []validationCase{
		{obj: `{` + newEvent + `}`},
		{obj: `{` + newEvent + `,"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}}`},
		{obj: `{` + newEvent + `,"series":{"count":1}}`, want: []string{`series.count: Invalid value: "": should be at least 2`, `series.lastObservedTime: Required value`}},
		{obj: `{"regarding":{"namespace":"ns"},"type":"Normal"}`, want: []string{`eventTime: Required value`}},
		{obj: `{` + strings.Replace(newEvent, "Normal", "Odd", 1) + `}`, want: []string{`type: Invalid value: "": has invalid value: Odd`}},
		{obj: `{` + newEvent + `,"deprecatedCount":1,"deprecatedSource":{"host":"h"},"deprecatedFirstTimestamp":"2026-01-01T00:00:00Z","deprecatedLastTimestamp":"2026-01-01T00:00:00Z"}`, want: []string{
			`firstTimestamp: Invalid value: "": needs to be unset`, `lastTimestamp: Invalid value: "": needs to be unset`, `count: Invalid value: "": needs to be unset`, `source: Invalid value: "": needs to be unset`}},
		{old: `{` + newEvent + `}`, obj: `{` + newEvent + `,"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}}`},
		{old: `{` + newEvent + `}`, obj: `{` + newEvent + `,"series":{"count":1,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}}`, want: []string{`series.count: Invalid value: "": should be at least 2`}},
		{old: `{` + newEvent + `}`, obj: `{` + strings.Replace(newEvent, `"Normal"`, `"Warning"`, 1) + `,"note":"n"}`, want: []string{`message: Invalid value: "n": field is immutable`, `type: Invalid value: "Warning": field is immutable`}},
	} {
		obj := convert.ToStored(k, named(k, parseTree(t, c.obj)))
		if c.old == "" {
			expect(t, c.obj, lines(append(rules.Validate(k.Stored, obj), rules.ValidateServed(k, obj, nil)...)), c.want)
			continue
		}
		old := convert.ToStored(k, named(k, parseTree(t, c.old)))
		expect(t, c.old+" → "+c.obj, lines(append(rules.Validate(k.Stored, obj), rules.ValidateServed(k, obj, old)...)), c.want)
	}
}

func TestEventConversion(t *testing.T) {
	k := kindInGroup(t, meta.Kubernetes, "events.platform.io", "Event")
	if k.Stored != coreKind(t, meta.Kubernetes, "Event") && k.Stored.Group != "" {
		t.Fatalf("stored as %s", k.Stored.APIVersion())
	}
	const whole = `{"metadata":{"name":"x"},"eventTime":"2026-01-01T00:00:00.000000Z","series":{"count":2},"reportingController":"a","reportingInstance":"i",
		"action":"a","reason":"r","regarding":{"kind":"Pod"},"related":{"kind":"Node"},"note":"n","type":"Normal","deprecatedSource":{"host":"h"},
		"deprecatedFirstTimestamp":"2026-01-01T00:00:00Z","deprecatedLastTimestamp":"2026-01-02T00:00:00Z","deprecatedCount":3}`
	stored := k.Conversion.ToStored(parseTree(t, whole))
	equalJSON(t, "stored", stored, `{"metadata":{"name":"x"},"eventTime":"2026-01-01T00:00:00.000000Z","series":{"count":2},"reportingComponent":"a","reportingInstance":"i",
		"action":"a","reason":"r","involvedObject":{"kind":"Pod"},"related":{"kind":"Node"},"message":"n","type":"Normal","source":{"host":"h"},
		"firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-02T00:00:00Z","count":3}`)
	for name := range stored {
		if k.Stored.Message.Field(name) == nil {
			t.Errorf("the stored form has no field %s", name)
		}
	}
	equalJSON(t, "and back", k.Conversion.FromStored(stored), whole)
}
