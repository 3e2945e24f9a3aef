package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestCSIDriver(t *testing.T) {
	k := kindByGVK(t, meta.Platform, storageGroup, "v1", "CSIDriver")
	equalJSON(t, "defaults", defaulted(t, k, `{}`), `{"spec":{"attachRequired":true,"podInfoOnMount":false,"volumeLifecycleModes":["Persistent"],
		"storageCapacity":false,"fsGroupPolicy":"ReadWriteOnceWithFSType","requiresRepublish":false,"seLinuxMount":false}}`)
	runBodyCases(t, k, []bodyCase{
		{`{"spec":{"volumeLifecycleModes":["Persistent","Ephemeral"]}}`, nil},
		{`{"spec":{"volumeLifecycleModes":["Eternal"]}}`, []string{`spec.volumeLifecycleModes: Unsupported value: "Eternal": supported values: "Persistent", "Ephemeral"`}},
		{`{"spec":{"volumeLifecycleModes":["Persistent","Persistent"]}}`, []string{`spec.volumeLifecycleModes[1]: Duplicate value: "Persistent"`}},
		{`{"spec":{"fsGroupPolicy":"Some"}}`, []string{`spec.fsGroupPolicy: Unsupported value: "Some": supported values: "File", "None", "ReadWriteOnceWithFSType"`}},
		{`{"spec":{"tokenRequests":[{"audience":""},{"audience":"a","expirationSeconds":600}]}}`, nil},
		{`{"spec":{"tokenRequests":[{"audience":""},{"audience":""}]}}`, []string{`spec.tokenRequests[1].audience: Duplicate value: ""`}},
		{`{"spec":{"tokenRequests":[{"audience":"a","expirationSeconds":599},{"audience":"b","expirationSeconds":4294967297}]}}`, []string{
			`spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`,
			`spec.tokenRequests[1].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`}},
		{`{"spec":{"nodeAllocatableUpdatePeriodSeconds":9,"serviceAccountTokenInSecrets":true}}`, []string{
			`spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds`,
			`spec.serviceAccountTokenInSecrets: Invalid value: true: can only be set when tokenRequests is configured`}},
	})
	runUpdateCases(t, k, []updateCase{
		{`{}`, `{"spec":{"storageCapacity":true,"requiresRepublish":true,"seLinuxMount":true,"tokenRequests":[{"audience":"a"}]}}`, nil},
		{`{}`, `{"spec":{"attachRequired":false}}`, []string{`spec.attachedRequired: Invalid value: false: field is immutable`}},
		{`{}`, `{"spec":{"fsGroupPolicy":"File"}}`, []string{`spec.fsGroupPolicy: Invalid value: "File": field is immutable`}},
		{`{}`, `{"spec":{"podInfoOnMount":true}}`, []string{`spec.podInfoOnMount: Invalid value: true: field is immutable`}},
		{`{}`, `{"spec":{"volumeLifecycleModes":["Ephemeral"]}}`, []string{`spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable`}},
	})
}

func TestCSINode(t *testing.T) {
	k := kindByGVK(t, meta.Platform, storageGroup, "v1", "CSINode")
	runBodyCases(t, k, []bodyCase{
		{`{"spec":{"drivers":[{"name":"A.b","nodeID":"i","topologyKeys":["a/b"],"allocatable":{"count":0}},{"name":"c","nodeID":"i","allocatable":{}}]}}`, nil},
		{`{"spec":{"drivers":[{}]}}`, []string{`spec.drivers[0].nodeID: Required value`, `spec.drivers[0].name: Required value`}},
		{`{"spec":{"drivers":[{"name":"` + strings.Repeat("a", 64) + `","nodeID":"` + strings.Repeat("i", 193) + `"}]}}`, []string{
			`spec.drivers[0].name: Too long: may not be more than 63 bytes`, `spec.drivers[0].nodeID: Invalid value: "iii…`}},
		{`{"spec":{"drivers":[{"name":"d","nodeID":"i"},{"name":"d","nodeID":"j"}]}}`, []string{`spec.drivers[1].name: Duplicate value: "d"`}},
		{`{"spec":{"drivers":[{"name":"d","nodeID":"i","allocatable":{"count":-1}}]}}`, []string{`spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0`}},
		{`{"spec":{"drivers":[{"name":"d","nodeID":"i","topologyKeys":["","a","a","b c"]}]}}`, []string{`spec.drivers[0]: Required value`,
			`spec.drivers[0]: Duplicate value: "a"`, `spec.drivers[0]: Invalid value: ["","a","a","b c"]: name part…`}},
	})
	runUpdateCases(t, k, []updateCase{
		{`{"spec":{"drivers":[{"name":"d","nodeID":"i"}]}}`, `{"spec":{"drivers":[{"name":"e","nodeID":"j"},{"name":"d","nodeID":"i","allocatable":{"count":3}}]}}`, nil},
		{`{"spec":{"drivers":[{"name":"d","nodeID":"i"}]}}`, `{"spec":{"drivers":[]}}`, nil},
		{`{"spec":{"drivers":[{"name":"d","nodeID":"i"}]}}`, `{"spec":{"drivers":[{"name":"d","nodeID":"j"}]}}`, []string{`CSINodeDriver: Invalid value: {"name":"d","nodeID":"j"}: field is immutable`}},
		{`{"spec":{"drivers":[{"name":"d","nodeID":"i"}]}}`, `{"spec":{"drivers":[{"name":"d","nodeID":"i","topologyKeys":["a"]}]}}`, []string{`CSINodeDriver: Invalid value: {"name":"d","nodeID":"i","topologyKeys":["a"]}: field is immutable`}},
	})
}

func TestCSIStorageCapacity(t *testing.T) {
	k := kindByGVK(t, meta.Platform, storageGroup, "v1", "CSIStorageCapacity")
	runBodyCases(t, k, []bodyCase{
		{`{"storageClassName":"a.b","capacity":"0","maximumVolumeSize":"1Gi","nodeTopology":{}}`, nil},
		{`{}`, []string{`storageClassName: Invalid value: "": a lowercase RFC 1123 subdomain…`}},
		{`{"storageClassName":"a","capacity":"-1","maximumVolumeSize":"-1Gi"}`, []string{`capacity: Invalid value: "-1": must be greater than or equal to 0`,
			`maximumVolumeSize: Invalid value: "-1Gi": must be greater than or equal to 0`}},
		{`{"storageClassName":"a","nodeTopology":{"matchExpressions":[{"key":"a","operator":"In"}]}}`, []string{"nodeTopology.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"}},
	})
	runUpdateCases(t, k, []updateCase{
		{`{"storageClassName":"a"}`, `{"storageClassName":"a","capacity":"1","maximumVolumeSize":"1"}`, nil},
		{`{"storageClassName":"a"}`, `{"storageClassName":"b"}`, []string{`storageClassName: Invalid value: "b": field is immutable`}},
		{`{"storageClassName":"a"}`, `{"storageClassName":"a","nodeTopology":{}}`, []string{`nodeTopology: Invalid value: {}: field is immutable`}},
		{`{"storageClassName":"a","nodeTopology":{"matchLabels":{"a":"b"}}}`, `{"storageClassName":"a","nodeTopology":{"matchLabels":{"a":"c"}}}`, []string{`nodeTopology: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable`}},
	})
}
