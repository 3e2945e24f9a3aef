package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestStorageValidation(t *testing.T) {
	RunBodyCases(t, KindByGVK(t, meta.Platform, StorageGroup, "v1", "VolumeAttributesClass"), []BodyCase{
		{Body: `{"driverName":"a","parameters":{"":"b"}}`, Want: []string{`parameters: Invalid value: "": field can not be empty.`}}})
	k := KindByGVK(t, meta.Platform, StorageGroup, "v1", "VolumeAttachment")
	obj := Named(k, Parse(t, `{"spec":{"attacher":"a_b","nodeName":"n","source":{"persistentVolumeName":"v"}}}`))
	obj["status"] = tree.Tree{"attached": true, "attachmentMetadata": tree.Tree{"a": strings.Repeat("x", 256<<10)}}
	Expect(t, "attachment", Lines(rules.Validate(k, obj)), []string{`spec.attacher: Invalid value: "a_b": a lowercase RFC 1123 subdomain…`, "status.attachmentMetadata: Too long: may not be more than 262144 bytes"})
}
