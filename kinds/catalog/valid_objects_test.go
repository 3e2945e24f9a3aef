package catalog_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
	"github.com/troupe-api/troupe/kinds/meta"
)

// repeatItem repeats an item n times; each % becomes another letter sequence.
func repeatItem(n int, item string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(item, "%", strings.Repeat("a", i+1))
	}
	return strings.Join(all, ",")
}

func TestValidCoreObjects(t *testing.T) {
	catalogtest.ExpectValid(t, "", "v1", "Namespace", `{"spec":{"finalizers":["orphan","foregroundDeletion","platform","a.b/c"]}}`)
	catalogtest.ExpectValid(t, "", "v1", "Secret", `{"type":"platform.io/basic-auth","data":{"username":"YQ=="}}`, `{"type":"platform.io/basic-auth","data":{"password":"YQ=="}}`,
		`{"stringData":{"a":"`+strings.Repeat("x", 1<<20)+`"}}`)
	catalogtest.ExpectValid(t, "", "v1", "Node", `{"spec":{"taints":[{"key":"a","effect":"NoSchedule","value":""}]},"status":{"capacity":{"cpu":"0","hugepages-1Gi":"0","hugepages-2Mi":"2Mi","memory":"1","pods":"1"}}}`,
		`{"spec":{"podCIDRs":["10.0.0.0/24","fd00::/64"]}}`)
	catalogtest.ExpectValid(t, "", "v1", "LimitRange",
		`{"spec":{"limits":[{"type":"PersistentVolumeClaim","min":{"storage":"1"}},{"type":"Container","default":{"cpu":"2"},"defaultRequest":{"cpu":"1"}},{"type":"Pod","max":{"cpu":"2"},"min":{"cpu":"2"},"maxLimitRequestRatio":{"cpu":"1"}}]}}`,
		`{"spec":{"limits":[{"type":"Pod","max":{"cpu":"2"},"min":{"cpu":"0"},"maxLimitRequestRatio":{"cpu":"5"}},{"type":"Container","default":{"hugepages-2Mi":"2Mi"},"defaultRequest":{"hugepages-2Mi":"2Mi"}}]}}`)
	catalogtest.ExpectValid(t, "", "v1", "PersistentVolume", catalogtest.Volume(`"hostPath":{"path":"/a"},"persistentVolumeReclaimPolicy":"Recycle"`), catalogtest.Volume(`"hostPath":{"path":"/"},"persistentVolumeReclaimPolicy":"Retain"`),
		catalogtest.Volume(`"glusterfs":{"endpoints":"e","path":"p","endpointsNamespace":"a"}`), catalogtest.Volume(`"azureFile":{"secretName":"a","shareName":"b","secretNamespace":"c"}`), catalogtest.Volume(`"azureFile":{"secretName":"a","shareName":"b"}`),
		`{"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOncePod"],`+catalogtest.CSIVolume+`}}`)
	catalogtest.ExpectValid(t, "", "v1", "Service", `{"spec":{"type":"ExternalName","externalName":"a.b"}}`, `{"spec":{"clusterIP":"None"}}`)
	catalogtest.ExpectValid(t, "", "v1", "ResourceQuota", `{"spec":{"hard":{"a.b/c":"1","pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"Exists"},{"scopeName":"PriorityClass","operator":"NotIn","values":["a"]}]}}}`)
}

func TestValidWorkloads(t *testing.T) {
	with := func(more string) string { return `{"spec":{` + catalogtest.PodTemplateSpec + `,` + more + `}}` }
	catalogtest.ExpectValid(t, "apps", "v1", "Deployment", with(`"replicas":0,"minReadySeconds":0,"revisionHistoryLimit":0,"progressDeadlineSeconds":1`),
		with(`"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"100%"}}`), with(`"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}}`))
	job := func(more string) string { return `{"spec":{` + catalogtest.JobTemplateSpec + `,` + more + `}}` }
	const indexed = `"completionMode":"Indexed","completions":5`
	codes := make([]string, 255)
	for i := range codes {
		codes[i] = strconv.Itoa(i + 1)
	}
	catalogtest.ExpectValid(t, "batch", "v1", "Job",
		job(`"parallelism":0,"completions":0,"backoffLimit":0,"ttlSecondsAfterFinished":0,"activeDeadlineSeconds":1`), job(`"managedBy":"a.io/`+strings.Repeat("a", 58)+`"`),
		job(indexed+`,"parallelism":100000,"backoffLimitPerIndex":0,"maxFailedIndexes":5`), job(`"completionMode":"Indexed","completions":0`),
		job(`"completionMode":"Indexed","completions":100000,"backoffLimitPerIndex":1,"parallelism":100000`),
		job(`"completionMode":"Indexed","completions":100001,"parallelism":100000`),
		job(`"completionMode":"Indexed","completions":100001,"parallelism":10000,"backoffLimitPerIndex":1,"maxFailedIndexes":10000`),
		job(`"podFailurePolicy":{"rules":[`+repeatItem(20, `{"action":"Ignore","onPodConditions":[{"type":"%"}]}`)+`]}`),
		job(`"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"containerName":"c","operator":"NotIn","values":[0,1]}},{"action":"Ignore","onPodConditions":[`+repeatItem(20, `{"type":"%"}`)+`]}]}`),
		job(indexed+`,"successPolicy":{"rules":[`+repeatItem(20, `{"succeededCount":5}`)+`]}`), job(indexed+`,"successPolicy":{"rules":[{"succeededIndexes":"0-1","succeededCount":2}]}`),
		job(`"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[`+strings.Join(codes, ",")+`]}}]}`), job(`"podReplacementPolicy":"Failed"`), job(indexed+`,"backoffLimitPerIndex":1,"podFailurePolicy":{"rules":[{"action":"FailIndex","onPodConditions":[{"type":"A"}]}]}`))
	catalogtest.ExpectValid(t, "batch", "v1", "CronJob", `{"metadata":{"name":"`+strings.Repeat("a", 52)+`"},"spec":{"schedule":"@daily","jobTemplate":{"spec":{`+catalogtest.JobTemplateSpec+`}}}}`)
	catalogtest.ExpectValid(t, "autoscaling", "v2", "HorizontalPodAutoscaler", `{"spec":{`+catalogtest.Autoscaled+`,"minReplicas":3}}`, `{"spec":{`+catalogtest.Autoscaled+`,"minReplicas":1,"maxReplicas":1}}`,
		`{"spec":{`+catalogtest.Autoscaled+`,"metrics":[{"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","target":{"type":"AverageValue","averageValue":"1"}}},
			{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":1}}},{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"1"}}}]}}`)
}

func TestValidClusterObjects(t *testing.T) {
	const registration = "apiregistration.platform.io"
	apiService := func(more string) string {
		return `{"metadata":{"name":"v1.a.example"},"spec":{"group":"a.example","version":"v1",` + more + `}}`
	}
	catalogtest.ExpectValid(t, registration, "v1", "APIService", apiService(`"groupPriorityMinimum":20000,"versionPriority":1000,"service":{"name":"s","namespace":"n","port":65535},"insecureSkipTLSVerify":true`),
		apiService(`"groupPriorityMinimum":1,"versionPriority":1,"service":{"name":"s","namespace":"n","port":1},"caBundle":"`+catalogtest.CertificateText(t)+`"`))
	const admission = "admissionregistration.platform.io"
	const match = `"matchConstraints":{"resourceRules":[{` + catalogtest.HookRule + `"resources":["pods"]}]}`
	catalogtest.ExpectValid(t, admission, "v1", "ValidatingAdmissionPolicy", `{"spec":{`+match+`,"auditAnnotations":[`+repeatItem(20, `{"key":"%","valueExpression":"1"}`)+`]}}`,
		`{"spec":{`+match+`,"validations":[{"expression":"a\nb","message":"m","messageExpression":"'m'"}]}}`)
	catalogtest.ExpectValid(t, admission, "v1", "ValidatingAdmissionPolicyBinding", `{"spec":{"policyName":"p","validationActions":["Warn","Audit"]}}`)
	hook := func(more string) string { return catalogtest.Hooks(catalogtest.HookHead + `,` + more) }
	catalogtest.ExpectValid(t, admission, "v1", "ValidatingWebhookConfiguration", hook(catalogtest.HookURL+`,"timeoutSeconds":1`), hook(`"clientConfig":{"service":{"name":"a","namespace":"b","path":"/"}}`),
		hook(`"clientConfig":{"service":{"name":"a","namespace":"b","path":""}}`), hook(catalogtest.HookURL+`,"rules":[{"operations":["CREATE","UPDATE"],"apiGroups":["a","b"],"apiVersions":["*"],"resources":["*/*"]},{"operations":["*"],"apiGroups":["*"],"apiVersions":["v1","v2"],"resources":["*","a/b"]}]`),
		strings.Replace(hook(catalogtest.HookURL), `["v1"]`, `["v1","v9"]`, 1), hook(catalogtest.HookURL+`,"matchConditions":[`+repeatItem(60, `{"name":"%","expression":"true"}`)+`]`))
	catalogtest.ExpectValid(t, catalogtest.StorageGroup, "v1", "StorageClass", `{"provisioner":"a","parameters":{`+repeatItem(512, `"%":"v"`)+`}}`, `{"provisioner":"a","parameters":{"a":"`+strings.Repeat("x", 256<<10-1)+`"}}`)
	catalogtest.ExpectValid(t, catalogtest.StorageGroup, "v1", "CSIDriver", `{"spec":{"nodeAllocatableUpdatePeriodSeconds":10,"serviceAccountTokenInSecrets":true,"tokenRequests":[{"audience":"a","expirationSeconds":4294967296}]}}`)
	catalogtest.ExpectValid(t, catalogtest.StorageGroup, "v1", "CSINode", `{"spec":{"drivers":[{"name":"`+strings.Repeat("a", 63)+`","nodeID":"`+strings.Repeat("i", 192)+`"}]}}`)
	catalogtest.ExpectValid(t, catalogtest.DeviceGroup, "v1", "ResourceSlice", `{"spec":{"driver":"d","nodeName":"n","pool":{"name":"`+strings.Repeat("a", 253)+`","resourceSliceCount":1},"devices":[{"name":"a","attributes":{`+repeatItem(32, `"%":{"string":"`+strings.Repeat("s", 64)+`"}`)+`}}]}}`)
	catalogtest.ExpectValid(t, catalogtest.DeviceGroup, "v1", "ResourceClaim",
		`{"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"c","tolerations":[{"operator":"Exists"}]}}],"constraints":[{"requests":["a"],"distinctAttribute":"d/e"}]}}}`)
	catalogtest.ExpectValid(t, "networking.platform.io", "v1", "NetworkPolicy", `{"spec":{"podSelector":{},"ingress":[{"ports":[{"port":5,"endPort":5}]}]}}`)
	catalogtest.ExpectValid(t, "networking.platform.io", "v1", "IngressClass", `{"spec":{"controller":"a.b/c","parameters":{"kind":"k","name":"n","scope":"Cluster"}}}`)
	catalogtest.ExpectValid(t, "discovery.platform.io", "v1", "EndpointSlice", catalogtest.EndpointSliceJSON("IPv4", `"addresses":["10.1.2.3"],"hints":{"forZones":[`+repeatItem(8, `{"name":"%"}`)+`]}`), `{"addressType":"IPv4","ports":[{"port":65535}]}`)
	warning := func(n int) string {
		return catalogtest.Version(`"deprecated":true,"deprecationWarning":"` + strings.Repeat("a", n) + `"`)
	}
	catalogtest.ExpectValid(t, "apiextensions.platform.io", "v1", "CustomResourceDefinition", warning(256), catalogtest.Definition(`,"conversion":{"strategy":"None","webhook":{}}`, catalogtest.V1Version), catalogtest.SchemaOf(`{"type":"object","additionalProperties":true,"properties":{"a":{"type":"string"}}}`),
		catalogtest.SchemaOf(`{"type":"object","x-platform-embedded-resource":true,"properties":{"a":{"type":"string"}}}`), catalogtest.RootSchema(`{"type":"object","description":"d"}`, `"subresources":{"status":{}}`),
		catalogtest.RootSchema(`{"type":"object","x-platform-preserve-unknown-fields":true}`, `"subresources":{"status":{}}`),
		catalogtest.SchemaOf(`{"type":"array","x-platform-list-type":"set","items":{"type":"array","x-platform-list-type":"atomic","items":{"type":"string"}}}`),
		catalogtest.SchemaOf(`{"type":"array","x-platform-list-type":"atomic","items":{"type":"string","nullable":true}}`),
		catalogtest.SchemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string","default":"d"}}}}`))
}

// TestValidUpdates: nothing that may not change changes here.
func TestValidUpdates(t *testing.T) {
	const class, local = `"loadBalancerClass":"e.com/x"`, `"externalTrafficPolicy":"Local","healthCheckNodePort":30000`
	catalogtest.RunSpecUpdateCases(t, catalogtest.CoreKind(t, meta.Platform, "Service"), catalogtest.OnePort, []catalogtest.SpecUpdateCase{
		{Name: "class kept", Old: catalogtest.Balancer + class, Now: `"sessionAffinity":"ClientIP"`, Want: nil},
		{Name: "class gone with the type", Old: catalogtest.Balancer + class, Now: `"type":"NodePort","loadBalancerClass":null`, Want: nil},
		{Name: "class with the type", Old: `"type":"NodePort"`, Now: catalogtest.Balancer + class, Want: nil},
		{Name: "port for health checks kept", Old: catalogtest.Balancer + local, Now: `"sessionAffinity":"ClientIP"`, Want: nil},
		{Name: "port for health checks with the policy", Old: catalogtest.Balancer + `"sessionAffinity":"None"`, Now: local, Want: nil},
		{Name: "port for health checks gone", Old: catalogtest.Balancer + local, Now: `"externalTrafficPolicy":"Cluster","healthCheckNodePort":null`, Want: nil},
	})
	const affinity = `,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}`
	const attributes = `,"volumeAttributesClassName":"v"`
	const source = `spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation`
	catalogtest.RunUpdateCases(t, catalogtest.CoreKind(t, meta.Platform, "PersistentVolume"), []catalogtest.UpdateCase{
		{Old: catalogtest.Volume(catalogtest.CSIVolume + affinity + attributes), Now: catalogtest.Volume(catalogtest.CSIVolume + affinity + attributes + `,"persistentVolumeReclaimPolicy":"Delete"`), Want: nil},
		{Old: catalogtest.Volume(`"nfs":{"server":"s","path":"/"}`), Now: catalogtest.Volume(`"nfs":{"server":"s","path":"/"},"mountOptions":["a"]`), Want: nil},
		{Old: catalogtest.Volume(`"nfs":{"server":"s","path":"/"}`), Now: catalogtest.Volume(`"nfs":{"server":"r","path":"/"}`), Want: []string{source}},
		{Old: catalogtest.Volume(catalogtest.CSIVolume), Now: catalogtest.Volume(`"csi":{"driver":"d","volumeHandle":"i","controllerExpandSecretRef":{"name":"a","namespace":"b"}}`), Want: []string{source}},
	})
	catalogtest.RunUpdateCases(t, catalogtest.CoreKind(t, meta.Platform, "Node"), []catalogtest.UpdateCase{
		{Old: `{"spec":{"podCIDR":"10.0.0.0/24","providerID":"p"}}`, Now: `{"spec":{"podCIDR":"10.0.0.0/24","providerID":"p","unschedulable":true}}`, Want: nil},
	})
	catalogtest.RunUpdateCases(t, catalogtest.KindByGVK(t, meta.Platform, "networking.platform.io", "v1", "ServiceCIDR"), []catalogtest.UpdateCase{
		{Old: `{"spec":{"cidrs":["10.0.0.0/24"]}}`, Now: `{"spec":{"cidrs":["10.0.0.0/24"]}}`, Want: nil},
		{Old: `{"spec":{"cidrs":["10.0.0.0/24","fd00::/64"]}}`, Now: `{"spec":{"cidrs":["10.0.0.0/24","fd00::/64"]}}`, Want: nil},
	})
	catalogtest.RunSpecUpdateCases(t, catalogtest.KindByGVK(t, meta.Platform, "batch", "v1", "Job"), catalogtest.JobTemplateSpec, []catalogtest.SpecUpdateCase{
		{Name: "elastic, down", Old: `"completionMode":"Indexed","completions":3,"parallelism":3`, Now: `"completions":2,"parallelism":2`, Want: nil},
	})
}
