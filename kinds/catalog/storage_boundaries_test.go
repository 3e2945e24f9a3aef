package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

// TestStorageBoundaries has cases on both sides of each part of a condition with several parts.
func TestStorageBoundaries(t *testing.T) {
	catalogtest.ExpectValid(t, catalogtest.StorageGroup, "v1", "VolumeAttachment", `{"spec":{"attacher":"a","nodeName":"n","source":{"inlineVolumeSpec":{"accessModes":["ReadWriteOnce"],`+catalogtest.CSIVolume+`,"persistentVolumeReclaimPolicy":"Retain","volumeMode":"Filesystem"}}}}`)
}

// TestStorageStatusLimits fills the fields of a status up to their limits.
func TestStorageStatusLimits(t *testing.T) {
	k := catalogtest.KindByGVK(t, meta.Platform, catalogtest.StorageGroup, "v1", "VolumeAttachment")
	obj := catalogtest.Named(k, catalogtest.Parse(t, `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`))
	obj["status"] = tree.Tree{"attached": true, "attachmentMetadata": tree.Tree{"a": strings.Repeat("x", 256<<10-1)}, "attachError": tree.Tree{"message": strings.Repeat("x", 1024), "errorCode": int64(0)}}
	catalogtest.Expect(t, "attachment", catalogtest.Lines(rules.Validate(k, obj)), nil)
}

// TestStorageValidObjects has objects that are just within the limits.
func TestStorageValidObjects(t *testing.T) {
	catalogtest.ExpectValid(t, catalogtest.StorageGroup, "v1", "StorageClass", `{"provisioner":"a","parameters":{`+catalogtest.RepeatItem(512, `"%":"v"`)+`}}`, `{"provisioner":"a","parameters":{"a":"`+strings.Repeat("x", 256<<10-1)+`"}}`)
	catalogtest.ExpectValid(t, catalogtest.StorageGroup, "v1", "CSIDriver", `{"spec":{"nodeAllocatableUpdatePeriodSeconds":10,"serviceAccountTokenInSecrets":true,"tokenRequests":[{"audience":"a","expirationSeconds":4294967296}]}}`)
	catalogtest.ExpectValid(t, catalogtest.StorageGroup, "v1", "CSINode", `{"spec":{"drivers":[{"name":"`+strings.Repeat("a", 63)+`","nodeID":"`+strings.Repeat("i", 192)+`"}]}}`)
}
