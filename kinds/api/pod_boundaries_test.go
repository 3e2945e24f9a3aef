package api_test

import (
	"strings"
	"testing"
)

func TestValidPods(t *testing.T) {
	var cases []podCase
	add := func(specs ...string) {
		for _, s := range specs {
			cases = append(cases, podCase{spec: s})
		}
	}
	inContainer := func(fields ...string) {
		for _, f := range fields {
			add(container(f))
		}
	}
	add(`"hostPID":true`, `"shareProcessNamespace":true`, `"dnsConfig":{"nameservers":["1.1.1.1","1.1.1.2","1.1.1.3"]}`,
		`"securityContext":{"supplementalGroups":[0,2147483647],"runAsUser":0,"runAsGroup":2147483647,"fsGroup":0}`,
		`"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{}},{"weight":100,"preference":{}}]}}`,
		`"securityContext":{"seccompProfile":{"type":"Localhost","localhostProfile":"p"},"appArmorProfile":{"type":"RuntimeDefault"}}`)
	inContainer(`"ports":[{"containerPort":65535,"hostPort":65535},{"containerPort":2,"hostPort":1}]`,
		`"securityContext":{"privileged":true}`, `"securityContext":{"privileged":true,"allowPrivilegeEscalation":true}`,
		`"securityContext":{"capabilities":{"add":["CAP_SYS_ADMIN"]}}`, `"securityContext":{"allowPrivilegeEscalation":false}`,
		`"readinessProbe":{"httpGet":{"port":65535},"successThreshold":3}`, `"livenessProbe":{"tcpSocket":{"port":1},"terminationGracePeriodSeconds":1}`,
		`"lifecycle":{"preStop":{"sleep":{"seconds":0}}}`, `"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]`,
		`"resources":{"limits":{"cpu":"1","hugepages-2Mi":"2Mi"}}`, `"resources":{"limits":{"hugepages-2Mi":"2Mi","memory":"1"}}`,
		`"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"status.podIPs"}}},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['a']"}}}]`)
	mounted := func(source, fields string) {
		add(`"volumes":[{"name":"v",` + source + `}],` + container(fields))
	}
	mounted(`"emptyDir":{"sizeLimit":"0"}`, `"securityContext":{"privileged":true},"volumeMounts":[{"name":"v","mountPath":"/a","mountPropagation":"Bidirectional"}]`)
	mounted(`"emptyDir":{}`, `"volumeMounts":[{"name":"v","mountPath":"/a","recursiveReadOnly":"Disabled"},{"name":"v","mountPath":"/b","readOnly":true,"recursiveReadOnly":"IfPossible","mountPropagation":"None"}]`)
	mounted(`"ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOncePod"],"resources":{"requests":{"storage":"1"}}}}}`, `"volumeDevices":[{"name":"v","devicePath":"/d"}]`)
	for _, source := range []string{
		`"secret":{"secretName":"s","defaultMode":511,"items":[{"key":"k","path":"a/.b","mode":0}]}`,
		`"azureDisk":{"diskName":"a","diskURI":"/subscriptions/x","kind":"Managed"}`, `"azureDisk":{"diskName":"a","diskURI":"https://x"}`,
		`"flocker":{"datasetName":"a"}`, `"flocker":{"datasetUUID":"a"}`, `"quobyte":{"registry":"a:1,b:2","volume":"v","tenant":"` + strings.Repeat("t", 64) + `"}`,
		`"iscsi":{"targetPortal":"p","iqn":"eui.0123456789ABCDEF","chapAuthDiscovery":true,"secretRef":{"name":"s"}}`,
		`"iscsi":{"targetPortal":"` + strings.Repeat("p", 62) + `","iqn":"eui.0123456789ABCDEF","initiatorName":"eui.0123456789ABCDEF"}`,
		`"iscsi":{"targetPortal":"` + strings.Repeat("p", 99) + `","iqn":"eui.0123456789ABCDEF"}`,
		`"fc":{"targetWWNs":["a"],"lun":255}`, `"fc":{"wwids":["a"]}`,
	} {
		add(`"volumes":[{"name":"v",` + source + `}]`)
	}
	runPodCases(t, cases)
}

// TestInvalidPods covers Pods just beyond the limits that no other table covers.
func TestInvalidPods(t *testing.T) {
	const at = "spec.containers[0]"
	env := func(field string) string {
		return container(`"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"` + field + `"}}}]`)
	}
	const envPath = at + ".env[0].valueFrom.fieldRef.fieldPath: "
	runPodCases(t, []podCase{
		{spec: container(`"ports":[{"containerPort":1,"hostPort":-1}]`), want: []string{at + `.ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive`}},
		{spec: `"securityContext":{"supplementalGroups":[2147483648]}`, want: []string{`spec.securityContext.supplementalGroups[0]: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive`}},
		{spec: env("metadata.labels['a"), want: []string{envPath + `Invalid value: "metadata.labels['a": error converting fieldPath: field label not supported: metadata.labels['a`}},
		{spec: env("metadata.name']"), want: []string{envPath + `Invalid value: "metadata.name']": error converting fieldPath: field label not supported: metadata.name']`}},
		{spec: env("metadata.labels"), want: []string{envPath + `Unsupported value: "metadata.labels": supported values: "metadata.name"…`}},
		{spec: env("status.phase"), want: []string{envPath + `Unsupported value: "status.phase": supported values: "metadata.name"…`}},
		{spec: `"volumes":[{"name":"v","downwardAPI":{"items":[{"path":"p","fieldRef":{"fieldPath":"spec.nodeName"}}]}}]`, want: []string{
			`spec.volumes[0].downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations"…`}},
		{spec: container(`"livenessProbe":{"httpGet":{"port":65536}}`), want: []string{at + `.livenessProbe.httpGet.port: Invalid value: 65536: must be between 1 and 65535, inclusive`}},
		{spec: container(`"resources":{"limits":{"hugepages-2Mi":"2Mi","z.io/gpu":"1"}}`), want: []string{at + `.resources: Forbidden: HugePages require cpu or memory`}},
		{spec: `"volumes":[{"name":"v","configMap":{"name":"c","items":[{"key":"k","path":".."}]}}]`, want: []string{`spec.volumes[0].configMap.items[0].path: Invalid value: "..": must not contain '..'`}},
		{spec: `"volumes":[{"name":"v","emptyDir":{"sizeLimit":"-1"}}]`, want: []string{`spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity`}},
		{spec: `"volumes":[{"name":"v","quobyte":{"registry":"a:1","volume":"v","tenant":"` + strings.Repeat("t", 65) + `"}}]`, want: []string{
			`spec.volumes[0].quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters`}},
		{spec: `"volumes":[{"name":"v","projected":{"sources":[{"downwardAPI":{"items":[{"path":"p","fieldRef":{"fieldPath":"metadata.name"}}]}},{"downwardAPI":{"items":[{"path":"p","fieldRef":{"fieldPath":"metadata.uid"}}]}}]}}]`, want: []string{
			`spec.volumes[0].projected: Invalid value: "p": conflicting duplicate paths`}},
	})
}

// TestPodBoundaries covers both sides of each clause of compound conditions.
func TestPodBoundaries(t *testing.T) {
	ExpectValid(t, "", "v1", "Pod", `{"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","iscsi":{"targetPortal":"p","iqn":"eui.0123456789ABCDEF","initiatorName":"naa.0123456789ABCDEF0123456789ABCDEF"}},
		{"name":"w","ephemeral":{"volumeClaimTemplate":{"metadata":{"name":""},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}}}}]}}`)
	runPodCases(t, []podCase{{spec: `"volumes":[{"name":"v","emptyDir":{}}],` + container(`"volumeMounts":[{"name":"v","mountPath":"/a","recursiveReadOnly":"IfPossible"}]`), want: []string{
		`spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true`}}})
}
