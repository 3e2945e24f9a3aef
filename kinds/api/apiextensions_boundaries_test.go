package api_test

import (
	"strings"
	"testing"
)

func TestAPIExtensionValidObjects(t *testing.T) {
	warning := func(n int) string {
		return storedVersion(`"deprecated":true,"deprecationWarning":"` + strings.Repeat("a", n) + `"`)
	}
	ExpectValid(t, "apiextensions.platform.io", "v1", "CustomResourceDefinition", warning(256), definition(`,"conversion":{"strategy":"None","webhook":{}}`, versionV1), schemaOf(`{"type":"object","additionalProperties":true,"properties":{"a":{"type":"string"}}}`),
		schemaOf(`{"type":"object","x-platform-embedded-resource":true,"properties":{"a":{"type":"string"}}}`), rootSchema(`{"type":"object","description":"d"}`, `"subresources":{"status":{}}`),
		rootSchema(`{"type":"object","x-platform-preserve-unknown-fields":true}`, `"subresources":{"status":{}}`),
		schemaOf(`{"type":"array","x-platform-list-type":"set","items":{"type":"array","x-platform-list-type":"atomic","items":{"type":"string"}}}`),
		schemaOf(`{"type":"array","x-platform-list-type":"atomic","items":{"type":"string","nullable":true}}`),
		schemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string","default":"d"}}}}`))
}
