package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

// TestBoundaries: each part of a condition that has several, on both sides.
func TestBoundaries(t *testing.T) {
	expectValid(t, "", "v1", "ResourceQuota", `{"spec":{"hard":{"persistentvolumeclaims":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"VolumeAttributesClass","operator":"In","values":["a"]}]}}}`)
	expectValid(t, "batch", "v1", "Job", `{"spec":{"template":{"spec":{"restartPolicy":"OnFailure","containers":[{"name":"c","image":"i"}]}}}}`)
	expectValid(t, "", "v1", "Pod", `{"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","iscsi":{"targetPortal":"p","iqn":"eui.0123456789ABCDEF","initiatorName":"naa.0123456789ABCDEF0123456789ABCDEF"}},
		{"name":"w","ephemeral":{"volumeClaimTemplate":{"metadata":{"name":""},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}}}}]}}`)
	expectValid(t, storageGroup, "v1", "VolumeAttachment", `{"spec":{"attacher":"a","nodeName":"n","source":{"inlineVolumeSpec":{"accessModes":["ReadWriteOnce"],`+csiVolume+`,"persistentVolumeReclaimPolicy":"Retain","volumeMode":"Filesystem"}}}}`)
	const mode, hints, ranges = `"service.platform.io/topology-mode":"a"`, `"service.platform.io/topology-aware-hints":"a"`, `"service.beta.platform.io/load-balancer-source-ranges":"x"`
	annotated := func(annotations, spec string) string {
		return `{"metadata":{"annotations":{` + annotations + `}},"spec":{` + spec + onePort + `}}`
	}
	expectValid(t, "", "v1", "Service", annotated(mode, ``), annotated(hints, ``), annotated(mode+","+hints, ``), annotated(ranges, balancer+`"loadBalancerSourceRanges":["10.0.0.0/8"],`))

	const manager = "spec.managedBy: Invalid value: "
	runCreateCases(t, kindByGVK(t, meta.Platform, "batch", "v1", "Job"), jobTemplateSpec, []createCase{
		{"no domain", `"managedBy":"/x"`, []string{manager + `"/x": must be a domain-prefixed path (such as "acme.io/foo")`}},
		{"no path", `"managedBy":"a.io/"`, []string{manager + `"a.io/": must be a domain-prefixed path (such as "acme.io/foo")`}},
	})
	runBodyCases(t, coreKind(t, meta.Platform, "Node"), []bodyCase{
		{`{"spec":{"podCIDRs":["fd00::/64","fd01::/64"]}}`, []string{`spec.podCIDRs: Invalid value: ["fd00::/64","fd01::/64"]: may specify no more than one CIDR for each IP family`}}})
	runValidationCases(t, kindInGroup(t, meta.Platform, "discovery.platform.io", "EndpointSlice"), []validationCase{
		{obj: endpointSliceJSON("IPv6", `"addresses":["fd00::1%a"]`), want: []string{`endpoints[0].addresses[0]: Invalid value: "fd00::1%a": must be an IPv6 address`}}})
	const urls = "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: rules cannot apply to both regular resources and non-resource URLs"
	runValidationCases(t, kindInGroup(t, meta.Platform, "rbac.authorization.platform.io", "ClusterRole"), []validationCase{
		{obj: `{"rules":[{"verbs":["get"],"nonResourceURLs":["/x"],"apiGroups":["a"]}]}`, want: []string{urls}},
		{obj: `{"rules":[{"verbs":["get"],"nonResourceURLs":["/x"],"resourceNames":["a"]}]}`, want: []string{urls}},
	})
	runPodCases(t, []podCase{{`"volumes":[{"name":"v","emptyDir":{}}],` + container(`"volumeMounts":[{"name":"v","mountPath":"/a","recursiveReadOnly":"IfPossible"}]`), []string{
		`spec.containers[0].volumeMounts[0].recursiveReadOnly: Forbidden: may only be specified when readOnly is true`}}})
}

// TestStatusLimits: statuses that hold the most that they may.
func TestStatusLimits(t *testing.T) {
	k := coreKind(t, meta.Platform, "Service")
	obj := named(k, parseTree(t, `{"spec":{`+onePort+`}}`))
	create(k, obj)
	obj["status"] = parseTree(t, `{"conditions":[{"type":"A","status":"True","reason":"`+strings.Repeat("R", 1024)+`","message":"`+strings.Repeat("m", 32768)+`","lastTransitionTime":"2020-01-01T00:00:00Z"}]}`)
	expect(t, "conditions", lines(rules.Validate(k, obj)), nil)
	k = kindByGVK(t, meta.Platform, storageGroup, "v1", "VolumeAttachment")
	obj = named(k, parseTree(t, `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`))
	obj["status"] = tree.Tree{"attached": true, "attachmentMetadata": tree.Tree{"a": strings.Repeat("x", 256<<10-1)}, "attachError": tree.Tree{"message": strings.Repeat("x", 1024), "errorCode": int64(0)}}
	expect(t, "attachment", lines(rules.Validate(k, obj)), nil)
	k = coreKind(t, meta.Platform, "PersistentVolumeClaim")
	obj = named(k, parseTree(t, boundClaim(``, `,"capacity":{"storage":"0"},"allocatedResources":{"storage":"0"}`)))
	expect(t, "claim", lines(rules.Validate(k, obj)), nil)
}

// TestTerminatedContainers: who may start again depends on the Pod, the container and the end.
func TestTerminatedContainers(t *testing.T) {
	k := coreKind(t, meta.Platform, "Pod")
	for _, c := range []struct {
		spec, list, code string
		passes           bool
	}{
		{`"restartPolicy":"Never"`, "containerStatuses", "1", false},
		{`"restartPolicy":"OnFailure"`, "containerStatuses", "1", true},
		{`"restartPolicy":"OnFailure"`, "containerStatuses", "0", false},
		{`"restartPolicy":"Always"`, "containerStatuses", "0", true},
		{`"restartPolicy":"Never","initContainers":[{"name":"c2","image":"i","restartPolicy":"Always"}]`, "initContainerStatuses", "0", true},
	} {
		old := createdPod(t, k, c.spec)
		name := "c"
		if c.list == "initContainerStatuses" {
			name = "c2"
		}
		old.Object("status")[c.list] = []any{parseTree(t, `{"name":"`+name+`","state":{"terminated":{"exitCode":`+c.code+`}}}`)}
		_, faults := writeSubresource(t, k, "status", old, `{"status":{"qosClass":"BestEffort","`+c.list+`":[{"name":"`+name+`","state":{"running":{}}}]}}`)
		if (len(faults) == 0) != c.passes {
			t.Errorf("%s, ended with %s: %v", c.spec, c.code, faults)
		}
	}
}
