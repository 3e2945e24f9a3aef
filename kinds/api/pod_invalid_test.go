package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestContainerFaults(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	const at = "spec.containers[0]"
	for fields, want := range map[string][]string{
		`"ports":[{"protocol":"TCP"},{"containerPort":1,"hostPort":70000}]`:                             {at + `.ports[1].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive`, at + `.ports[0].containerPort: Required value`},
		`"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"add":["CAP_SYS_ADMIN"]}}`: {at + `.securityContext: Invalid value: {…`},
		`"envFrom":[{},{"configMapRef":{},"secretRef":{}},{"configMapRef":{}},{"secretRef":{"name":"a"}}]`: {
			at + ".envFrom: Invalid value: \"\": must specify one of: `configMapRef` or `secretRef`", at + ".envFrom[1].configMapRef.name: Required value", at + ".envFrom[1].secretRef.name: Required value", at + `.envFrom: Invalid value: "": may not have more than one field specified at a time`,
			at + `.envFrom[2].configMapRef.name: Required value`},
		`"env":[{"name":"A","valueFrom":{"resourceFieldRef":{},"configMapKeyRef":{"name":"a","key":"b c"},"fileKeyRef":{"volumeName":"v","path":"../p","key":"k"}}}]`: {
			at + `.env[0].valueFrom.configMapKeyRef.key: Invalid value: "b c": a valid config key…`, at + `.env[0].valueFrom.resourceFieldRef.resource: Required value`,
			at + `.env[0].valueFrom.fileKeyRef.path: Invalid value: "../p": must not contain '..'`, at + `.env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time`,
			at + `.env[0].valueFrom.fileKeyRef.volumeName: Not found: "v"`},
		`"env":[{"name":"A","valueFrom":{"fieldRef":{}}},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations['a b']"}}},{"name":"C","valueFrom":{"fieldRef":{"fieldPath":"spec.x['a']"}}}]`: {
			at + `.env[0].valueFrom.fieldRef.fieldPath: Required value`, at + `.env[1].valueFrom.fieldRef: Invalid value: "a b": name part…`,
			at + `.env[2].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x['a']": error converting fieldPath: field label does not support subscript: spec.x['a']`},
		`"livenessProbe":{"grpc":{"port":1},"terminationGracePeriodSeconds":0},"readinessProbe":{"tcpSocket":{"port":"a"},"terminationGracePeriodSeconds":5}`: {
			at + `.livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0`,
			at + `.readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes`},
		`"livenessProbe":{"httpGet":{"port":0,"httpHeaders":[{"name":"a b"}]}},"startupProbe":{"tcpSocket":{"port":"A_"}},"lifecycle":{"preStop":{"sleep":{"seconds":-1}}}`: {
			at + `.livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive`, at + `.livenessProbe.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header…`,
			at + `.startupProbe.tcpSocket.port: Invalid value: "A_": must contain only alpha-numeric characters…`, at + `.startupProbe.tcpSocket.port: Invalid value: "A_": must contain at least one letter (a-z)`,
			at + `.lifecycle.preStop.sleep: Invalid value: -1: must be non-negative and less than terminationGracePeriodSeconds (30)`},
		`"livenessProbe":{"httpGet":{}}`: {at + `.livenessProbe.httpGet.port: Required value`, at + `.livenessProbe.httpGet.port: Invalid value: 0: must be between…`},
		`"securityContext":{"seccompProfile":{"type":"Localhost"},"appArmorProfile":{"type":"Unconfined","localhostProfile":"p"}}`: {
			at + `.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost`,
			at + `.securityContext.appArmorProfile.localhostProfile: Invalid value: "p": can only be set when AppArmor type is Localhost`},
	} {
		Expect(t, fields, Create(k, newPod(t, k, container(fields))), want)
	}
	Expect(t, "host ports", Create(k, newPod(t, k, `"hostNetwork":true,`+container(`"ports":[{"containerPort":1,"hostPort":2}]`))), []string{
		at + ".ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` is true"})
	Expect(t, "init containers", Create(k, newPod(t, k, `"initContainers":[{"name":"i","image":"i","restartPolicy":"Never"},{"name":"j","image":"i","restartPolicy":"X"},
		{"name":"s","image":"i","restartPolicy":"Always","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}]},
		{"name":"r","image":"i","restartPolicy":"OnFailure","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"NotIn","values":[1]}}]}]`)), []string{
		`spec.initContainers[1].restartPolicy: Unsupported value: "X": supported values: "Always", "Never", "OnFailure"`,
		`spec.initContainers[2].restartPolicyRules: Forbidden: restartPolicyRules are not allowed for init containers with restart policy Always`})
	Expect(t, "restarts", Create(k, newPod(t, k, `"containers":[{"name":"a","image":"i","restartPolicy":"Never"},{"name":"b","image":"i","restartPolicy":"x"},
		{"name":"c","image":"i","restartPolicyRules":[{"action":"Stop"}]},{"name":"d","image":"i","restartPolicy":"Always","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"Is"}}]}],
		"securityContext":{"seLinuxChangePolicy":"MountOption"},"overhead":{"a":"1"}`)), []string{
		`spec.containers[1].restartPolicy: Unsupported value: "x": supported values: "Always", "Never", "OnFailure"`,
		`spec.containers[2].restartPolicy: Required value: must specify restartPolicy when restart rules are used`,
		`spec.containers[2].restartPolicyRules[0].action: Unsupported value: "Stop": supported values: "Restart"`,
		`spec.containers[2].restartPolicyRules[0].exitCodes: Required value: must be specified`,
		`spec.containers[3].restartPolicyRules[0].exitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"`,
		`spec.overhead.limits[a]: Invalid value: "a": must be a standard resource type or fully qualified`,
		`spec.overhead.limits[a]: Invalid value: "a": must be a standard resource for containers`,
		`spec.securityContext.seLinuxChangePolicy: Unsupported value: "MountOption": supported values: "Recursive"`})
}

func TestPodSpecFaults(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	const must = `"requiredDuringSchedulingIgnoredDuringExecution"`
	const term = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
	for spec, want := range map[string][]string{
		`"hostPID":true,"shareProcessNamespace":true`:                  {`spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled`},
		`"hostAliases":[{"ip":"x","hostnames":["A"]}]`:                 {`spec.hostAliases[0].ip: Invalid value: "x": must be a valid IP address…`, `spec.hostAliases[0].hostnames[0]: Invalid value: "A": a lowercase…`},
		`"readinessGates":[{"conditionType":"a b"}]`:                   {`spec.readinessGates[0].conditionType: Invalid value: "a b": name part…`},
		`"schedulingGates":[{"name":"a b"},{"name":"g"},{"name":"g"}]`: {`spec.schedulingGates[0]: Invalid value: "a b": name part…`, `spec.schedulingGates[2]: Duplicate value: "g"`},
		`"dnsPolicy":"None","dnsConfig":{"searches":["a.b.","A"],"options":[{}]}`: {`spec.dnsConfig.options[0]: Required value: must not be empty`,
			"spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None", `spec.dnsConfig.searches[1]: Invalid value: "A": a lowercase…`},
		`"dnsConfig":{"nameservers":["1.1.1.1","1.1.1.2","1.1.1.3","x"]}`: {`spec.dnsConfig.nameservers[3]: Invalid value: "x": must be a valid IP address…`,
			`spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","x"]: must not have more than 3 nameservers`},
		`"securityContext":{"supplementalGroups":[-1],"sysctls":[{}]}`: {`spec.securityContext.supplementalGroups[0]: Invalid value: -1: must be between 0 and 2147483647, inclusive`, `spec.securityContext.sysctls[0].name: Required value`},
		`"tolerations":[{"key":"a","value":"b c"}]`:                    {`spec.tolerations[0].operator: Invalid value: "b c": a valid label must be…`},
		`"topologySpreadConstraints":[{"maxSkew":1,"minDomains":0,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"},{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}]`: {
			`spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero`, `spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, DoNotSchedule}"`},
		`"affinity":{"nodeAffinity":{` + must + `:{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a b","operator":"Exists","values":["x"]},{"key":"a","operator":"Gt"},{"key":"a","operator":"Lt","values":["x"]}],"matchFields":[{"key":"metadata.name","operator":"In"}]}]}}}`: {
			term + ".matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'", term + `.matchExpressions[0].key: Invalid value: "a b": name part…`,
			term + ".matchExpressions[1].values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
			term + ".matchFields[0].values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector"},
		`"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":101,"preference":{}}]},"podAntiAffinity":{` + must + `:[{"topologyKey":"z","namespaces":["A"],"labelSelector":{"matchExpressions":[{"key":"a b","operator":"In","values":["c d"]}]}}]}}`: {
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100`,
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0].key: Invalid value: "a b": name part…`,
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0].values[0]: Invalid value: "c d": a valid label must be…`,
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespace: Invalid value: "A": a lowercase RFC 1123 label…`},
		`"volumes":[{}]`:                      {`spec.volumes[0].name: Required value`},
		`"volumes":[{"name":"v","other":{}}]`: {`spec.volumes[0]: Required value: must specify a volume type`},
		`"volumes":[{"name":"v","downwardAPI":{"items":[{"path":"p","fieldRef":{"fieldPath":"metadata.name"},"resourceFieldRef":{"containerName":"c","resource":"limits.cpu"}}]}}]`: {
			`spec.volumes[0].downwardAPI: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously`},
		`"volumes":[{"name":"v","projected":{"sources":[{"clusterTrustBundle":{"path":"p"}},{"podCertificate":{}}]}}]`: {
			`spec.volumes[0].projected.sources[1].podCertificate.signerName: Required value`,
			`spec.volumes[0].projected.sources[1].podCertificate.keyType: Required value`, `spec.volumes[0].projected.sources[0].clusterTrustBundle: Invalid value: {"path":"p"}: exactly one of name or signerName must be set`},
		`"volumes":[{"name":"v","storageos":{"volumeName":"a","secretRef":{}}}]`: {`spec.volumes[0].storageos.secretRef.name: Required value`},
		`"resourceClaims":[{"resourceClaimName":"c"},{"name":"a","resourceClaimName":"c"},{"name":"a","resourceClaimName":"c"}]`: {
			`spec.resourceClaims[0].name: Required value`, `spec.resourceClaims[2].name: Duplicate value: "a"`},
		container(`"resizePolicy":[{}]`): {`spec.containers[0].resizePolicy: Required value`, `spec.containers[0].resizePolicy: Required value`},
	} {
		Expect(t, spec, Create(k, newPod(t, k, spec)), want)
	}
}

func TestPodLimits(t *testing.T) {
	many := func(n int) string {
		entries := make([]string, n)
		for i := range entries {
			entries[i] = fmt.Sprintf(`"k%d":{"int":1}`, i)
		}
		return strings.Join(entries, ",")
	}
	slice := func(text string) string {
		return `{"spec":{"driver":"d","nodeName":"n","pool":{"name":"a","resourceSliceCount":1},"devices":[{"name":"a","attributes":{` + text + `}}]}}`
	}
	RunBodyCases(t, KindByGVK(t, meta.Platform, DeviceGroup, "v1", "ResourceSlice"), []BodyCase{
		{Body: slice(many(33)), Want: []string{`spec.devices[0]: Invalid value: 33: the total number of attributes and capacities must not exceed 32`}},
		{Body: slice(`"a":{"string":"` + strings.Repeat("s", 65) + `"}`), Want: []string{`spec.devices[0].attributes[a].string: Too long: may not be more than 64 bytes`}},
		{Body: `{"spec":{"driver":"d","nodeName":"n","pool":{"name":"a/B","resourceSliceCount":1}}}`, Want: []string{`spec.pool.name: Invalid value: "B": a lowercase…`}},
		{Body: `{"spec":{"driver":"d","nodeName":"n","pool":{"name":"` + strings.Repeat("a", 254) + `","resourceSliceCount":1}}}`, Want: []string{`spec.pool.name: Too long: may not be more than 253 bytes`,
			`spec.pool.name: Invalid value: "aaa…`}},
	})
	RunBodyCases(t, KindByGVK(t, meta.Platform, StorageGroup, "v1", "StorageClass"), []BodyCase{
		{Body: `{"provisioner":"a","parameters":{` + strings.ReplaceAll(many(513), `{"int":1}`, `"v"`) + `}}`, Want: []string{`parameters: Too long: may not be more than 512 bytes`}},
	})
	RunBodyCases(t, CoreKind(t, meta.Platform, "ResourceQuota"), []BodyCase{
		{Body: `{"spec":{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"Like"}]}}}`, Want: []string{
			`spec.scopeSelector.matchExpressions.operator: Invalid value: "Like": not a valid selector operator`}},
	})
}
