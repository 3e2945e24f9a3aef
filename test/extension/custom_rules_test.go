package extension

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// customRuled is a schema whose spec has rules, and rules of its own for some of its fields.
const customRuled = `{"type":"object","x-platform-validations":[{"rule":"self.metadata.name.startsWith('w')"}],"properties":{"spec":{"type":"object",
	"x-platform-validations":[
		{"rule":"self.low <= self.high","messageExpression":"'low is ' + (self.low == 3 ? 'three' : 'much')","fieldPath":".low"},
		{"rule":"!has(self.secret)","message":"no secrets","reason":"FieldValueForbidden"}],
	"properties":{
		"low":{"type":"integer"},"high":{"type":"integer","x-platform-validations":[{"rule":"self >= oldSelf","message":"no shrinking"}]},
		"secret":{"type":"string"},
		"once":{"type":"string","x-platform-validations":[{"rule":"oldSelf.hasValue() ? self == oldSelf.value() : self != 'x'","optionalOldSelf":true}]},
		"max-size":{"type":"number","x-platform-validations":[{"rule":"self < 2.5"}]},
		"when":{"type":"string","format":"date-time","x-platform-validations":[{"rule":"self.getFullYear() > 2000"}]},
		"map":{"type":"object","maxProperties":10,"additionalProperties":{"type":"integer"},"x-platform-validations":[{"rule":"self.all(k, self[k] > 0)"}]},
		"parts":{"type":"array","maxItems":10,"x-platform-list-type":"map","x-platform-list-map-keys":["name"],"items":{"type":"object","required":["name"],
			"properties":{"name":{"type":"string"},"n":{"type":"integer","x-platform-validations":[{"rule":"self != oldSelf + 1"}]}}}}}}}}`

func TestCustomRules(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{schema: customRuled, more: `,"subresources":{"status":{}}`})
	for _, test := range []struct{ name, spec, want string }{
		{"x", `{"low":1,"high":2}`, `<nil>: Invalid value: failed rule: self.metadata.name.startsWith('w')`},
		{"w", `{"low":3,"high":2}`, `spec.low: Invalid value: low is three`},
		{"w", `{"high":2}`, `spec: Invalid value: "object": no such key: low evaluating rule: self.low <= self.high`},
		{"w", `{"low":1,"high":2,"secret":"s"}`, `spec: Forbidden: no secrets`},
		{"w", `{"low":1,"high":2,"once":"x"}`, `spec.once: Invalid value: "x": failed rule: oldSelf.hasValue() ? self == oldSelf.value() : self != 'x'`},
		{"w", `{"low":1,"high":2,"max-size":3}`, `spec.max-size: Invalid value: 3: failed rule: self < 2.5`},
		{"w", `{"low":1,"high":2,"when":"1999-01-01T00:00:00Z"}`, `spec.when: Invalid value: "1999-01-01T00:00:00Z": failed rule: self.getFullYear() > 2000`},
		{"w", `{"low":1,"high":2,"map":{"a":0}}`, `spec.map: Invalid value: failed rule: self.all(k, self[k] > 0)`},
	} {
		answer := s.Send(422, "POST", widgets, client.JSON, widget(test.name, `,"spec":`+test.spec))
		message, _ := answer.Object()["message"].(string)
		_, got, _ := strings.Cut(message, " is invalid: ")
		s.check(test.spec, got, test.want)
	}
	s.create("w", `,"spec":{"low":1,"high":5,"once":"a","max-size":2,"when":"2020-01-01T00:00:00Z","map":{"a":1},"parts":[{"name":"a","n":1}]}`)
	for patch, want := range map[string]string{
		`{"spec":{"high":4}}`:                         `spec.high: Invalid value: 4: no shrinking`,
		`{"spec":{"once":"b"}}`:                       `spec.once: Invalid value: "b": failed rule: oldSelf.hasValue() ? self == oldSelf.value() : self != 'x'`,
		`{"spec":{"parts":[{"name":"a","n":2}]}}`:     `spec.parts[0].n: Invalid value: 2: failed rule: self != oldSelf + 1`,
		`{"spec":{"low":9},"metadata":{"labels":{}}}`: `spec.low: Invalid value: low is much`,
	} {
		message, _ := s.Send(422, "PATCH", widgets+"/w", client.MergePatch, patch).Object()["message"].(string)
		_, got, _ := strings.Cut(message, " is invalid: ")
		s.check(patch, got, want)
	}
	s.Send(200, "PATCH", widgets+"/w", client.MergePatch, `{"spec":{"high":6,"parts":[{"name":"a","n":4},{"name":"b","n":9}]}}`)
}

// advice is what faults of costs end with.
const advice = "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared"

// TestFunctionsOfRules defines a kind whose rules call functions of every library.
func TestFunctionsOfRules(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	rules := []string{
		`isIP(self.ip) && ip(self.ip).family() == 4 && cidr('10.0.0.0/8').containsIP(self.ip)`, `isCIDR('10.0.0.0/8')`, `!format.dns1123Label().validate(self.name).hasValue()`,
		`self.list.sort() == [1, 2, 3]`, `self.list.distinct().size() == 3`, `url(self.url).getQuery()['q'] == ['1']`, `quantity(self.quantity).isGreaterThan(quantity('1k'))`,
		`semver('v1.2', true).minor() == 2`, `self.set == ['b', 'a']`, `self.?name.orValue('') != ''`, `self.list.all(i, v, i < v)`, `self.deep.below.size.value == 1`, `self.deep.below == self.deep.below`,
		`self.namespace == 'n' && self.__in__ == 'i'`,
	}
	var list []string
	for _, rule := range rules {
		list = append(list, `{"rule":"`+rule+`"}`)
	}
	s.define(customDefinition{schema: `{"type":"object","properties":{"spec":{"type":"object","x-platform-validations":[` + strings.Join(list, ",") + `],"properties":{
		"ip":{"type":"string","maxLength":40},"name":{"type":"string","maxLength":40},"url":{"type":"string","maxLength":40},"quantity":{"type":"string","maxLength":40},
		"list":{"type":"array","maxItems":9,"items":{"type":"integer"}},"set":{"type":"array","maxItems":9,"x-platform-list-type":"set","items":{"type":"string","maxLength":9}},
		"deep":{"type":"object","properties":{"below":{"type":"object","properties":{"size":{"type":"object","properties":{"value":{"type":"integer"}}}}}}},
		"namespace":{"type":"string","maxLength":9},"in":{"type":"string","maxLength":9}}}}}`})
	const good = `"ip":"10.1.2.3","name":"a","url":"https://x/?q=1","quantity":"1Ki","list":[1,2,3],"set":["a","b"],"deep":{"below":{"size":{"value":1}}},"namespace":"n","in":"i"`
	s.create("w", `,"spec":{`+good+`}`)
	for _, test := range []struct{ old, bad, rule string }{
		{"10.1.2.3", "11.1.2.3", rules[0]}, {`"name":"a"`, `"name":"A"`, rules[2]}, {"[1,2,3]", "[1,2,3,4]", rules[3]}, {"1Ki", "1", rules[6]}, {`["a","b"]`, `["a"]`, rules[8]}, {`"value":1`, `"value":2`, rules[11]},
	} {
		answer := s.Send(422, "POST", widgets, client.JSON, widget("x", `,"spec":{`+strings.Replace(good, test.old, test.bad, 1)+`}`))
		if !strings.Contains(answer.Object()["message"].(string), "failed rule: "+test.rule) {
			t.Errorf("%s: %s", test.bad, answer)
		}
	}
}

func TestRulesOfDefinitions(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	const at = "spec.validation.openAPIV3Schema.properties[spec]"
	for _, test := range []struct{ rule, want string }{
		{`{"rule":"self.nope > 1"}`, at + `.x-platform-validations[0].rule: Invalid value: {"Rule":"self.nope \u003e 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'nope'`},
		{`{"rule":"self.a"}`, `rule: Invalid value: {"Rule":"self.a","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool`},
		{`{"rule":" "}`, `rule: Required value: rule is not specified`},
		{`{"rule":"true","messageExpression":"1"}`, `"OptionalOldSelf":null}: messageExpression must evaluate to a string`},
		{`{"rule":"true","messageExpression":"x"}`, `: messageExpression compilation failed: ERROR: <input>:1:1: undeclared reference to 'x'`},
		{`{"rule":"self.a.matches('a+b') && self.a.matches('c+d') && self.l.all(x, x.contains(self.a))"}`, at + `.x-platform-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (` + advice + `)`},
		{`{"rule":"self.l.all(x, x != 'a' && x != 'b' && x != 'c' && x != 'd')"}`, at + `.x-platform-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 1.1`},
		{`{"rule":"true","messageExpression":"'a' + string(self.n)"}`, at + `.x-platform-validations[0].messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x (` + advice + `)`},
		{`{"rule":"self.l.all(x, self.l.all(y, x == y))"}`, `spec.validation.openAPIV3Schema: Forbidden: x-platform-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (` + advice + `)`},
		{`{"rule":"self.l.all(x, self.l.all(y, x == y))"}`, at + `.x-platform-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`},
		{`{"rule":"true","fieldPath":".x"}`, `fieldPath: Invalid value: ".x": must be a valid path`},
		{`{"rule":"true","reason":"Why"}`, `reason: Unsupported value: "Why"`},
		{`{"rule":"true","optionalOldSelf":true}`, `may not be set if oldSelf is not used in rule`},
	} {
		schema := `{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer"},"l":{"type":"array","items":{"type":"string"}}},"x-platform-validations":[` + test.rule + `]}}}`
		answer := s.Send(422, "POST", customDefinitions, client.JSON, customDefinition{schema: schema}.String())
		if message, _ := answer.Object()["message"].(string); !strings.Contains(message, test.want) {
			t.Errorf("%s: %s, want %s", test.rule, message, test.want)
		}
	}
	schema := `{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer","x-platform-validations":[{"rule":"self > oldSelf"}]}}}}`
	if answer := s.Send(422, "POST", customDefinitions, client.JSON, customDefinition{schema: schema}.String()); !strings.Contains(answer.String(), "uncorrelatable") {
		t.Errorf("a list without keys: %s", answer)
	}
}
