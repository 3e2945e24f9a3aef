package pod_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
)

func TestContainerValidation(t *testing.T) {
	const at, units = "spec.containers[0]", "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
	catalogtest.RunPodCases(t, []catalogtest.PodCase{
		{Spec: catalogtest.Container(`"ports":[{"containerPort":0}]`), Want: []string{at + `.ports[0].containerPort: Required value`}},
		{Spec: catalogtest.Container(`"ports":[{"containerPort":70000}]`), Want: []string{at + `.ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive`}},
		{Spec: catalogtest.Container(`"ports":[{"containerPort":-1}]`), Want: []string{at + `.ports[0].containerPort: Invalid value: -1: must be between 1 and 65535, inclusive`}},
		{Spec: catalogtest.Container(`"ports":[{"containerPort":1,"hostPort":70000}]`), Want: []string{at + `.ports[0].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive`}},
		{Spec: catalogtest.Container(`"ports":[{"containerPort":1,"hostIP":"x"}]`), Want: []string{at + `.ports[0].hostIP: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`}},
		{Spec: catalogtest.Container(`"ports":[{"containerPort":1,"name":"A"}]`), Want: []string{at + `.ports[0].name: Invalid value: "A": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`,
			at + `.ports[0].name: Invalid value: "A": must contain at least one letter (a-z)`}},
		{Spec: catalogtest.Container(`"ports":[{"containerPort":1,"protocol":"X"}]`), Want: []string{at + `.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`}},
		{Spec: catalogtest.Container(`"securityContext":{"runAsUser":-1,"runAsGroup":-2,"procMount":"X"}`), Want: []string{at + `.securityContext.procMount: Unsupported value: "X": supported values: "Default", "Unmasked"`,
			at + `.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`, at + `.securityContext.runAsGroup: Invalid value: -2: must be between 0 and 2147483647, inclusive`}},
		{Spec: catalogtest.Container(`"terminationMessagePolicy":"X","imagePullPolicy":"Y"`), Want: []string{at + `.terminationMessagePolicy: Unsupported value: "X": supported values: "FallbackToLogsOnError", "File"`,
			at + `.imagePullPolicy: Unsupported value: "Y": supported values: "Always", "IfNotPresent", "Never"`}},
		{Spec: catalogtest.Container(`"securityContext":{"seccompProfile":{},"appArmorProfile":{}}`), Want: []string{at + `.securityContext.seccompProfile.type: Required value`, at + `.securityContext.appArmorProfile.type: Required value`}},

		{Spec: catalogtest.Container(`"env":[{},{"name":"a=b"}]`), Want: []string{at + `.env[0].name: Required value`,
			at + `.env[1].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`}},
		{Spec: catalogtest.Container(`"envFrom":[{"prefix":"=","configMapRef":{"name":"a"}},{"secretRef":{}}]`), Want: []string{
			at + `.envFrom[0].prefix: Invalid value: "=": a valid environment variable name must consist only of printable ASCII characters other than '='`, at + `.envFrom[1].secretRef.name: Required value`}},
		{Spec: catalogtest.Container(`"env":[{"name":"A","valueFrom":{"resourceFieldRef":{"resource":"limits.magic"}}},{"name":"B","valueFrom":{"resourceFieldRef":{"resource":"limits.hugepages-2Mi"}}},{"name":"C","valueFrom":{"fileKeyRef":{}}},{"name":"D","valueFrom":{"secretKeyRef":{"name":"s"}}},
			{"name":"E","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"2"}}},{"name":"F","valueFrom":{"resourceFieldRef":{"resource":"limits.memory","divisor":"1m"}}},
			{"name":"G","valueFrom":{"resourceFieldRef":{"resource":"limits.ephemeral-storage","divisor":"2"}}},{"name":"H","valueFrom":{"resourceFieldRef":{"resource":"requests.hugepages-2Mi","divisor":"2"}}},
			{"name":"I","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1m"}}},{"name":"J","valueFrom":{"resourceFieldRef":{"resource":"limits.memory","divisor":"1Mi"}}}]`), Want: []string{
			at + `.env[3].valueFrom.secretKeyRef.key: Required value`,
			at + `.env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.magic": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"`,
			at + `.env[2].valueFrom.fileKeyRef.volumeName: Required value`, at + `.env[2].valueFrom.fileKeyRef.path: Required value`, at + `.env[2].valueFrom.fileKeyRef.key: Required value`,
			at + `.env[4].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
			at + `.env[5].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.memory": only divisor's values ` + units + ` are supported with the memory resource`,
			at + `.env[6].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.ephemeral-storage": only divisor's values ` + units + ` are supported with the local ephemeral storage resource`,
			at + `.env[7].valueFrom.resourceFieldRef.divisor: Invalid value: "requests.hugepages-2Mi": only divisor's values ` + units + ` are supported with the hugepages resource`}},
		{Spec: `"volumes":[{"name":"v","emptyDir":{}}],` + catalogtest.Container(`"volumeMounts":[{"name":"v","mountPath":"/a","subPathExpr":"../x"},{"name":"v","mountPath":"/b","recursiveReadOnly":"X","mountPropagation":"Y"},{}]`), Want: []string{
			at + `.volumeMounts[1].mountPropagation: Unsupported value: "Y": supported values: "Bidirectional", "HostToContainer", "None"`, at + `.volumeMounts[2].name: Required value`, at + `.volumeMounts[2].mountPath: Required value`,
			at + `.volumeMounts[0].subPathExpr: Invalid value: "../x": must not contain '..'`, at + `.volumeMounts[1].recursiveReadOnly: Unsupported value: "X": supported values: "Disabled", "Enabled", "IfPossible"`}},
		{Spec: `"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}],` + catalogtest.Container(`"volumeDevices":[{"name":"v","devicePath":"/a"},{"name":"v","devicePath":"/b"},{}]`), Want: []string{
			at + `.volumeDevices[2].name: Required value`, at + `.volumeDevices[2].devicePath: Required value`, at + `.volumeDevices[1].name: Invalid value: "v": must be unique`}},
		{Spec: catalogtest.Container(`"livenessProbe":{"exec":{}}`), Want: []string{at + `.livenessProbe.exec.command: Required value`}},
		{Spec: catalogtest.Container(`"livenessProbe":{"grpc":{"port":1},"initialDelaySeconds":-1,"timeoutSeconds":-1,"periodSeconds":-1,"successThreshold":-1,"failureThreshold":-1}`), Want: []string{
			at + `.livenessProbe.initialDelaySeconds: Invalid value: -1: must be greater than or equal to 0`, at + `.livenessProbe.timeoutSeconds: Invalid value: -1: must be greater than or equal to 0`,
			at + `.livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0`, at + `.livenessProbe.successThreshold: Invalid value: -1: must be greater than or equal to 0`,
			at + `.livenessProbe.failureThreshold: Invalid value: -1: must be greater than or equal to 0`, at + `.livenessProbe.successThreshold: Invalid value: -1: must be 1`}},
		{Spec: catalogtest.Container(`"livenessProbe":{"httpGet":{"port":1,"scheme":"ftp"}}`), Want: []string{at + `.livenessProbe.httpGet.scheme: Unsupported value: "ftp": supported values: "HTTP", "HTTPS"`}},
		{Spec: `"containers":[{}]`, Want: []string{at + `.name: Required value`, at + `.image: Required value`}},
		{Spec: `"containers":[{"name":"A","image":"i"}],"initContainers":[{"name":"A","image":"i"}]`, Want: []string{
			`spec.initContainers[0].name: Invalid value: "A": a lowercase RFC 1123 label…`, at + `.name: Invalid value: "A": a lowercase RFC 1123 label…`, `spec.initContainers[0].name: Duplicate value: "A"`}},
	})
}

func TestPlacementValidation(t *testing.T) {
	const spread = "spec.topologySpreadConstraints[0]"
	const must, should = `"requiredDuringSchedulingIgnoredDuringExecution"`, `"preferredDuringSchedulingIgnoredDuringExecution"`
	catalogtest.RunPodCases(t, []catalogtest.PodCase{
		{Spec: `"nodeSelector":{"a b":"c d"}`, Want: []string{`spec.nodeSelector: Invalid value: "a b": name part…`, `spec.nodeSelector: Invalid value: "c d": a valid label…`}},
		{Spec: `"tolerations":[{"key":"a b","operator":"Exists"},{"key":"a","operator":"X"},{"key":"a","operator":"Exists","effect":"Y"}]`, Want: []string{
			`spec.tolerations[1].operator: Unsupported value: "X": supported values: "Equal", "Exists"`, `spec.tolerations[2].effect: Unsupported value: "Y": supported values: "NoExecute", "NoSchedule", "PreferNoSchedule"`,
			`spec.tolerations[0].key: Invalid value: "a b": name part…`}},
		{Spec: `"topologySpreadConstraints":[{"maxSkew":1}]`, Want: []string{spread + `.topologyKey: Required value: can not be empty`, spread + `.whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"`}},
		{Spec: `"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a b","whenUnsatisfiable":"X","nodeAffinityPolicy":"Y","nodeTaintsPolicy":"Z","labelSelector":{"matchLabels":{"c d":"e"}}}]`, Want: []string{
			spread + `.whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway"`, spread + `.nodeAffinityPolicy: Unsupported value: "Y": supported values: "Honor", "Ignore"`,
			spread + `.nodeTaintsPolicy: Unsupported value: "Z": supported values: "Honor", "Ignore"`, spread + `.topologyKey: Invalid value: "a b": name part…`,
			spread + `.labelSelector.matchLabels: Invalid value: "c d": name part…`}},
		{Spec: `"affinity":{"nodeAffinity":{` + should + `:[{"weight":1,"preference":{"matchExpressions":[{"key":"a","operator":"X"}],"matchFields":[{"key":"metadata.name","operator":"Exists","values":["a"]},{"key":"metadata.name","values":["a"]},{"key":"x","operator":"In","values":["a"]}]}}]}}`, Want: []string{
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].operator: Invalid value: "X": not a valid selector operator`,
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"`,
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[1].operator: Required value`,
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[2].key: Invalid value: "x": not a valid field selector key`}},
		{Spec: `"affinity":{"podAffinity":{` + must + `:[{"topologyKey":"a b","namespaceSelector":{"matchLabels":{"c d":"e"}}},{}]}}`, Want: []string{
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].topologyKey: Required value: can not be empty`,
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector.matchLabels: Invalid value: "c d": name part…`,
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "a b": name part…`,
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].topologyKey: Invalid value: "": name part must be non-empty`,
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].topologyKey: Invalid value: "": name part must consist…`}},
	})
}

func TestPodSpecValidation(t *testing.T) {
	catalogtest.RunPodCases(t, []catalogtest.PodCase{
		{Spec: `"restartPolicy":"X","dnsPolicy":"Y","preemptionPolicy":"Z"`, Want: []string{`spec.restartPolicy: Unsupported value: "X": supported values: "Always", "Never", "OnFailure"`,
			`spec.dnsPolicy: Unsupported value: "Y": supported values: "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"`, `spec.preemptionPolicy: Unsupported value: "Z": supported values: "Never", "PreemptLowerPriority"`}},
		{Spec: `"terminationGracePeriodSeconds":-1,"activeDeadlineSeconds":0`, Want: []string{`spec.terminationGracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0`, `spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive`}},
		{Spec: `"serviceAccountName":"A","nodeName":"B","priorityClassName":"C","runtimeClassName":"D","hostname":"E","subdomain":"F"`, Want: []string{`spec.serviceAccountName: Invalid value: "A": a lowercase RFC 1123 subdomain…`,
			`spec.nodeName: Invalid value: "B": a lowercase RFC 1123 subdomain…`, `spec.hostname: Invalid value: "E": a lowercase RFC 1123 label…`, `spec.subdomain: Invalid value: "F": a lowercase RFC 1123 label…`,
			`spec.priorityClassName: Invalid value: "C": a lowercase RFC 1123 subdomain…`, `spec.runtimeClassName: Invalid value: "D": a lowercase RFC 1123 subdomain…`}},
		{Spec: `"readinessGates":[{}]`, Want: []string{`spec.readinessGates[0].conditionType: Invalid value: "": name part must be non-empty`, `spec.readinessGates[0].conditionType: Invalid value: "": name part must consist…`}},
		{Spec: `"securityContext":{"fsGroupChangePolicy":"X","supplementalGroupsPolicy":"Y","seccompProfile":{"type":"Z"},"appArmorProfile":{}}`, Want: []string{
			`spec.securityContext.supplementalGroupsPolicy: Unsupported value: "Y": supported values: "Merge", "Strict"`, `spec.securityContext.fsGroupChangePolicy: Unsupported value: "X": supported values: "Always", "OnRootMismatch"`,
			`spec.securityContext.seccompProfile.type: Unsupported value: "Z": supported values: "Localhost", "RuntimeDefault", "Unconfined"`, `spec.securityContext.appArmorProfile.type: Required value`}},
		{Spec: `"securityContext":{"seccompProfile":{"type":"Localhost"}}`, Want: []string{`spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when type is Localhost`}},
		{Spec: `"resourceClaims":[{"name":"a","resourceClaimName":"A"},{"name":"b","resourceClaimTemplateName":"B"}]`, Want: []string{
			`spec.resourceClaims[0].resourceClaimName: Invalid value: "A": a lowercase RFC 1123 subdomain…`, `spec.resourceClaims[1].resourceClaimTemplateName: Invalid value: "B": a lowercase RFC 1123 subdomain…`}},
	})
}

func TestVolumeValidation(t *testing.T) {
	const at = "spec.volumes[0]."
	volume := func(source string) string { return `"volumes":[{"name":"v",` + source + `}]` }
	projected := func(source string) string {
		return `"serviceAccountName":"sa",` + volume(`"projected":{"sources":[{`+source+`}]}`)
	}
	catalogtest.RunPodCases(t, []catalogtest.PodCase{
		{Spec: `"volumes":[{"name":"A","emptyDir":{}},{"name":"a","emptyDir":{}},{"name":"a","emptyDir":{}}]`, Want: []string{`spec.volumes[0].name: Invalid value: "A": a lowercase RFC 1123 label…`, `spec.volumes[2].name: Duplicate value: "a"`}},
		{Spec: volume(`"image":{"reference":"r","pullPolicy":"X"}`), Want: []string{at + `image.pullPolicy: Unsupported value: "X": supported values: "Always", "IfNotPresent", "Never"`}},
		{Spec: volume(`"configMap":{"name":"c","items":[{},{"key":"k","path":"..a"},{"key":"k","path":"p","mode":512}]}`), Want: []string{at + `configMap.items[0].key: Required value`, at + `configMap.items[0].path: Required value`,
			at + `configMap.items[2].mode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive`, at + `configMap.items[1].path: Invalid value: "..a": must not start with '..'`}},
		{Spec: volume(`"downwardAPI":{"items":[{"fieldRef":{"fieldPath":"metadata.name"},"mode":512},{"path":"../a","resourceFieldRef":{}},{"path":"b","resourceFieldRef":{"containerName":"c"}},{"path":"c","fieldRef":{}}]}`), Want: []string{at + `downwardAPI.path: Required value`,
			at + `downwardAPI.mode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive`, at + `downwardAPI.path: Invalid value: "../a": must not contain '..'`,
			at + `downwardAPI.resourceFieldRef.containerName: Required value`, at + `downwardAPI.resourceFieldRef.resource: Required value`, at + `downwardAPI.fieldRef.fieldPath: Required value`}},
		{Spec: volume(`"ephemeral":{"volumeClaimTemplate":{"metadata":{"labels":{"a b":"c"},"annotations":{"d e":"f"}}}}`), Want: []string{at + `ephemeral.volumeClaimTemplate.metadata.labels: Invalid value: "a b": name part…`,
			at + `ephemeral.volumeClaimTemplate.metadata.annotations: Invalid value: "d e": name part…`, at + `ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required`, at + `ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value`}},
		{Spec: volume(`"hostPath":{"path":"/a/../b","type":"X"}`), Want: []string{at + `hostPath.type: Unsupported value: "X": supported values: "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"`,
			at + `hostPath.path: Invalid value: "/a/../b": must not contain '..'`}},
		{Spec: volume(`"nfs":{"server":"s","path":"p"}`), Want: []string{at + `nfs.path: Invalid value: "p": must be an absolute path`}},
		{Spec: volume(`"iscsi":{"targetPortal":"p","iqn":"iqn.2015-02.example.com:x","lun":256,"chapAuthSession":true}`), Want: []string{at + `iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive`, at + `iscsi.secretRef: Required value`}},
		{Spec: volume(`"iscsi":{"targetPortal":"p","iqn":"iqn.2015-02.example.com:x","lun":0,"secretRef":{}}`), Want: []string{at + `iscsi.secretRef.name: Required value`}},
		{Spec: volume(`"fc":{"targetWWNs":["a"],"lun":256}`), Want: []string{at + `fc.lun: Invalid value: 256: must be between 0 and 255, inclusive`}},
		{Spec: volume(`"storageos":{"volumeName":"A","volumeNamespace":"B"}`), Want: []string{at + `storageos.volumeName: Invalid value: "A": a lowercase RFC 1123 label…`, at + `storageos.volumeNamespace: Invalid value: "B": a lowercase RFC 1123 label…`}},
		{Spec: projected(`"configMap":{"items":[{"key":"k","path":"/p"}]}`), Want: []string{at + `projected.sources[0].configMap.items[0].path: Invalid value: "/p": must be a relative path`, at + `projected.sources[0].configMap.name: Required value`}},
		{Spec: projected(`"secret":{"name":"s","items":[{"key":"k","path":"..p"}]}`), Want: []string{at + `projected.sources[0].secret.items[0].path: Invalid value: "..p": must not start with '..'`}},
		{Spec: projected(`"downwardAPI":{"items":[{"path":"p"}]}`), Want: []string{at + `projected.sources[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required`}},
		{Spec: projected(`"clusterTrustBundle":{"name":"n"}`), Want: []string{at + `projected.sources[0].clusterTrustBundle.path: Required value`}},
		{Spec: projected(`"clusterTrustBundle":{"name":"n","path":"..p"}`), Want: []string{at + `projected.sources[0].clusterTrustBundle.path: Invalid value: "..p": must not start with '..'`}},
		{Spec: projected(`"serviceAccountToken":{}`), Want: []string{at + `projected.sources[0].serviceAccountToken.path: Required value`}},
		{Spec: projected(`"serviceAccountToken":{"path":"..p"}`), Want: []string{at + `projected.sources[0].serviceAccountToken.path: Invalid value: "..p": must not start with '..'`}},
	})
}
