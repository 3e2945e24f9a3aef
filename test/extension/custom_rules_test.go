package extension

// customRuled is a schema with rules at the root, on the spec and on its fields.
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
