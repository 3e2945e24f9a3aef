package api_test

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
	RunValidationCases(t, CoreKind(t, meta.Platform, "Event"), []ValidationCase{
		{Obj: `{"metadata":{"namespace":"platform-system"},"involvedObject":{}}`, Want: []string{`involvedObject.namespace: Invalid value: "": does not match event.namespace`}},
		{Obj: `{"metadata":{"namespace":"platform-system"},` + timed + `,"involvedObject":{}}`},
		{Obj: `{` + timed + `,"involvedObject":{}}`, Want: []string{`involvedObject.namespace: Invalid value: "": does not match event.namespace`}},
		{Obj: `{` + timed + `,"involvedObject":{"namespace":"other"}}`},
		{Obj: `{` + timed + `,"involvedObject":{"namespace":"ns"},"message":"` + strings.Repeat("m", 1025) + `"}`, Want: []string{`message: Invalid value: "": can have at most 1024 characters`}},
	})
}

func TestNewEvent(t *testing.T) {
	k := KindInGroup(t, meta.Platform, "events.platform.io", "Event")
	for _, c := range []ValidationCase{
		{Obj: `{` + newEvent + `}`},
		{Obj: `{` + newEvent + `,"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}}`},
		{Obj: `{` + newEvent + `,"series":{"count":1}}`, Want: []string{`series.count: Invalid value: "": should be at least 2`, `series.lastObservedTime: Required value`}},
		{Obj: `{"regarding":{"namespace":"ns"},"type":"Normal"}`, Want: []string{`eventTime: Required value`}},
		{Obj: `{` + strings.Replace(newEvent, "Normal", "Odd", 1) + `}`, Want: []string{`type: Invalid value: "": has invalid value: Odd`}},
		{Obj: `{` + newEvent + `,"deprecatedCount":1,"deprecatedSource":{"host":"h"},"deprecatedFirstTimestamp":"2026-01-01T00:00:00Z","deprecatedLastTimestamp":"2026-01-01T00:00:00Z"}`, Want: []string{
			`firstTimestamp: Invalid value: "": needs to be unset`, `lastTimestamp: Invalid value: "": needs to be unset`, `count: Invalid value: "": needs to be unset`, `source: Invalid value: "": needs to be unset`}},
		{Old: `{` + newEvent + `}`, Obj: `{` + newEvent + `,"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}}`},
		{Old: `{` + newEvent + `}`, Obj: `{` + newEvent + `,"series":{"count":1,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}}`, Want: []string{`series.count: Invalid value: "": should be at least 2`}},
		{Old: `{` + newEvent + `}`, Obj: `{` + strings.Replace(newEvent, `"Normal"`, `"Warning"`, 1) + `,"note":"n"}`, Want: []string{`message: Invalid value: "n": field is immutable`, `type: Invalid value: "Warning": field is immutable`}},
	} {
		obj := convert.ToStored(k, Named(k, Parse(t, c.Obj)))
		if c.Old == "" {
			Expect(t, c.Obj, Lines(append(rules.Validate(k.Stored, obj), rules.ValidateServed(k, obj, nil)...)), c.Want)
			continue
		}
		old := convert.ToStored(k, Named(k, Parse(t, c.Old)))
		Expect(t, c.Old+" → "+c.Obj, Lines(append(rules.Validate(k.Stored, obj), rules.ValidateServed(k, obj, old)...)), c.Want)
	}
}

func TestEventConversion(t *testing.T) {
	k := KindInGroup(t, meta.Kubernetes, "events.platform.io", "Event")
	if k.Stored != CoreKind(t, meta.Kubernetes, "Event") && k.Stored.Group != "" {
		t.Fatalf("stored as %s", k.Stored.APIVersion())
	}
	const whole = `{"metadata":{"name":"x"},"eventTime":"2026-01-01T00:00:00.000000Z","series":{"count":2},"reportingController":"a","reportingInstance":"i",
		"action":"a","reason":"r","regarding":{"kind":"Pod"},"related":{"kind":"Node"},"note":"n","type":"Normal","deprecatedSource":{"host":"h"},
		"deprecatedFirstTimestamp":"2026-01-01T00:00:00Z","deprecatedLastTimestamp":"2026-01-02T00:00:00Z","deprecatedCount":3}`
	stored := k.Conversion.ToStored(Parse(t, whole))
	EqualJSON(t, "stored", stored, `{"metadata":{"name":"x"},"eventTime":"2026-01-01T00:00:00.000000Z","series":{"count":2},"reportingComponent":"a","reportingInstance":"i",
		"action":"a","reason":"r","involvedObject":{"kind":"Pod"},"related":{"kind":"Node"},"message":"n","type":"Normal","source":{"host":"h"},
		"firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-02T00:00:00Z","count":3}`)
	for name := range stored {
		if k.Stored.Message().Field(name) == nil {
			t.Errorf("the stored form has no field %s", name)
		}
	}
	EqualJSON(t, "and back", k.Conversion.FromStored(stored), whole)
}
