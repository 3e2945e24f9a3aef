package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

// TestCoreBoundaries covers both sides of each clause of compound conditions.
func TestCoreBoundaries(t *testing.T) {
	ExpectValid(t, "", "v1", "ResourceQuota", `{"spec":{"hard":{"persistentvolumeclaims":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"VolumeAttributesClass","operator":"In","values":["a"]}]}}}`)
	const mode, hints, ranges = `"service.platform.io/topology-mode":"a"`, `"service.platform.io/topology-aware-hints":"a"`, `"service.beta.platform.io/load-balancer-source-ranges":"x"`
	annotated := func(annotations, spec string) string {
		return `{"metadata":{"annotations":{` + annotations + `}},"spec":{` + spec + onePort + `}}`
	}
	ExpectValid(t, "", "v1", "Service", annotated(mode, ``), annotated(hints, ``), annotated(mode+","+hints, ``), annotated(ranges, balancer+`"loadBalancerSourceRanges":["10.0.0.0/8"],`))
	RunBodyCases(t, CoreKind(t, meta.Platform, "Node"), []BodyCase{
		{Body: `{"spec":{"podCIDRs":["fd00::/64","fd01::/64"]}}`, Want: []string{`spec.podCIDRs: Invalid value: ["fd00::/64","fd01::/64"]: may specify no more than one CIDR for each IP family`}}})
}

func TestCoreStatusLimits(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Service")
	obj := Named(k, Parse(t, `{"spec":{`+onePort+`}}`))
	Create(k, obj)
	obj["status"] = Parse(t, `{"conditions":[{"type":"A","status":"True","reason":"`+strings.Repeat("R", 1024)+`","message":"`+strings.Repeat("m", 32768)+`","lastTransitionTime":"2020-01-01T00:00:00Z"}]}`)
	Expect(t, "conditions", Lines(rules.Validate(k, obj)), nil)
}

func TestCoreValidObjects(t *testing.T) {
	ExpectValid(t, "", "v1", "Namespace", `{"spec":{"finalizers":["orphan","foregroundDeletion","platform","a.b/c"]}}`)
	ExpectValid(t, "", "v1", "Secret", `{"type":"platform.io/basic-auth","data":{"username":"YQ=="}}`, `{"type":"platform.io/basic-auth","data":{"password":"YQ=="}}`,
		`{"stringData":{"a":"`+strings.Repeat("x", 1<<20)+`"}}`)
	ExpectValid(t, "", "v1", "Node", `{"spec":{"taints":[{"key":"a","effect":"NoSchedule","value":""}]},"status":{"capacity":{"cpu":"0","hugepages-1Gi":"0","hugepages-2Mi":"2Mi","memory":"1","pods":"1"}}}`,
		`{"spec":{"podCIDRs":["10.0.0.0/24","fd00::/64"]}}`)
	ExpectValid(t, "", "v1", "LimitRange",
		`{"spec":{"limits":[{"type":"PersistentVolumeClaim","min":{"storage":"1"}},{"type":"Container","default":{"cpu":"2"},"defaultRequest":{"cpu":"1"}},{"type":"Pod","max":{"cpu":"2"},"min":{"cpu":"2"},"maxLimitRequestRatio":{"cpu":"1"}}]}}`,
		`{"spec":{"limits":[{"type":"Pod","max":{"cpu":"2"},"min":{"cpu":"0"},"maxLimitRequestRatio":{"cpu":"5"}},{"type":"Container","default":{"hugepages-2Mi":"2Mi"},"defaultRequest":{"hugepages-2Mi":"2Mi"}}]}}`)
	ExpectValid(t, "", "v1", "Service", `{"spec":{"type":"ExternalName","externalName":"a.b"}}`, `{"spec":{"clusterIP":"None"}}`)
	ExpectValid(t, "", "v1", "ResourceQuota", `{"spec":{"hard":{"a.b/c":"1","pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"Exists"},{"scopeName":"PriorityClass","operator":"NotIn","values":["a"]}]}}}`)
}

func TestCoreValidUpdates(t *testing.T) {
	const class, local = `"loadBalancerClass":"e.com/x"`, `"externalTrafficPolicy":"Local","healthCheckNodePort":30000`
	RunSpecUpdateCases(t, CoreKind(t, meta.Platform, "Service"), onePort, []SpecUpdateCase{
		{Name: "class kept", Old: balancer + class, Now: `"sessionAffinity":"ClientIP"`, Want: nil},
		{Name: "class gone with the type", Old: balancer + class, Now: `"type":"NodePort","loadBalancerClass":null`, Want: nil},
		{Name: "class with the type", Old: `"type":"NodePort"`, Now: balancer + class, Want: nil},
		{Name: "port for health checks kept", Old: balancer + local, Now: `"sessionAffinity":"ClientIP"`, Want: nil},
		{Name: "port for health checks with the policy", Old: balancer + `"sessionAffinity":"None"`, Now: local, Want: nil},
		{Name: "port for health checks gone", Old: balancer + local, Now: `"externalTrafficPolicy":"Cluster","healthCheckNodePort":null`, Want: nil},
	})
	RunUpdateCases(t, CoreKind(t, meta.Platform, "Node"), []UpdateCase{
		{Old: `{"spec":{"podCIDR":"10.0.0.0/24","providerID":"p"}}`, Now: `{"spec":{"podCIDR":"10.0.0.0/24","providerID":"p","unschedulable":true}}`, Want: nil},
	})
}
