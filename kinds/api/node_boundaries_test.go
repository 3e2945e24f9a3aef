package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestNodeBoundaries(t *testing.T) {
	RunBodyCases(t, KindByGVK(t, meta.Platform, "node.platform.io", "v1", "RuntimeClass"), []BodyCase{
		{Body: `{"handler":"r","scheduling":{"tolerations":[{"value":"a"}]}}`, Want: []string{
			"scheduling.tolerations[0].operator: Invalid value: \"\": operator must be Exists when `key` is empty, which means \"match all values and all keys\""}}})
}
