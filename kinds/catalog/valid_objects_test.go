package catalog_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

// expectValid creates an object of k from each body: none may be refused. The bodies stand at
// the edges of the rules, on their right side.
func expectValid(t *testing.T, group, version, kind string, bodies ...string) {
	t.Helper()
	k := kindByGVK(t, meta.Platform, group, version, kind)
	for _, body := range bodies {
		obj := named(k, parseTree(t, body))
		obj.Object("metadata")["uid"] = "u-1"
		expect(t, kind+" "+body[:min(len(body), 200)], create(k, obj), nil)
	}
}

// repeatItem repeats an item n times; each % becomes another letter sequence.
func repeatItem(n int, item string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(item, "%", strings.Repeat("a", i+1))
	}
	return strings.Join(all, ",")
}

func TestValidCoreObjects(t *testing.T) {
	expectValid(t, "", "v1", "Namespace", `{"spec":{"finalizers":["orphan","foregroundDeletion","platform","a.b/c"]}}`)
	expectValid(t, "", "v1", "Secret", `{"type":"platform.io/basic-auth","data":{"username":"YQ=="}}`, `{"type":"platform.io/basic-auth","data":{"password":"YQ=="}}`,
		`{"stringData":{"a":"`+strings.Repeat("x", 1<<20)+`"}}`)
	expectValid(t, "", "v1", "Node", `{"spec":{"taints":[{"key":"a","effect":"NoSchedule","value":""}]},"status":{"capacity":{"cpu":"0","hugepages-1Gi":"0","hugepages-2Mi":"2Mi","memory":"1","pods":"1"}}}`,
		`{"spec":{"podCIDRs":["10.0.0.0/24","fd00::/64"]}}`)
	expectValid(t, "", "v1", "LimitRange",
		`{"spec":{"limits":[{"type":"PersistentVolumeClaim","min":{"storage":"1"}},{"type":"Container","default":{"cpu":"2"},"defaultRequest":{"cpu":"1"}},{"type":"Pod","max":{"cpu":"2"},"min":{"cpu":"2"},"maxLimitRequestRatio":{"cpu":"1"}}]}}`,
		`{"spec":{"limits":[{"type":"Pod","max":{"cpu":"2"},"min":{"cpu":"0"},"maxLimitRequestRatio":{"cpu":"5"}},{"type":"Container","default":{"hugepages-2Mi":"2Mi"},"defaultRequest":{"hugepages-2Mi":"2Mi"}}]}}`)
	expectValid(t, "", "v1", "PersistentVolume", volume(`"hostPath":{"path":"/a"},"persistentVolumeReclaimPolicy":"Recycle"`), volume(`"hostPath":{"path":"/"},"persistentVolumeReclaimPolicy":"Retain"`),
		volume(`"glusterfs":{"endpoints":"e","path":"p","endpointsNamespace":"a"}`), volume(`"azureFile":{"secretName":"a","shareName":"b","secretNamespace":"c"}`), volume(`"azureFile":{"secretName":"a","shareName":"b"}`),
		`{"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOncePod"],`+csiVolume+`}}`)
	expectValid(t, "", "v1", "Service", `{"spec":{"type":"ExternalName","externalName":"a.b"}}`, `{"spec":{"clusterIP":"None"}}`)
	expectValid(t, "", "v1", "ResourceQuota", `{"spec":{"hard":{"a.b/c":"1","pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"Exists"},{"scopeName":"PriorityClass","operator":"NotIn","values":["a"]}]}}}`)
}

func TestValidWorkloads(t *testing.T) {
	with := func(more string) string { return `{"spec":{` + podTemplateSpec + `,` + more + `}}` }
	expectValid(t, "apps", "v1", "Deployment", with(`"replicas":0,"minReadySeconds":0,"revisionHistoryLimit":0,"progressDeadlineSeconds":1`),
		with(`"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"100%"}}`), with(`"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}}`))
	job := func(more string) string { return `{"spec":{` + jobTemplateSpec + `,` + more + `}}` }
	const indexed = `"completionMode":"Indexed","completions":5`
	codes := make([]string, 255)
	for i := range codes {
		codes[i] = strconv.Itoa(i + 1)
	}
	expectValid(t, "batch", "v1", "Job",
		job(`"parallelism":0,"completions":0,"backoffLimit":0,"ttlSecondsAfterFinished":0,"activeDeadlineSeconds":1`), job(`"managedBy":"a.io/`+strings.Repeat("a", 58)+`"`),
		job(indexed+`,"parallelism":100000,"backoffLimitPerIndex":0,"maxFailedIndexes":5`), job(`"completionMode":"Indexed","completions":0`),
		job(`"completionMode":"Indexed","completions":100000,"backoffLimitPerIndex":1,"parallelism":100000`),
		job(`"completionMode":"Indexed","completions":100001,"parallelism":100000`),
		job(`"completionMode":"Indexed","completions":100001,"parallelism":10000,"backoffLimitPerIndex":1,"maxFailedIndexes":10000`),
		job(`"podFailurePolicy":{"rules":[`+repeatItem(20, `{"action":"Ignore","onPodConditions":[{"type":"%"}]}`)+`]}`),
		job(`"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"containerName":"c","operator":"NotIn","values":[0,1]}},{"action":"Ignore","onPodConditions":[`+repeatItem(20, `{"type":"%"}`)+`]}]}`),
		job(indexed+`,"successPolicy":{"rules":[`+repeatItem(20, `{"succeededCount":5}`)+`]}`), job(indexed+`,"successPolicy":{"rules":[{"succeededIndexes":"0-1","succeededCount":2}]}`),
		job(`"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[`+strings.Join(codes, ",")+`]}}]}`), job(`"podReplacementPolicy":"Failed"`), job(indexed+`,"backoffLimitPerIndex":1,"podFailurePolicy":{"rules":[{"action":"FailIndex","onPodConditions":[{"type":"A"}]}]}`))
	expectValid(t, "batch", "v1", "CronJob", `{"metadata":{"name":"`+strings.Repeat("a", 52)+`"},"spec":{"schedule":"@daily","jobTemplate":{"spec":{`+jobTemplateSpec+`}}}}`)
	expectValid(t, "autoscaling", "v2", "HorizontalPodAutoscaler", `{"spec":{`+autoscaled+`,"minReplicas":3}}`, `{"spec":{`+autoscaled+`,"minReplicas":1,"maxReplicas":1}}`,
		`{"spec":{`+autoscaled+`,"metrics":[{"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","target":{"type":"AverageValue","averageValue":"1"}}},
			{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":1}}},{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"1"}}}]}}`)
}

func TestValidClusterObjects(t *testing.T) {
	const registration = "apiregistration.platform.io"
	apiService := func(more string) string {
		return `{"metadata":{"name":"v1.a.example"},"spec":{"group":"a.example","version":"v1",` + more + `}}`
	}
	expectValid(t, registration, "v1", "APIService", apiService(`"groupPriorityMinimum":20000,"versionPriority":1000,"service":{"name":"s","namespace":"n","port":65535},"insecureSkipTLSVerify":true`),
		apiService(`"groupPriorityMinimum":1,"versionPriority":1,"service":{"name":"s","namespace":"n","port":1},"caBundle":"`+certificateText(t)+`"`))
	const admission = "admissionregistration.platform.io"
	const match = `"matchConstraints":{"resourceRules":[{` + hookRule + `"resources":["pods"]}]}`
	expectValid(t, admission, "v1", "ValidatingAdmissionPolicy", `{"spec":{`+match+`,"auditAnnotations":[`+repeatItem(20, `{"key":"%","valueExpression":"1"}`)+`]}}`,
		`{"spec":{`+match+`,"validations":[{"expression":"a\nb","message":"m","messageExpression":"'m'"}]}}`)
	expectValid(t, admission, "v1", "ValidatingAdmissionPolicyBinding", `{"spec":{"policyName":"p","validationActions":["Warn","Audit"]}}`)
	hook := func(more string) string { return hooks(hookHead + `,` + more) }
	expectValid(t, admission, "v1", "ValidatingWebhookConfiguration", hook(hookURL+`,"timeoutSeconds":1`), hook(`"clientConfig":{"service":{"name":"a","namespace":"b","path":"/"}}`),
		hook(`"clientConfig":{"service":{"name":"a","namespace":"b","path":""}}`), hook(hookURL+`,"rules":[{"operations":["CREATE","UPDATE"],"apiGroups":["a","b"],"apiVersions":["*"],"resources":["*/*"]},{"operations":["*"],"apiGroups":["*"],"apiVersions":["v1","v2"],"resources":["*","a/b"]}]`),
		strings.Replace(hook(hookURL), `["v1"]`, `["v1","v9"]`, 1), hook(hookURL+`,"matchConditions":[`+repeatItem(60, `{"name":"%","expression":"true"}`)+`]`))
	expectValid(t, storageGroup, "v1", "StorageClass", `{"provisioner":"a","parameters":{`+repeatItem(512, `"%":"v"`)+`}}`, `{"provisioner":"a","parameters":{"a":"`+strings.Repeat("x", 256<<10-1)+`"}}`)
	expectValid(t, storageGroup, "v1", "CSIDriver", `{"spec":{"nodeAllocatableUpdatePeriodSeconds":10,"serviceAccountTokenInSecrets":true,"tokenRequests":[{"audience":"a","expirationSeconds":4294967296}]}}`)
	expectValid(t, storageGroup, "v1", "CSINode", `{"spec":{"drivers":[{"name":"`+strings.Repeat("a", 63)+`","nodeID":"`+strings.Repeat("i", 192)+`"}]}}`)
	expectValid(t, deviceGroup, "v1", "ResourceSlice", `{"spec":{"driver":"d","nodeName":"n","pool":{"name":"`+strings.Repeat("a", 253)+`","resourceSliceCount":1},"devices":[{"name":"a","attributes":{`+repeatItem(32, `"%":{"string":"`+strings.Repeat("s", 64)+`"}`)+`}}]}}`)
	expectValid(t, deviceGroup, "v1", "ResourceClaim",
		`{"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"c","tolerations":[{"operator":"Exists"}]}}],"constraints":[{"requests":["a"],"distinctAttribute":"d/e"}]}}}`)
	expectValid(t, "networking.platform.io", "v1", "NetworkPolicy", `{"spec":{"podSelector":{},"ingress":[{"ports":[{"port":5,"endPort":5}]}]}}`)
	expectValid(t, "networking.platform.io", "v1", "IngressClass", `{"spec":{"controller":"a.b/c","parameters":{"kind":"k","name":"n","scope":"Cluster"}}}`)
	expectValid(t, "discovery.platform.io", "v1", "EndpointSlice", endpointSliceJSON("IPv4", `"addresses":["10.1.2.3"],"hints":{"forZones":[`+repeatItem(8, `{"name":"%"}`)+`]}`), `{"addressType":"IPv4","ports":[{"port":65535}]}`)
	warning := func(n int) string {
		return version(`"deprecated":true,"deprecationWarning":"` + strings.Repeat("a", n) + `"`)
	}
	expectValid(t, "apiextensions.platform.io", "v1", "CustomResourceDefinition", warning(256), definition(`,"conversion":{"strategy":"None","webhook":{}}`, v1), schemaOf(`{"type":"object","additionalProperties":true,"properties":{"a":{"type":"string"}}}`),
		schemaOf(`{"type":"object","x-platform-embedded-resource":true,"properties":{"a":{"type":"string"}}}`), root(`{"type":"object","description":"d"}`, `"subresources":{"status":{}}`),
		root(`{"type":"object","x-platform-preserve-unknown-fields":true}`, `"subresources":{"status":{}}`),
		schemaOf(`{"type":"array","x-platform-list-type":"set","items":{"type":"array","x-platform-list-type":"atomic","items":{"type":"string"}}}`),
		schemaOf(`{"type":"array","x-platform-list-type":"atomic","items":{"type":"string","nullable":true}}`),
		schemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string","default":"d"}}}}`))
}

// TestValidUpdates: nothing that may not change changes here.
func TestValidUpdates(t *testing.T) {
	const class, local = `"loadBalancerClass":"e.com/x"`, `"externalTrafficPolicy":"Local","healthCheckNodePort":30000`
	runSpecUpdateCases(t, coreKind(t, meta.Platform, "Service"), onePort, []specUpdateCase{
		{"class kept", balancer + class, `"sessionAffinity":"ClientIP"`, nil},
		{"class gone with the type", balancer + class, `"type":"NodePort","loadBalancerClass":null`, nil},
		{"class with the type", `"type":"NodePort"`, balancer + class, nil},
		{"port for health checks kept", balancer + local, `"sessionAffinity":"ClientIP"`, nil},
		{"port for health checks with the policy", balancer + `"sessionAffinity":"None"`, local, nil},
		{"port for health checks gone", balancer + local, `"externalTrafficPolicy":"Cluster","healthCheckNodePort":null`, nil},
	})
	const affinity = `,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}`
	const attributes = `,"volumeAttributesClassName":"v"`
	const source = `spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation`
	runUpdateCases(t, coreKind(t, meta.Platform, "PersistentVolume"), []updateCase{
		{volume(csiVolume + affinity + attributes), volume(csiVolume + affinity + attributes + `,"persistentVolumeReclaimPolicy":"Delete"`), nil},
		{volume(`"nfs":{"server":"s","path":"/"}`), volume(`"nfs":{"server":"s","path":"/"},"mountOptions":["a"]`), nil},
		{volume(`"nfs":{"server":"s","path":"/"}`), volume(`"nfs":{"server":"r","path":"/"}`), []string{source}},
		{volume(csiVolume), volume(`"csi":{"driver":"d","volumeHandle":"i","controllerExpandSecretRef":{"name":"a","namespace":"b"}}`), []string{source}},
	})
	runUpdateCases(t, coreKind(t, meta.Platform, "Node"), []updateCase{
		{`{"spec":{"podCIDR":"10.0.0.0/24","providerID":"p"}}`, `{"spec":{"podCIDR":"10.0.0.0/24","providerID":"p","unschedulable":true}}`, nil},
	})
	runUpdateCases(t, kindByGVK(t, meta.Platform, "networking.platform.io", "v1", "ServiceCIDR"), []updateCase{
		{`{"spec":{"cidrs":["10.0.0.0/24"]}}`, `{"spec":{"cidrs":["10.0.0.0/24"]}}`, nil},
		{`{"spec":{"cidrs":["10.0.0.0/24","fd00::/64"]}}`, `{"spec":{"cidrs":["10.0.0.0/24","fd00::/64"]}}`, nil},
	})
	runSpecUpdateCases(t, kindByGVK(t, meta.Platform, "batch", "v1", "Job"), jobTemplateSpec, []specUpdateCase{
		{"elastic, down", `"completionMode":"Indexed","completions":3,"parallelism":3`, `"completions":2,"parallelism":2`, nil},
	})
}
