package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestStorageBoundaries(t *testing.T) {
	ExpectValid(t, StorageGroup, "v1", "VolumeAttachment", `{"spec":{"attacher":"a","nodeName":"n","source":{"inlineVolumeSpec":{"accessModes":["ReadWriteOnce"],`+CSIVolume+`,"persistentVolumeReclaimPolicy":"Retain","volumeMode":"Filesystem"}}}}`)
}

func TestStorageStatusLimits(t *testing.T) {
	k := KindByGVK(t, meta.Platform, StorageGroup, "v1", "VolumeAttachment")
	obj := Named(k, Parse(t, `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`))
	obj["status"] = tree.Tree{"attached": true, "attachmentMetadata": tree.Tree{"a": strings.Repeat("x", 256<<10-1)}, "attachError": tree.Tree{"message": strings.Repeat("x", 1024), "errorCode": int64(0)}}
	Expect(t, "attachment", Lines(rules.Validate(k, obj)), nil)
}

func TestStorageValidObjects(t *testing.T) {
	ExpectValid(t, StorageGroup, "v1", "StorageClass", `{"provisioner":"a","parameters":{`+RepeatItem(512, `"%":"v"`)+`}}`, `{"provisioner":"a","parameters":{"a":"`+strings.Repeat("x", 256<<10-1)+`"}}`)
	ExpectValid(t, StorageGroup, "v1", "CSIDriver", `{"spec":{"nodeAllocatableUpdatePeriodSeconds":10,"serviceAccountTokenInSecrets":true,"tokenRequests":[{"audience":"a","expirationSeconds":4294967296}]}}`)
	ExpectValid(t, StorageGroup, "v1", "CSINode", `{"spec":{"drivers":[{"name":"`+strings.Repeat("a", 63)+`","nodeID":"`+strings.Repeat("i", 192)+`"}]}}`)
}
