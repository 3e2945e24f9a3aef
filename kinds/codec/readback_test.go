package codec

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestReadBack(t *testing.T) {
	place, err := DecodeStored(thingPlan, []byte(metaJSON))
	if err != nil {
		t.Fatal(err)
	}
	metadata := place["metadata"].(tree.Tree)
	var key meta.Key
	key.Name, _ = metadata["name"].(string)
	key.Namespace, _ = metadata["namespace"].(string)
	if err := ReadBack(thing, key, []byte(metaJSON)); err != nil {
		t.Error(err)
	}
	for i := range len(metaJSON) {
		cut := metaJSON[:i] + "\x01" + metaJSON[i+1:]
		if _, err := DecodeStored(thingPlan, []byte(cut)); err != nil && ReadBack(thing, key, []byte(cut)) == nil {
			t.Errorf("passes %q, but %v", cut, err)
		}
	}
	for _, bad := range []string{
		"", "{", "[]", strings.Replace(metaJSON, `"metadata"`, `"metadata":{},"metadata"`, 1), metaJSON + "x",
		strings.Replace(metaJSON, `"name":"`, `"name":"x`, 1), strings.Replace(metaJSON, `"metadata"`, "\"\xff\":1,\"metadata\"", 1),
	} {
		if ReadBack(thing, key, []byte(bad)) == nil {
			t.Errorf("passes %q", bad)
		}
	}
}
