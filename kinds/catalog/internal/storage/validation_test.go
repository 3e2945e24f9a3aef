package storage_test

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
	catalogtest.RunBodyCases(t, catalogtest.CoreKind(t, meta.Platform, "PersistentVolume"), []catalogtest.BodyCase{
		{Body: catalogtest.Volume(catalogtest.CSIVolume + `,"volumeAttributesClassName":"A"`), Want: []string{`spec.volumeAttributesClassName: Invalid value: "A": a lowercase RFC 1123 subdomain…`}},
		{Body: catalogtest.Volume(`"glusterfs":{"endpoints":"e","path":"p","endpointsNamespace":"A"}`), Want: []string{`spec.glusterfs.endpointsNamespace: Invalid value: "A": a lowercase RFC 1123 label…`}}})
	claims := catalogtest.CoreKind(t, meta.Platform, "PersistentVolumeClaim")
	const source = `{"kind":"PersistentVolumeClaim","name":"a"}`
	old := catalogtest.Named(claims, catalogtest.Parse(t, catalogtest.BoundClaim(`,"volumeMode":"Filesystem","dataSource":`+source+`,"dataSourceRef":`+source, ``)))
	now := catalogtest.Named(claims, catalogtest.Parse(t, catalogtest.Claim(`,"dataSource":`+source+`,"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"a","namespace":"B"}`)))
	catalogtest.Expect(t, "source of another namespace", catalogtest.Update(claims, now, old), []string{`spec.dataSourceRef.namespace: Invalid value: "B": a lowercase RFC 1123 label…`,
		`spec: Invalid value: ` + source + `: may not be specified when dataSourceRef.namespace is specified`, `spec: Forbidden: spec is immutable after creation…`})
}
