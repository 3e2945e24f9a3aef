package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestPodDefaults(t *testing.T) {
	k := CoreKind(t, meta.Kubernetes, "Pod")
	obj := newPod(t, k, `"volumes":[{"name":"v"},{"name":"s","secret":{"secretName":"a"}},
		{"name":"e","ephemeral":{"volumeClaimTemplate":{"metadata":{"labels":{"a":"b"}},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}}]`)
	Expect(t, "defaults", Create(k, obj), nil)
	EqualJSON(t, "spec", obj["spec"], `{"volumes":[{"name":"v","emptyDir":{}},{"name":"s","secret":{"secretName":"a","defaultMode":420}},
		{"name":"e","ephemeral":{"volumeClaimTemplate":{"metadata":{"labels":{"a":"b"}},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},"volumeMode":"Filesystem"}}}}],
		"containers":[{"name":"c","image":"i","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"Always"}],
		"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},"schedulerName":"default-scheduler",
		"enableServiceLinks":true}`)
	EqualJSON(t, "status", obj["status"], `{"phase":"Pending","qosClass":"BestEffort"}`)
}

func TestContainerDefaults(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	obj := newPod(t, k, `"hostNetwork":true,"serviceAccount":"sa","tolerations":[{"operator":"Exists"}],"containers":[{"name":"c","image":"reg:5000/a/b:1",
		"ports":[{"containerPort":80}],"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],
		"resources":{"limits":{"cpu":"1","memory":"1Gi"}},"livenessProbe":{"httpGet":{"port":80}},"lifecycle":{"preStop":{"httpGet":{"port":"web"}}}}]`)
	Expect(t, "defaults", Create(k, obj), nil)
	EqualJSON(t, "container", obj.Object("spec").List("containers")[0], `{"name":"c","image":"reg:5000/a/b:1","imagePullPolicy":"IfNotPresent",
		"ports":[{"containerPort":80,"hostPort":80,"protocol":"TCP"}],"env":[{"name":"A","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}],
		"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}},
		"livenessProbe":{"httpGet":{"path":"/","port":80,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},
		"lifecycle":{"preStop":{"httpGet":{"path":"/","port":"web","scheme":"HTTP"}}},
		"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}`)
	EqualJSON(t, "qos", obj.Object("status")["qosClass"], `"Guaranteed"`)
	EqualJSON(t, "tolerations", obj.Object("spec")["tolerations"], `[{"operator":"Exists"}]`)
	EqualJSON(t, "account", obj.Object("spec")["serviceAccountName"], `"sa"`)
}

func TestPullPolicy(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	for image, want := range map[string]string{
		"a": "Always", "a:latest": "Always", "a:1": "IfNotPresent", "r:5000/a": "Always", "r:5000/a:latest": "Always",
		"r:5000/a:2": "IfNotPresent", "a@sha256:0": "IfNotPresent", "a:latest@sha256:0": "IfNotPresent",
	} {
		obj := newPod(t, k, `"containers":[{"name":"c","image":"`+image+`"}]`)
		Create(k, obj)
		if got := obj.Object("spec").Objects("containers")[0].String("imagePullPolicy"); got != want {
			t.Errorf("%s: %s, want %s", image, got, want)
		}
	}
}

func TestQoS(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	for resources, want := range map[string]string{
		`{}`: "BestEffort", `{"limits":{"cpu":"0"}}`: "BestEffort", `{"requests":{"cpu":"1m"}}`: "Burstable",
		`{"limits":{"cpu":"1"}}`: "Burstable", `{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1000m"}}`: "Guaranteed",
		`{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m"}}`: "Burstable",
	} {
		obj := newPod(t, k, `"containers":[{"name":"c","image":"i","resources":`+resources+`}]`)
		Create(k, obj)
		if got := obj.Object("status").String("qosClass"); got != want {
			t.Errorf("%s: %s, want %s", resources, got, want)
		}
	}
}

func TestPodFaults(t *testing.T) {
	k := CoreKind(t, meta.Kubernetes, "Pod")
	for _, c := range []struct {
		spec string
		want []string
	}{
		{`"containers":[]`, []string{`spec.containers: Required value`}},
		{`"containers":[{"name":"c","image":"i"},{"name":"c","image":"i"}]`, []string{`spec.containers[1].name: Duplicate value: "c"`}},
		{`"containers":[{}]`, []string{`spec.containers[0].name: Required value`, `spec.containers[0].image: Required value`}},
		{`"containers":[{"name":"A_b","image":" i"}]`, []string{`spec.containers[0].name: Invalid value: "A_b": a lowercase RFC 1123 label…`,
			`spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace`}},
		{`"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"nope","mountPath":"/x"}]}]`, []string{`spec.containers[0].volumeMounts[0].name: Not found: "nope"`}},
		{`"volumes":[{"name":"v"}],"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/x"},{"name":"v","mountPath":"/x","subPath":"../a"}]}]`,
			[]string{`spec.containers[0].volumeMounts.subPath: Invalid value: "../a": must not contain '..'`, `spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/x": must be unique`}},
		{`"containers":[{"name":"c","image":"i","ports":[{"containerPort":70000},{"containerPort":1,"protocol":"X","name":"a"},{"containerPort":1,"hostPort":5,"name":"a"},{"containerPort":2,"hostPort":5}]}]`,
			[]string{`spec.containers[0].ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`,
				`spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive`,
				`spec.containers[0].ports[2].name: Duplicate value: "a"`, `spec.containers[0].ports[3].hostPort: Duplicate value: "TCP//5"`}},
		{`"containers":[{"name":"c","image":"i","env":[{"name":"a=b"},{"name":"A","value":"1","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},{"name":"A","valueFrom":{}},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"status.phase"}}}]}]`,
			[]string{`spec.containers[0].env[0].name: Invalid value: "a=b": a valid environment variable name…`,
				"spec.containers[0].env[1].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty",
				"spec.containers[0].env[2].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
				`spec.containers[0].env[3].valueFrom.fieldRef.fieldPath: Unsupported value: "status.phase": supported values: "metadata.name", …`}},
		{`"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1","foo":"1"},"requests":{"cpu":"2","memory":"-1"}}}]`,
			[]string{`spec.containers[0].resources.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified`,
				`spec.containers[0].resources.limits[foo]: Invalid value: "foo": must be a standard resource for containers`,
				`spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a standard resource type or fully qualified`,
				`spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a standard resource for containers`,
				`spec.containers[0].resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0`,
				`spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`}},
		{`"containers":[{"name":"c","image":"i","livenessProbe":{"successThreshold":2,"exec":{},"tcpSocket":{"port":1}},"readinessProbe":{}}]`,
			[]string{`spec.containers[0].livenessProbe.exec.command: Required value`, `spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`,
				`spec.containers[0].readinessProbe: Required value: must specify a handler type`, `spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1`}},
		{`"initContainers":[{"name":"i","image":"i","livenessProbe":{"exec":{"command":["a"]}}}]`,
			[]string{`spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always`}},
		{`"restartPolicy":"Sometimes","dnsPolicy":"None"`, []string{`spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"`,
			"spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"}},
		{`"containers":[{"name":"c","image":"i","securityContext":{"procMount":"Unmasked"}}]`,
			[]string{"spec.containers[0].securityContext.procMount: Invalid value: \"Unmasked\": `hostUsers` must be false to use `Unmasked`"}},
		{`"hostUsers":false,"containers":[{"name":"c","image":"i","securityContext":{"procMount":"Unmasked"}}]`, nil},
		{`"hostUsers":false,"hostNetwork":true,"hostPID":true,"hostIPC":true`, []string{"spec.hostNetwork: Forbidden: when `hostUsers` is false",
			"spec.HostPID: Forbidden: when `hostUsers` is false", "spec.HostIPC: Forbidden: when `hostUsers` is false"}},
		{`"hostnameOverride":"a.b"`, nil},
		{`"hostnameOverride":"","setHostnameAsFQDN":false`, []string{`spec.hostnameOverride: Invalid value: "": a lowercase RFC 1123 subdomain…`}},
		{`"hostnameOverride":"Not-RFC1123","setHostnameAsFQDN":true,"hostNetwork":true`, []string{"spec.hostnameOverride: Invalid value: \"Not-RFC1123\": a lowercase RFC 1123 subdomain…",
			"spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true", "spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true"}},
		{`"hostnameOverride":"` + strings.Repeat("a", 65) + `"`, []string{"spec.hostnameOverride: Too long: may not be more than 64 bytes"}},
		{`"hostname":"A","activeDeadlineSeconds":0,"terminationGracePeriodSeconds":-1`, []string{
			`spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive`, `spec.hostname: Invalid value: "A": a lowercase RFC 1123 label…`}},
		{`"tolerations":[{"operator":"Equal"},{"key":"a","operator":"Exists","value":"b"},{"key":"a","operator":"Like"},{"key":"a","tolerationSeconds":1}]`, []string{
			`spec.tolerations[2].operator: Unsupported value: "Like": supported values: "Equal", "Exists"`,
			"spec.tolerations[0].operator: Invalid value: \"Equal\": operator must be Exists when `key` is empty…",
			"spec.tolerations[1].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'",
			"spec.tolerations[3].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set"}},
		{`"topologySpreadConstraints":[{"maxSkew":0,"topologyKey":"z","whenUnsatisfiable":"X"}]`, []string{
			`spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway"`,
			`spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero`}},
		{`"topologySpreadConstraints":[{"maxSkew":1,"minDomains":2,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway"}],"imagePullSecrets":[{}],"resources":{"limits":{"cpu":"-1"}}`, []string{
			`spec.resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`, `spec.resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
			`spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway`}},
		{`"securityContext":{"runAsUser":-1},"containers":[{"name":"c","image":"i","securityContext":{"privileged":true,"allowPrivilegeEscalation":false}}]`, []string{
			`spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
			"spec.containers[0].securityContext: Invalid value: {\"allowPrivilegeEscalation\":false,\"privileged\":true}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true"}},
		{`"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]}},"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":0,"podAffinityTerm":{}}]}}`, []string{
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term`,
			`spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.topologyKey: Required value: can not be empty`,
			`spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100`,
			`spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.topologyKey: Invalid value: "": name part must be non-empty`,
			`spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.topologyKey: Invalid value: "": name part must consist…`}},
		{`"containers":[{"name":"c","image":"i","env":[{"name":"A","value":"1"},{"name":"A","value":"2"}],"ports":[{"containerPort":1},{"containerPort":1}]}],"imagePullSecrets":[{"name":"a"},{"name":"a"}]`, nil},
	} {
		Expect(t, c.spec, Create(k, newPod(t, k, c.spec)), c.want)
	}
}

func TestPodUpdate(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	const frozen = "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`…"
	for _, c := range []struct {
		old, now string
		want     []string
	}{
		{``, ``, nil},
		{``, `"containers":[{"name":"c","image":"j:1","imagePullPolicy":"Always"}]`, nil},
		{``, `"containers":[{"name":"c","image":"","imagePullPolicy":"Always"}]`, []string{`spec.containers[0].image: Required value`}},
		{``, `"nodeName":"n"`, []string{frozen}},
		{``, `"containers":[{"name":"c","image":"i","command":["a"]}]`, []string{frozen}},
		{``, `"containers":[{"name":"c","image":"i"},{"name":"d","image":"i"}]`, []string{`spec.containers: Forbidden: pod updates may not add or remove containers`}},
		{``, `"activeDeadlineSeconds":5`, nil},
		{`"activeDeadlineSeconds":5`, `"activeDeadlineSeconds":6`, []string{`spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value`}},
		{`"activeDeadlineSeconds":5`, ``, []string{`spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value`}},
		{``, `"tolerations":[{"key":"a","operator":"Exists"}]`, nil},
		{`"tolerations":[{"key":"a","operator":"Exists"}]`, ``, []string{`spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds`}},
		{`"schedulingGates":[{"name":"a"}]`, ``, nil},
		{`"schedulingGates":[{"name":"a"}]`, `"schedulingGates":[{"name":"a"}],"nodeSelector":{"a":"b"}`, nil},
		{``, `"schedulingGates":[{"name":"a"}]`, []string{`spec.schedulingGates[0]: Forbidden: only deletion is allowed, but found new scheduling gate 'a'`}},
	} {
		old := newPod(t, k, c.old)
		if faults := Create(k, old); len(faults) > 0 {
			t.Fatal(faults)
		}
		old.Object("status")["phase"] = "Running"
		now := newPod(t, k, c.now)
		now["status"] = tree.Tree{"phase": "Failed"}
		Expect(t, c.old+" → "+c.now, Update(k, now, old), c.want)
		if got := now.Object("status").String("phase"); got != "Running" {
			t.Errorf("%s: an update of the main resource set status.phase to %s", c.now, got)
		}
	}
}

func TestVolumeFaults(t *testing.T) {
	k := CoreKind(t, meta.Kubernetes, "Pod")
	long := strings.Repeat("a", 64)
	const at = "spec.volumes[0]"
	for _, c := range []struct {
		volume string
		want   []string
	}{
		{`"emptyDir":{},"secret":{"secretName":"s"}`, []string{at + `.secret: Forbidden: may not specify more than 1 volume type`}},
		{`"emptyDir":{"sizeLimit":"-1"}`, []string{at + `.emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity`}},
		{`"secret":{"defaultMode":512}`, []string{at + `.secret.secretName: Required value`,
			at + `.secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive`}},
		{`"configMap":{"name":"c","items":[{"key":"a","path":"../x"},{"key":"","path":"/x"},{"key":"a","path":"..x","mode":-1},{"key":"a","path":"a/../b"}]}`, []string{
			at + `.configMap.items[0].path: Invalid value: "../x": must not contain '..'`, at + `.configMap.items[1].key: Required value`,
			at + `.configMap.items[1].path: Invalid value: "/x": must be a relative path`,
			at + `.configMap.items[2].mode: Invalid value: -1: must be a number between 0 and 0777 (octal), both inclusive`,
			at + `.configMap.items[3].path: Invalid value: "a/../b": must not contain '..'`,
			at + `.configMap.items[2].path: Invalid value: "..x": must not start with '..'`}},
		{`"configMap":{}`, []string{at + `.configMap.name: Required value`}},
		{`"downwardAPI":{"items":[{"path":"x","fieldRef":{"fieldPath":"spec.bogus"}}]}`, []string{
			at + `.downwardAPI.fieldRef.fieldPath: Invalid value: "spec.bogus": error converting fieldPath: field label not supported: spec.bogus`}},
		{`"downwardAPI":{"items":[{"path":"x","fieldRef":{"fieldPath":"metadata.labels['a b']"}},{"path":"y"},{"path":"z","resourceFieldRef":{"containerName":"c","resource":"limits.gold"}}]}`, []string{
			at + `.downwardAPI.fieldRef: Invalid value: "a b": name part…`,
			at + `.downwardAPI: Required value: one of fieldRef and resourceFieldRef is required`,
			at + `.downwardAPI.resourceFieldRef.resource: Unsupported value: "limits.gold": supported values: "limits.cpu"…`}},
		{`"downwardAPI":{"items":[{"path":"x","fieldRef":{"fieldPath":"metadata.labels"}},{"path":"y","fieldRef":{"fieldPath":"metadata.annotations['a']"}}]}`, nil},
		{`"projected":{"sources":[{"serviceAccountToken":{"path":"token"}},{"downwardAPI":{"items":[{"path":"ns","fieldRef":{"fieldPath":"metadata.namespace"}}]}}]}`, []string{
			at + `.projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set`}},
		{`"projected":{"sources":[{},{"configMap":{"name":"a"},"secret":{"name":"b"}},{"secret":{"name":"b","items":[{"key":"k","path":"p"}]}},{"configMap":{"name":"b","items":[{"key":"k","path":"p"}]}}]}`, []string{
			at + `.projected.sources[1]: Forbidden: may not specify more than 1 volume type per source`,
			at + `.projected: Invalid value: "b": conflicting duplicate paths`}},
		{`"ephemeral":{}`, []string{at + `.ephemeral.volumeClaimTemplate: Required value`}},
		{`"ephemeral":{"volumeClaimTemplate":{"metadata":{"name":"n"},"spec":{"accessModes":["Nope"]}}}`, []string{
			at + `.ephemeral.volumeClaimTemplate.spec.accessModes: Unsupported value: "Nope": supported values: "ReadOnlyMany"…`,
			at + `.ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set for an ephemeral volume`,
			at + `.ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value`}},
		{`"csi":{"nodePublishSecretRef":{}}`, []string{at + `.csi.driver: Required value`, at + `.csi.nodePublishSecretRef.name: Required value`}},
		{`"csi":{"driver":"` + long + `"}`, []string{at + `.csi.driver: Too long: may not be more than 63 bytes`}},
		{`"fc":{"wwids":["a"],"targetWWNs":["b"],"lun":1}`, []string{at + `.fc.targetWWNs: Invalid value: ["b"]: targetWWNs and wwids can not be specified simultaneously`}},
		{`"fc":{}`, []string{at + `.fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both`}},
		{`"fc":{"targetWWNs":["b"]}`, []string{at + `.fc.lun: Required value: lun is required if targetWWNs is specified`}},
		{`"fc":{"targetWWNs":["b"],"lun":256}`, []string{at + `.fc.lun: Invalid value: 256: must be between 0 and 255, inclusive`}},
		{`"iscsi":{"lun":-1,"chapAuthSession":true}`, []string{at + `.iscsi.targetPortal: Required value`, at + `.iscsi.iqn: Required value`,
			at + `.iscsi.lun: Invalid value: -1: must be between 0 and 255, inclusive`, at + `.iscsi.secretRef: Required value`}},
		{`"iscsi":{"targetPortal":"10.0.0.1","iqn":"abc","lun":0}`, []string{at + `.iscsi.iqn: Invalid value: "abc": must be valid format starting with iqn, eui, or naa`}},
		{`"flexVolume":{}`, []string{at + `.flexVolume.driver: Required value`}},
		{`"gitRepo":{"directory":"../a"}`, []string{at + `.gitRepo.repository: Required value`, at + `.gitRepo.directory: Invalid value: "../a": must not contain '..'`}},
		{`"gitRepo":{"repository":"r","directory":"."}`, nil},
		{`"hostPath":{"path":"/a/../b","type":"Odd"}`, []string{at + `.hostPath.type: Unsupported value: "Odd": supported values: "BlockDevice"…`, at + `.hostPath.path: Invalid value: "/a/../b": must not contain '..'`}},
		{`"nfs":{"server":"s","path":"a"}`, []string{at + `.nfs.path: Invalid value: "a": must be an absolute path`}},
		{`"persistentVolumeClaim":{}`, []string{at + `.persistentVolumeClaim.claimName: Required value`}},
	} {
		Expect(t, c.volume, Create(k, newPod(t, k, `"volumes":[{"name":"v",`+c.volume+`}]`)), c.want)
	}
	Expect(t, "twice", Create(k, newPod(t, k, `"volumes":[{"name":"v"},{"name":"v"}]`)), []string{`spec.volumes[1].name: Duplicate value: "v"`})
}
