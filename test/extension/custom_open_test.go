package extension

// customNested has a rule about fields two levels down, a default for the status, and two lists
// that preserve unknown fields, one of them of the type map.
const customNested = `{"type":"object","x-platform-validations":[{"rule":"self.spec.inner.size > 1 && (!has(self.spec.inner.parts) || self.spec.inner.parts.all(p, p.n < 9))"}],"properties":{
	"spec":{"type":"object","required":["inner"],"properties":{
		"inner":{"type":"object","required":["size"],"properties":{"size":{"type":"integer"},"parts":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}}}},
		"any":{"type":"array","x-platform-preserve-unknown-fields":true,"items":{"type":"object","properties":{"known":{"type":"object","properties":{"a":{"type":"integer"}}}}}},
		"keyed":{"type":"array","x-platform-preserve-unknown-fields":true,"x-platform-list-type":"map","x-platform-list-map-keys":["name"],
			"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}}}},
	"status":{"type":"object","default":{"phase":"new"},"properties":{"phase":{"type":"string"}}}}}`
