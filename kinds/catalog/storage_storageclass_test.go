package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const storageGroup = "storage.platform.io"

// A bodyCase is the body of a create, and its faults.
type bodyCase struct {
	body string
	want []string
}

// An updateCase is a stored object, the body of an update, and its faults.
type updateCase struct {
	old, now string
	want     []string
}

// runBodyCases creates an object of k for each case.
func runBodyCases(t *testing.T, k *schema.Kind, cases []bodyCase) {
	t.Helper()
	for _, c := range cases {
		expect(t, c.body, create(k, named(k, parseTree(t, c.body))), c.want)
	}
}

// runUpdateCases updates an object of k for each case. A status in old is kept as it is.
func runUpdateCases(t *testing.T, k *schema.Kind, cases []updateCase) {
	t.Helper()
	for _, c := range cases {
		old := named(k, parseTree(t, c.old))
		status := old["status"]
		if faults := create(k, old); len(faults) > 0 {
			t.Fatalf("%s: %v", c.old, faults)
		}
		if status != nil {
			old["status"] = status
		}
		expect(t, c.old+" → "+c.now, update(k, named(k, parseTree(t, c.now)), old), c.want)
	}
}

// defaulted is a body after a create.
func defaulted(t *testing.T, k *schema.Kind, body string) tree.Tree {
	t.Helper()
	obj := named(k, parseTree(t, body))
	expect(t, body, create(k, obj), nil)
	delete(obj, "metadata")
	return obj
}

func TestStorageClass(t *testing.T) {
	k := kindByGVK(t, meta.Platform, storageGroup, "v1", "StorageClass")
	equalJSON(t, "defaults", defaulted(t, k, `{"provisioner":"a.b/c"}`), `{"provisioner":"a.b/c","reclaimPolicy":"Delete","volumeBindingMode":"Immediate"}`)
	equalJSON(t, "no restriction", defaulted(t, k, `{"provisioner":"a","allowedTopologies":[],"mountOptions":["any thing"]}`),
		`{"provisioner":"a","reclaimPolicy":"Delete","volumeBindingMode":"Immediate","allowedTopologies":[],"mountOptions":["any thing"]}`)
	const term = `{"matchLabelExpressions":[{"key":"z","values":["a","b"]}]}`
	runBodyCases(t, k, []bodyCase{
		{`{}`, []string{`provisioner: Required value`}},
		{`{"provisioner":"a b"}`, []string{`provisioner: Invalid value: "a b": name part must consist of…`}},
		{`{"provisioner":"Example.com/P"}`, nil},
		{`{"provisioner":"a","reclaimPolicy":"Recycle"}`, []string{`reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"`}},
		{`{"provisioner":"a","reclaimPolicy":"Retain"}`, nil},
		{`{"provisioner":"a","volumeBindingMode":"Later"}`, []string{`volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"`}},
		{`{"provisioner":"a","parameters":{"":"x"}}`, []string{`parameters: Invalid value: "": field can not be empty.`}},
		{`{"provisioner":"a","parameters":{"a":"` + strings.Repeat("x", 256<<10) + `"}}`, []string{`parameters: Too long: may not be more than 262144 bytes`}},
		{`{"provisioner":"a","allowedTopologies":[` + term + `]}`, nil},
		{`{"provisioner":"a","allowedTopologies":[{"matchLabelExpressions":[{"key":"a b"},{"key":"z","values":["a","a"]},{"key":"z","values":["b"]}]}]}`, []string{
			`allowedTopologies.matchLabelExpressions[0].values: Required value`, `allowedTopologies.matchLabelExpressions[0].key: Invalid value: "a b": name part…`,
			`allowedTopologies.matchLabelExpressions[1].values[1]: Duplicate value: "a"`, `allowedTopologies.matchLabelExpressions[2].key: Duplicate value: "z"`}},
		{`{"provisioner":"a","allowedTopologies":[` + term + `,{"matchLabelExpressions":[{"key":"z","values":["b","a"]}]}]}`, []string{`allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`}},
	})
	runUpdateCases(t, k, []updateCase{
		{`{"provisioner":"a"}`, `{"provisioner":"a","mountOptions":["x"],"allowVolumeExpansion":true,"allowedTopologies":[` + term + `]}`, nil},
		{`{"provisioner":"a"}`, `{"provisioner":"b","parameters":{"a":"b"},"reclaimPolicy":"Retain","volumeBindingMode":"WaitForFirstConsumer"}`, []string{
			`volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable`, `parameters: Forbidden: updates to parameters are forbidden.`,
			`provisioner: Forbidden: updates to provisioner are forbidden.`, `reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.`}},
	})
}

func TestVolumeAttributesClass(t *testing.T) {
	k := kindByGVK(t, meta.Platform, storageGroup, "v1", "VolumeAttributesClass")
	runBodyCases(t, k, []bodyCase{
		{`{"driverName":"a.b","parameters":{"a":"b"}}`, nil},
		{`{}`, []string{`driverName: Required value`, `parameters: Required value: must contain at least one key/value pair`}},
		{`{"driverName":"a_b","parameters":{"a":"b"}}`, []string{`driverName: Invalid value: "a_b": a lowercase RFC 1123 subdomain…`}},
	})
	runUpdateCases(t, k, []updateCase{{`{"driverName":"a","parameters":{"a":"b"}}`, `{"driverName":"b","parameters":{"a":"c"}}`,
		[]string{`driverName: Forbidden: updates to driverName are forbidden.`, `parameters: Forbidden: updates to parameters are forbidden.`}}})
}

func TestVolumeAttachment(t *testing.T) {
	k := kindByGVK(t, meta.Platform, storageGroup, "v1", "VolumeAttachment")
	with := func(source string) string {
		return `{"spec":{"attacher":"a.b","nodeName":"n","source":{` + source + `}}}`
	}
	const one, inline = "must specify exactly one of inlineVolumeSpec and persistentVolumeName", `"inlineVolumeSpec":{"accessModes":["ReadWriteOnce"],"csi":{"driver":"d","volumeHandle":"h"}}`
	runBodyCases(t, k, []bodyCase{
		{with(`"persistentVolumeName":"v"`), nil},
		{with(inline), nil},
		{with(``), []string{`spec.source: Required value: ` + one}},
		{with(inline + `,"persistentVolumeName":"v"`), []string{`spec.source: Forbidden: ` + one}},
		{with(`"persistentVolumeName":""`), []string{`spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName`}},
		{with(`"inlineVolumeSpec":{"capacity":{"storage":"1"},"storageClassName":"a","volumeMode":"Block","persistentVolumeReclaimPolicy":"Delete","nfs":{"server":"s","path":"/"}}`), []string{
			`spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes`,
			`spec.source.inlineVolumeSpec.storageClassName: Forbidden: may not be specified in the context of inline volumes`,
			`spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes`,
			`spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes`,
			`spec.source.inlineVolumeSpec.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes`,
			`spec.source.inlineVolumeSpec.accessModes: Required value`}},
		{`{"spec":{"source":{"persistentVolumeName":"v"}}}`, []string{`spec.attacher: Required value`, `spec.nodeName: Invalid value: "": a lowercase RFC 1123 subdomain…`}},
		{`{"spec":{"attacher":"A.b","nodeName":"N","source":{"persistentVolumeName":"v"}}}`, []string{`spec.nodeName: Invalid value: "N": a lowercase RFC 1123 subdomain…`}},
	})
	runUpdateCases(t, k, []updateCase{
		{with(`"persistentVolumeName":"v"`), with(`"persistentVolumeName":"w"`), []string{`spec: Invalid value: {"attacher":"a.b","nodeName":"n","source":{"persistentVolumeName":"w"}}: field is immutable`}},
	})
	obj := defaulted(t, k, `{"status":{"attached":true},"spec":{"attacher":"a.b","nodeName":"n","source":{"persistentVolumeName":"v"}}}`)
	if obj.Has("status") {
		t.Errorf("a create set the status: %v", obj["status"])
	}
	long := named(k, parseTree(t, with(`"persistentVolumeName":"v"`)))
	long["status"] = parseTree(t, `{"attachError":{"message":"`+strings.Repeat("x", 1025)+`"},"detachError":{"errorCode":-1}}`)
	expect(t, "status", lines(rules.Validate(k, long)), []string{`status.attachError.message: Too long: may not be more than 1024 bytes`,
		`status.detachError.errorCode: Invalid value: -1: must be greater than or equal to 0`})
}
