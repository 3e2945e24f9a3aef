package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

// TestBoundaries: each part of a condition that has several, on both sides.
func TestBoundaries(t *testing.T) {
	catalogtest.ExpectValid(t, "", "v1", "ResourceQuota", `{"spec":{"hard":{"persistentvolumeclaims":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"VolumeAttributesClass","operator":"In","values":["a"]}]}}}`)
	catalogtest.ExpectValid(t, "batch", "v1", "Job", `{"spec":{"template":{"spec":{"restartPolicy":"OnFailure","containers":[{"name":"c","image":"i"}]}}}}`)
	catalogtest.ExpectValid(t, "", "v1", "Pod", `{"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","iscsi":{"targetPortal":"p","iqn":"eui.0123456789ABCDEF","initiatorName":"naa.0123456789ABCDEF0123456789ABCDEF"}},
		{"name":"w","ephemeral":{"volumeClaimTemplate":{"metadata":{"name":""},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}}}}]}}`)
	catalogtest.ExpectValid(t, catalogtest.StorageGroup, "v1", "VolumeAttachment", `{"spec":{"attacher":"a","nodeName":"n","source":{"inlineVolumeSpec":{"accessModes":["ReadWriteOnce"],`+catalogtest.CSIVolume+`,"persistentVolumeReclaimPolicy":"Retain","volumeMode":"Filesystem"}}}}`)
	const mode, hints, ranges = `"service.platform.io/topology-mode":"a"`, `"service.platform.io/topology-aware-hints":"a"`, `"service.beta.platform.io/load-balancer-source-ranges":"x"`
	annotated := func(annotations, spec string) string {
		return `{"metadata":{"annotations":{` + annotations + `}},"spec":{` + spec + catalogtest.OnePort + `}}`
	}
	catalogtest.ExpectValid(t, "", "v1", "Service", annotated(mode, ``), annotated(hints, ``), annotated(mode+","+hints, ``), annotated(ranges, catalogtest.Balancer+`"loadBalancerSourceRanges":["10.0.0.0/8"],`))

	const manager = "spec.managedBy: Invalid value: "
	catalogtest.RunCreateCases(t, catalogtest.KindByGVK(t, meta.Platform, "batch", "v1", "Job"), catalogtest.JobTemplateSpec, []catalogtest.CreateCase{
		{Name: "no domain", Spec: `"managedBy":"/x"`, Want: []string{manager + `"/x": must be a domain-prefixed path (such as "acme.io/foo")`}},
		{Name: "no path", Spec: `"managedBy":"a.io/"`, Want: []string{manager + `"a.io/": must be a domain-prefixed path (such as "acme.io/foo")`}},
	})
	catalogtest.RunBodyCases(t, catalogtest.CoreKind(t, meta.Platform, "Node"), []catalogtest.BodyCase{
		{Body: `{"spec":{"podCIDRs":["fd00::/64","fd01::/64"]}}`, Want: []string{`spec.podCIDRs: Invalid value: ["fd00::/64","fd01::/64"]: may specify no more than one CIDR for each IP family`}}})
	catalogtest.RunValidationCases(t, catalogtest.KindInGroup(t, meta.Platform, "discovery.platform.io", "EndpointSlice"), []catalogtest.ValidationCase{
		{Obj: catalogtest.EndpointSliceJSON("IPv6", `"addresses":["fd00::1%a"]`), Want: []string{`endpoints[0].addresses[0]: Invalid value: "fd00::1%a": must be an IPv6 address`}}})
	const urls = "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: rules cannot apply to both regular resources and non-resource URLs"
	catalogtest.RunValidationCases(t, catalogtest.KindInGroup(t, meta.Platform, "rbac.authorization.platform.io", "ClusterRole"), []catalogtest.ValidationCase{
		{Obj: `{"rules":[{"verbs":["get"],"nonResourceURLs":["/x"],"apiGroups":["a"]}]}`, Want: []string{urls}},
		{Obj: `{"rules":[{"verbs":["get"],"nonResourceURLs":["/x"],"resourceNames":["a"]}]}`, Want: []string{urls}},
	})
	catalogtest.RunPodCases(t, []catalogtest.PodCase{{Spec: `"volumes":[{"name":"v","emptyDir":{}}],` + catalogtest.Container(`"volumeMounts":[{"name":"v","mountPath":"/a","recursiveReadOnly":"IfPossible"}]`), Want: []string{
		`spec.containers[0].volumeMounts[0].recursiveReadOnly: Forbidden: may only be specified when readOnly is true`}}})
}

// TestStatusLimits: statuses that hold the most that they may.
func TestStatusLimits(t *testing.T) {
	k := catalogtest.CoreKind(t, meta.Platform, "Service")
	obj := catalogtest.Named(k, catalogtest.Parse(t, `{"spec":{`+catalogtest.OnePort+`}}`))
	catalogtest.Create(k, obj)
	obj["status"] = catalogtest.Parse(t, `{"conditions":[{"type":"A","status":"True","reason":"`+strings.Repeat("R", 1024)+`","message":"`+strings.Repeat("m", 32768)+`","lastTransitionTime":"2020-01-01T00:00:00Z"}]}`)
	catalogtest.Expect(t, "conditions", catalogtest.Lines(rules.Validate(k, obj)), nil)
	k = catalogtest.KindByGVK(t, meta.Platform, catalogtest.StorageGroup, "v1", "VolumeAttachment")
	obj = catalogtest.Named(k, catalogtest.Parse(t, `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`))
	obj["status"] = tree.Tree{"attached": true, "attachmentMetadata": tree.Tree{"a": strings.Repeat("x", 256<<10-1)}, "attachError": tree.Tree{"message": strings.Repeat("x", 1024), "errorCode": int64(0)}}
	catalogtest.Expect(t, "attachment", catalogtest.Lines(rules.Validate(k, obj)), nil)
	k = catalogtest.CoreKind(t, meta.Platform, "PersistentVolumeClaim")
	obj = catalogtest.Named(k, catalogtest.Parse(t, catalogtest.BoundClaim(``, `,"capacity":{"storage":"0"},"allocatedResources":{"storage":"0"}`)))
	catalogtest.Expect(t, "claim", catalogtest.Lines(rules.Validate(k, obj)), nil)
}
