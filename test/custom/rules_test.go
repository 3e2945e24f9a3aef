package custom

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// ruled is a schema whose spec has rules, and rules of its own for some of its fields.
const ruled = `{"type":"object","x-platform-validations":[{"rule":"self.metadata.name.startsWith('w')"}],"properties":{"spec":{"type":"object",
	"x-platform-validations":[
		{"rule":"self.low <= self.high","messageExpression":"'low is ' + string(self.low)","fieldPath":".low"},
		{"rule":"!has(self.secret)","message":"no secrets","reason":"FieldValueForbidden"}],
	"properties":{
		"low":{"type":"integer"},"high":{"type":"integer","x-platform-validations":[{"rule":"self >= oldSelf","message":"no shrinking"}]},
		"secret":{"type":"string"},
		"once":{"type":"string","x-platform-validations":[{"rule":"oldSelf.hasValue() ? self == oldSelf.value() : self != 'x'","optionalOldSelf":true}]},
		"max-size":{"type":"number","x-platform-validations":[{"rule":"self < 2.5"}]},
		"when":{"type":"string","format":"date-time","x-platform-validations":[{"rule":"self.getFullYear() > 2000"}]},
		"map":{"type":"object","additionalProperties":{"type":"integer"},"x-platform-validations":[{"rule":"self.all(k, self[k] > 0)"}]},
		"parts":{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["name"],"items":{"type":"object","required":["name"],
			"properties":{"name":{"type":"string"},"n":{"type":"integer","x-platform-validations":[{"rule":"self != oldSelf + 1"}]}}}}}}}}`

func TestRules(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.define(definition{schema: ruled, more: `,"subresources":{"status":{}}`})
	for _, test := range []struct{ name, spec, want string }{
		{"x", `{"low":1,"high":2}`, `<nil>: Invalid value: failed rule: self.metadata.name.startsWith('w')`},
		{"w", `{"low":3,"high":2}`, `spec.low: Invalid value: low is 3`},
		{"w", `{"high":2}`, `spec: Invalid value: no such key: low evaluating rule: self.low <= self.high`},
		{"w", `{"low":1,"high":2,"secret":"s"}`, `spec: Forbidden: no secrets`},
		{"w", `{"low":1,"high":2,"once":"x"}`, `spec.once: Invalid value: "x": failed rule: oldSelf.hasValue() ? self == oldSelf.value() : self != 'x'`},
		{"w", `{"low":1,"high":2,"max-size":3}`, `spec.max-size: Invalid value: 3: failed rule: self < 2.5`},
		{"w", `{"low":1,"high":2,"when":"1999-01-01T00:00:00Z"}`, `spec.when: Invalid value: "1999-01-01T00:00:00Z": failed rule: self.getFullYear() > 2000`},
		{"w", `{"low":1,"high":2,"map":{"a":0}}`, `spec.map: Invalid value: failed rule: self.all(k, self[k] > 0)`},
	} {
		answer := s.Send(422, "POST", widgets, client.JSON, widget(test.name, `,"spec":`+test.spec))
		message, _ := answer.Object()["message"].(string)
		_, got, _ := strings.Cut(message, " is invalid: ")
		s.check(test.spec, got, strings.TrimPrefix(test.want, "<nil>: "))
	}
	s.create("w", `,"spec":{"low":1,"high":5,"once":"a","max-size":2,"when":"2020-01-01T00:00:00Z","map":{"a":1},"parts":[{"name":"a","n":1}]}`)
	for patch, want := range map[string]string{
		`{"spec":{"high":4}}`:                         `spec.high: Invalid value: 4: no shrinking`,
		`{"spec":{"once":"b"}}`:                       `spec.once: Invalid value: "b": failed rule: oldSelf.hasValue() ? self == oldSelf.value() : self != 'x'`,
		`{"spec":{"parts":[{"name":"a","n":2}]}}`:     `spec.parts[0].n: Invalid value: 2: failed rule: self != oldSelf + 1`,
		`{"spec":{"low":9},"metadata":{"labels":{}}}`: `spec.low: Invalid value: low is 9`,
	} {
		message, _ := s.Send(422, "PATCH", widgets+"/w", client.MergePatch, patch).Object()["message"].(string)
		_, got, _ := strings.Cut(message, " is invalid: ")
		s.check(patch, got, want)
	}
	s.Send(200, "PATCH", widgets+"/w", client.MergePatch, `{"spec":{"high":6,"parts":[{"name":"a","n":4},{"name":"b","n":9}]}}`)
}

func TestRulesOfDefinitions(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	const at = "spec.validation.openAPIV3Schema.properties[spec]"
	for _, test := range []struct{ rule, want string }{
		{`{"rule":"self.nope > 1"}`, at + `.x-platform-validations[0].rule: Invalid value: {"Rule":"self.nope \u003e 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'nope'`},
		{`{"rule":"self.a"}`, `must evaluate to bool`},
		{`{"rule":" "}`, `rule: Required value: rule is not specified`},
		{`{"rule":"true","messageExpression":"1"}`, `messageExpression: Invalid value: `},
		{`{"rule":"true","fieldPath":".x"}`, `fieldPath: Invalid value: ".x": must be a valid path`},
		{`{"rule":"true","reason":"Why"}`, `reason: Unsupported value: "Why"`},
		{`{"rule":"true","optionalOldSelf":true}`, `may not be set if oldSelf is not used in rule`},
	} {
		schema := `{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}},"x-platform-validations":[` + test.rule + `]}}}`
		answer := s.Send(422, "POST", definitions, client.JSON, definition{schema: schema}.String())
		if message, _ := answer.Object()["message"].(string); !strings.Contains(message, test.want) {
			t.Errorf("%s: %s, want %s", test.rule, message, test.want)
		}
	}
	schema := `{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer","x-platform-validations":[{"rule":"self > oldSelf"}]}}}}`
	if answer := s.Send(422, "POST", definitions, client.JSON, definition{schema: schema}.String()); !strings.Contains(answer.String(), "uncorrelatable") {
		t.Errorf("a list without keys: %s", answer)
	}
}
