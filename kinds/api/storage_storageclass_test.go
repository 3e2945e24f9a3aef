package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func TestStorageClass(t *testing.T) {
	k := KindByGVK(t, meta.Platform, StorageGroup, "v1", "StorageClass")
	EqualJSON(t, "defaults", Defaulted(t, k, `{"provisioner":"a.b/c"}`), `{"provisioner":"a.b/c","reclaimPolicy":"Delete","volumeBindingMode":"Immediate"}`)
	EqualJSON(t, "no restriction", Defaulted(t, k, `{"provisioner":"a","allowedTopologies":[],"mountOptions":["any thing"]}`),
		`{"provisioner":"a","reclaimPolicy":"Delete","volumeBindingMode":"Immediate","allowedTopologies":[],"mountOptions":["any thing"]}`)
	const term = `{"matchLabelExpressions":[{"key":"z","values":["a","b"]}]}`
	RunBodyCases(t, k, []BodyCase{
		{Body: `{}`, Want: []string{`provisioner: Required value`}},
		{Body: `{"provisioner":"a b"}`, Want: []string{`provisioner: Invalid value: "a b": name part must consist of…`}},
		{Body: `{"provisioner":"Example.com/P"}`, Want: nil},
		{Body: `{"provisioner":"a","reclaimPolicy":"Recycle"}`, Want: []string{`reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"`}},
		{Body: `{"provisioner":"a","reclaimPolicy":"Retain"}`, Want: nil},
		{Body: `{"provisioner":"a","reclaimPolicy":""}`, Want: nil},
		{Body: `{"provisioner":"a","volumeBindingMode":"Later"}`, Want: []string{`volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"`}},
		{Body: `{"provisioner":"a","parameters":{"":"x"}}`, Want: []string{`parameters: Invalid value: "": field can not be empty.`}},
		{Body: `{"provisioner":"a","parameters":{"a":"` + strings.Repeat("x", 256<<10) + `"}}`, Want: []string{`parameters: Too long: may not be more than 262144 bytes`}},
		{Body: `{"provisioner":"a","allowedTopologies":[` + term + `]}`, Want: nil},
		{Body: `{"provisioner":"a","allowedTopologies":[{"matchLabelExpressions":[{"key":"a b"},{"key":"z","values":["a","a"]},{"key":"z","values":["b"]}]}]}`, Want: []string{
			`allowedTopologies[0].matchLabelExpressions[0].values: Required value`, `allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: "a b": name part…`,
			`allowedTopologies[0].matchLabelExpressions[1].values[1]: Duplicate value: "a"`, `allowedTopologies[0].matchLabelExpressions[2].key: Duplicate value: "z"`}},
		{Body: `{"provisioner":"a","allowedTopologies":[` + term + `,{"matchLabelExpressions":[{"key":"z","values":["b","a"]}]}]}`, Want: []string{`allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`}},
		{Body: `{"provisioner":"a","allowedTopologies":[{}]}`, Want: []string{`allowedTopologies[0].matchLabelExpressions: Duplicate value: ""`}},
	})
	RunUpdateCases(t, k, []UpdateCase{
		{Old: `{"provisioner":"a"}`, Now: `{"provisioner":"a","mountOptions":["x"],"allowVolumeExpansion":true,"allowedTopologies":[` + term + `]}`, Want: nil},
		{Old: `{"provisioner":"a"}`, Now: `{"provisioner":"b","parameters":{"a":"b"},"reclaimPolicy":"Retain","volumeBindingMode":"WaitForFirstConsumer"}`, Want: []string{
			`volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable`, `parameters: Forbidden: updates to parameters are forbidden.`,
			`provisioner: Forbidden: updates to provisioner are forbidden.`, `reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.`}},
	})
}

func TestVolumeAttributesClass(t *testing.T) {
	k := KindByGVK(t, meta.Platform, StorageGroup, "v1", "VolumeAttributesClass")
	RunBodyCases(t, k, []BodyCase{
		{Body: `{"driverName":"a.b","parameters":{"a":"b"}}`, Want: nil},
		{Body: `{}`, Want: []string{`driverName: Required value`, `parameters: Required value: must contain at least one key/value pair`}},
		{Body: `{"driverName":"a b","parameters":{"a":"b"}}`, Want: []string{`driverName: Invalid value: "a b": name part…`}},
	})
	RunUpdateCases(t, k, []UpdateCase{{Old: `{"driverName":"a","parameters":{"a":"b"}}`, Now: `{"driverName":"b","parameters":{"a":"c"}}`,
		Want: []string{`driverName: Forbidden: updates to driverName are forbidden.`, `parameters: Forbidden: updates to parameters are forbidden.`}}})
}

func TestVolumeAttachment(t *testing.T) {
	k := KindByGVK(t, meta.Platform, StorageGroup, "v1", "VolumeAttachment")
	with := func(source string) string {
		return `{"spec":{"attacher":"a.b","nodeName":"n","source":{` + source + `}}}`
	}
	const one, inline = "must specify exactly one of inlineVolumeSpec and persistentVolumeName", `"inlineVolumeSpec":{"accessModes":["ReadWriteOnce"],"csi":{"driver":"d","volumeHandle":"h"}}`
	RunBodyCases(t, k, []BodyCase{
		{Body: with(`"persistentVolumeName":"v"`), Want: nil},
		{Body: with(inline), Want: nil},
		{Body: with(``), Want: []string{`spec.source: Required value: ` + one}},
		{Body: with(inline + `,"persistentVolumeName":"v"`), Want: []string{`spec.source: Forbidden: ` + one}},
		{Body: with(`"persistentVolumeName":""`), Want: []string{`spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName`}},
		{Body: with(`"inlineVolumeSpec":{"capacity":{"storage":"1"},"storageClassName":"a","volumeMode":"Block","persistentVolumeReclaimPolicy":"Delete","nfs":{"server":"s","path":"/"}}`), Want: []string{
			`spec.source.inlineVolumeSpec.accessModes: Required value`,
			`spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes`,
			`spec.source.inlineVolumeSpec.storageClassName: Forbidden: may not be specified in the context of inline volumes`,
			`spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes`,
			`spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes`,
			`spec.source.inlineVolumeSpec.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes`}},
		{Body: `{"spec":{"source":{"persistentVolumeName":"v"}}}`, Want: []string{`spec.attacher: Required value`, `spec.nodeName: Invalid value: "": a lowercase RFC 1123 subdomain…`}},
		{Body: `{"spec":{"attacher":"A.b","nodeName":"N","source":{"persistentVolumeName":"v"}}}`, Want: []string{`spec.nodeName: Invalid value: "N": a lowercase RFC 1123 subdomain…`}},
	})
	RunUpdateCases(t, k, []UpdateCase{
		{Old: with(`"persistentVolumeName":"v"`), Now: with(`"persistentVolumeName":"w"`), Want: []string{`spec: Invalid value: {"attacher":"a.b","nodeName":"n","source":{"persistentVolumeName":"w"}}: field is immutable`}},
	})
	obj := Defaulted(t, k, `{"status":{"attached":true},"spec":{"attacher":"a.b","nodeName":"n","source":{"persistentVolumeName":"v"}}}`)
	if obj.Has("status") {
		t.Errorf("a create set the status: %v", obj["status"])
	}
	long := Named(k, Parse(t, with(`"persistentVolumeName":"v"`)))
	long["status"] = Parse(t, `{"attachError":{"message":"`+strings.Repeat("x", 1025)+`"},"detachError":{"errorCode":-1}}`)
	Expect(t, "status", Lines(rules.Validate(k, long)), []string{`status.attachError.message: Too long: may not be more than 1024 bytes`,
		`status.detachError.errorCode: Invalid value: -1: must be greater than or equal to 0`})
}
