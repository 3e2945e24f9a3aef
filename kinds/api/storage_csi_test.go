package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestCSIDriver(t *testing.T) {
	k := KindByGVK(t, meta.Platform, StorageGroup, "v1", "CSIDriver")
	EqualJSON(t, "defaults", Defaulted(t, k, `{}`), `{"spec":{"attachRequired":true,"podInfoOnMount":false,"volumeLifecycleModes":["Persistent"],
		"storageCapacity":false,"fsGroupPolicy":"ReadWriteOnceWithFSType","requiresRepublish":false,"seLinuxMount":false}}`)
	RunBodyCases(t, k, []BodyCase{
		{Body: `{"spec":{"volumeLifecycleModes":["Persistent","Ephemeral"]}}`, Want: nil},
		{Body: `{"spec":{"volumeLifecycleModes":["Eternal"]}}`, Want: []string{`spec.volumeLifecycleModes: Unsupported value: "Eternal": supported values: "Persistent", "Ephemeral"`}},
		{Body: `{"spec":{"volumeLifecycleModes":["Persistent","Persistent"]}}`, Want: []string{`spec.volumeLifecycleModes[1]: Duplicate value: "Persistent"`}},
		{Body: `{"spec":{"fsGroupPolicy":"Some"}}`, Want: []string{`spec.fsGroupPolicy: Unsupported value: "Some": supported values: "File", "None", "ReadWriteOnceWithFSType"`}},
		{Body: `{"spec":{"tokenRequests":[{"audience":""},{"audience":"a","expirationSeconds":600}]}}`, Want: nil},
		{Body: `{"spec":{"tokenRequests":[{"audience":""},{"audience":""}]}}`, Want: []string{`spec.tokenRequests[1].audience: Duplicate value: ""`}},
		{Body: `{"spec":{"tokenRequests":[{"audience":"a","expirationSeconds":599},{"audience":"b","expirationSeconds":4294967297}]}}`, Want: []string{
			`spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`,
			`spec.tokenRequests[1].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`}},
		{Body: `{"spec":{"nodeAllocatableUpdatePeriodSeconds":9,"serviceAccountTokenInSecrets":true}}`, Want: []string{
			`spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds`,
			`spec.serviceAccountTokenInSecrets: Invalid value: true: can only be set when tokenRequests is configured`}},
	})
	RunUpdateCases(t, k, []UpdateCase{
		{Old: `{}`, Now: `{"spec":{"storageCapacity":true,"requiresRepublish":true,"seLinuxMount":true,"tokenRequests":[{"audience":"a"}]}}`, Want: nil},
		{Old: `{}`, Now: `{"spec":{"attachRequired":false}}`, Want: []string{`spec.attachedRequired: Invalid value: false: field is immutable`}},
		{Old: `{}`, Now: `{"spec":{"fsGroupPolicy":"File"}}`, Want: []string{`spec.fsGroupPolicy: Invalid value: "File": field is immutable`}},
		{Old: `{}`, Now: `{"spec":{"podInfoOnMount":true}}`, Want: []string{`spec.podInfoOnMount: Invalid value: true: field is immutable`}},
		{Old: `{}`, Now: `{"spec":{"volumeLifecycleModes":["Ephemeral"]}}`, Want: []string{`spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable`}},
	})
}

func TestCSINode(t *testing.T) {
	k := KindByGVK(t, meta.Platform, StorageGroup, "v1", "CSINode")
	RunBodyCases(t, k, []BodyCase{
		{Body: `{"spec":{"drivers":[{"name":"A.b","nodeID":"i","topologyKeys":["a/b"],"allocatable":{"count":0}},{"name":"c","nodeID":"i","allocatable":{}}]}}`, Want: nil},
		{Body: `{"spec":{"drivers":[{}]}}`, Want: []string{`spec.drivers[0].nodeID: Required value`, `spec.drivers[0].name: Required value`}},
		{Body: `{"spec":{"drivers":[{"name":"` + strings.Repeat("a", 64) + `","nodeID":"` + strings.Repeat("i", 257) + `"}]}}`, Want: []string{
			`spec.drivers[0].name: Too long: may not be more than 63 bytes`, `spec.drivers[0].nodeID: Invalid value: "iii…`}},
		{Body: `{"spec":{"drivers":[{"name":"d","nodeID":"i"},{"name":"d","nodeID":"j"}]}}`, Want: []string{`spec.drivers[1].name: Duplicate value: "d"`}},
		{Body: `{"spec":{"drivers":[{"name":"d","nodeID":"i","allocatable":{"count":-1}}]}}`, Want: []string{`spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0`}},
		{Body: `{"spec":{"drivers":[{"name":"d","nodeID":"i","topologyKeys":["","a","a","b c"]}]}}`, Want: []string{`spec.drivers[0]: Required value`,
			`spec.drivers[0]: Duplicate value: "a"`, `spec.drivers[0]: Invalid value: ["","a","a","b c"]: name part…`}},
	})
	RunUpdateCases(t, k, []UpdateCase{
		{Old: `{"spec":{"drivers":[{"name":"d","nodeID":"i"}]}}`, Now: `{"spec":{"drivers":[{"name":"e","nodeID":"j"},{"name":"d","nodeID":"i","allocatable":{"count":3}}]}}`, Want: nil},
		{Old: `{"spec":{"drivers":[{"name":"d","nodeID":"i"}]}}`, Now: `{"spec":{"drivers":[]}}`, Want: nil},
		{Old: `{"spec":{"drivers":[{"name":"d","nodeID":"i"}]}}`, Now: `{"spec":{"drivers":[{"name":"d","nodeID":"j"}]}}`, Want: []string{`CSINodeDriver: Invalid value: {"name":"d","nodeID":"j"}: field is immutable`}},
		{Old: `{"spec":{"drivers":[{"name":"d","nodeID":"i"}]}}`, Now: `{"spec":{"drivers":[{"name":"d","nodeID":"i","topologyKeys":["a"]}]}}`, Want: []string{`CSINodeDriver: Invalid value: {"name":"d","nodeID":"i","topologyKeys":["a"]}: field is immutable`}},
	})
}

func TestCSIStorageCapacity(t *testing.T) {
	k := KindByGVK(t, meta.Platform, StorageGroup, "v1", "CSIStorageCapacity")
	RunBodyCases(t, k, []BodyCase{
		{Body: `{"storageClassName":"a.b","capacity":"0","maximumVolumeSize":"1Gi","nodeTopology":{}}`, Want: nil},
		{Body: `{}`, Want: []string{`storageClassName: Invalid value: "": a lowercase RFC 1123 subdomain…`}},
		{Body: `{"storageClassName":"a","capacity":"-1","maximumVolumeSize":"-1Gi"}`, Want: []string{`capacity: Invalid value: "-1": must be greater than or equal to 0`}},
		{Body: `{"storageClassName":"a","nodeTopology":{"matchExpressions":[{"key":"a","operator":"In"}]}}`, Want: []string{"nodeTopology.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"}},
	})
	RunUpdateCases(t, k, []UpdateCase{
		{Old: `{"storageClassName":"a"}`, Now: `{"storageClassName":"a","capacity":"1","maximumVolumeSize":"1"}`, Want: nil},
		{Old: `{"storageClassName":"a"}`, Now: `{"storageClassName":"b"}`, Want: []string{`storageClassName: Invalid value: "b": field is immutable`}},
		{Old: `{"storageClassName":"a"}`, Now: `{"storageClassName":"a","nodeTopology":{}}`, Want: []string{`nodeTopology: Invalid value: {}: field is immutable`}},
		{Old: `{"storageClassName":"a","nodeTopology":{"matchLabels":{"a":"b"}}}`, Now: `{"storageClassName":"a","nodeTopology":{"matchLabels":{"a":"c"}}}`, Want: []string{`nodeTopology: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable`}},
	})
}
