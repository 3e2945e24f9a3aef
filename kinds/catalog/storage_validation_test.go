package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestStorageValidation(t *testing.T) {
	catalogtest.RunBodyCases(t, catalogtest.KindByGVK(t, meta.Platform, catalogtest.StorageGroup, "v1", "VolumeAttributesClass"), []catalogtest.BodyCase{
		{Body: `{"driverName":"a","parameters":{"":"b"}}`, Want: []string{`parameters: Invalid value: "": field can not be empty.`}}})
	k := catalogtest.KindByGVK(t, meta.Platform, catalogtest.StorageGroup, "v1", "VolumeAttachment")
	obj := catalogtest.Named(k, catalogtest.Parse(t, `{"spec":{"attacher":"a_b","nodeName":"n","source":{"persistentVolumeName":"v"}}}`))
	obj["status"] = tree.Tree{"attached": true, "attachmentMetadata": tree.Tree{"a": strings.Repeat("x", 256<<10)}}
	catalogtest.Expect(t, "attachment", catalogtest.Lines(rules.Validate(k, obj)), []string{`spec.attacher: Invalid value: "a_b": a lowercase RFC 1123 subdomain…`, "status.attachmentMetadata: Too long: may not be more than 262144 bytes"})
}
