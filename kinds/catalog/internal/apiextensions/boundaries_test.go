package apiextensions_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
)

// TestValidObjects has objects that are just within the limits.
func TestValidObjects(t *testing.T) {
	warning := func(n int) string {
		return catalogtest.Version(`"deprecated":true,"deprecationWarning":"` + strings.Repeat("a", n) + `"`)
	}
	catalogtest.ExpectValid(t, "apiextensions.platform.io", "v1", "CustomResourceDefinition", warning(256), catalogtest.Definition(`,"conversion":{"strategy":"None","webhook":{}}`, catalogtest.V1Version), catalogtest.SchemaOf(`{"type":"object","additionalProperties":true,"properties":{"a":{"type":"string"}}}`),
		catalogtest.SchemaOf(`{"type":"object","x-platform-embedded-resource":true,"properties":{"a":{"type":"string"}}}`), catalogtest.RootSchema(`{"type":"object","description":"d"}`, `"subresources":{"status":{}}`),
		catalogtest.RootSchema(`{"type":"object","x-platform-preserve-unknown-fields":true}`, `"subresources":{"status":{}}`),
		catalogtest.SchemaOf(`{"type":"array","x-platform-list-type":"set","items":{"type":"array","x-platform-list-type":"atomic","items":{"type":"string"}}}`),
		catalogtest.SchemaOf(`{"type":"array","x-platform-list-type":"atomic","items":{"type":"string","nullable":true}}`),
		catalogtest.SchemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string","default":"d"}}}}`))
}
