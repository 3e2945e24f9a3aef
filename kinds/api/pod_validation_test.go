package api_test

import (
	"testing"
)

func TestContainerValidation(t *testing.T) {
	const at, units = "spec.containers[0]", "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
	runPodCases(t, []podCase{
		{spec: container(`"ports":[{"containerPort":0}]`), want: []string{at + `.ports[0].containerPort: Required value`}},
		{spec: container(`"ports":[{"containerPort":70000}]`), want: []string{at + `.ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive`}},
		{spec: container(`"ports":[{"containerPort":-1}]`), want: []string{at + `.ports[0].containerPort: Invalid value: -1: must be between 1 and 65535, inclusive`}},
		{spec: container(`"ports":[{"containerPort":1,"hostPort":70000}]`), want: []string{at + `.ports[0].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive`}},
		{spec: container(`"ports":[{"containerPort":1,"hostIP":"x"}]`), want: nil},
		{spec: container(`"ports":[{"containerPort":1,"name":"A"}]`), want: []string{at + `.ports[0].name: Invalid value: "A": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`,
			at + `.ports[0].name: Invalid value: "A": must contain at least one letter (a-z)`}},
		{spec: container(`"ports":[{"containerPort":1,"protocol":"X"}]`), want: []string{at + `.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`}},
		{spec: container(`"securityContext":{"runAsUser":-1,"runAsGroup":-2,"procMount":"X"}`), want: []string{at + `.securityContext.procMount: Unsupported value: "X": supported values: "Default", "Unmasked"`,
			at + `.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`, at + `.securityContext.runAsGroup: Invalid value: -2: must be between 0 and 2147483647, inclusive`}},
		{spec: container(`"terminationMessagePolicy":"X","imagePullPolicy":"Y"`), want: []string{at + `.terminationMessagePolicy: Unsupported value: "X": supported values: "File", "FallbackToLogsOnError"`,
			at + `.imagePullPolicy: Unsupported value: "Y": supported values: "Always", "IfNotPresent", "Never"`}},
		{spec: container(`"securityContext":{"seccompProfile":{},"appArmorProfile":{}}`), want: []string{at + `.securityContext.seccompProfile.type: Required value`, at + `.securityContext.appArmorProfile.type: Required value`}},

		{spec: container(`"env":[{},{"name":"a=b"}]`), want: []string{at + `.env[0].name: Required value`,
			at + `.env[1].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`}},
		{spec: container(`"envFrom":[{"prefix":"=","configMapRef":{"name":"a"}},{"secretRef":{}}]`), want: []string{
			at + `.envFrom[0].prefix: Invalid value: "=": a valid environment variable name must consist only of printable ASCII characters other than '='`, at + `.envFrom[1].secretRef.name: Required value`}},
		{spec: container(`"env":[{"name":"A","valueFrom":{"resourceFieldRef":{"resource":"limits.magic"}}},{"name":"B","valueFrom":{"resourceFieldRef":{"resource":"limits.hugepages-2Mi"}}},{"name":"C","valueFrom":{"fileKeyRef":{}}},{"name":"D","valueFrom":{"secretKeyRef":{"name":"s"}}},
			{"name":"E","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"2"}}},{"name":"F","valueFrom":{"resourceFieldRef":{"resource":"limits.memory","divisor":"1m"}}},
			{"name":"G","valueFrom":{"resourceFieldRef":{"resource":"limits.ephemeral-storage","divisor":"2"}}},{"name":"H","valueFrom":{"resourceFieldRef":{"resource":"requests.hugepages-2Mi","divisor":"2"}}},
			{"name":"I","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1m"}}},{"name":"J","valueFrom":{"resourceFieldRef":{"resource":"limits.memory","divisor":"1Mi"}}}]`), want: []string{
			at + `.env[3].valueFrom.secretKeyRef.key: Required value`,
			at + `.env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.magic": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"`,
			at + `.env[2].valueFrom.fileKeyRef.volumeName: Required value`, at + `.env[2].valueFrom.fileKeyRef.path: Required value`, at + `.env[2].valueFrom.fileKeyRef.key: Required value`,
			at + `.env[2].valueFrom.fileKeyRef.volumeName: Not found: ""`,
			at + `.env[4].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
			at + `.env[5].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.memory": only divisor's values ` + units + ` are supported with the memory resource`,
			at + `.env[6].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.ephemeral-storage": only divisor's values ` + units + ` are supported with the local ephemeral storage resource`,
			at + `.env[7].valueFrom.resourceFieldRef.divisor: Invalid value: "requests.hugepages-2Mi": only divisor's values ` + units + ` are supported with the hugepages resource`}},
		{spec: `"volumes":[{"name":"v","emptyDir":{}}],` + container(`"volumeMounts":[{"name":"v","mountPath":"/a","subPathExpr":"../x"},{"name":"v","mountPath":"/b","recursiveReadOnly":"X","mountPropagation":"Y"},{}]`), want: []string{
			at + `.volumeMounts.mountPropagation: Unsupported value: "Y": supported values: "Bidirectional", "HostToContainer", "None"`, at + `.volumeMounts[2].name: Required value`, at + `.volumeMounts[2].mountPath: Required value`,
			at + `.volumeMounts.subPathExpr: Invalid value: "../x": must not contain '..'`, at + `.volumeMounts[2].name: Not found: ""`, at + `.volumeMounts.recursiveReadOnly: Unsupported value: "X": supported values: "Disabled", "Enabled", "IfPossible"`}},
		{spec: `"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}],` + container(`"volumeDevices":[{"name":"v","devicePath":"/a"},{"name":"v","devicePath":"/b"},{}]`), want: []string{
			at + `.volumeDevices[2].name: Not found: ""`, at + `.volumeDevices[2].name: Required value`, at + `.volumeDevices[2].devicePath: Required value`, at + `.volumeDevices[1].name: Invalid value: "v": must be unique`}},
		{spec: container(`"livenessProbe":{"exec":{}}`), want: []string{at + `.livenessProbe.exec.command: Required value`}},
		{spec: container(`"livenessProbe":{"grpc":{"port":1},"initialDelaySeconds":-1,"timeoutSeconds":-1,"periodSeconds":-1,"successThreshold":-1,"failureThreshold":-1}`), want: []string{
			at + `.livenessProbe.initialDelaySeconds: Invalid value: -1: must be greater than or equal to 0`, at + `.livenessProbe.timeoutSeconds: Invalid value: -1: must be greater than or equal to 0`,
			at + `.livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0`, at + `.livenessProbe.successThreshold: Invalid value: -1: must be greater than or equal to 0`,
			at + `.livenessProbe.failureThreshold: Invalid value: -1: must be greater than or equal to 0`, at + `.livenessProbe.successThreshold: Invalid value: -1: must be 1`}},
		{spec: container(`"livenessProbe":{"httpGet":{"port":1,"scheme":"ftp"}}`), want: []string{at + `.livenessProbe.httpGet.scheme: Unsupported value: "ftp": supported values: "HTTP", "HTTPS"`}},
		{spec: `"containers":[{}]`, want: []string{at + `.name: Required value`, at + `.image: Required value`}},
		{spec: `"containers":[{"name":"A","image":"i"}],"initContainers":[{"name":"A","image":"i"}]`, want: []string{
			`spec.initContainers[0].name: Invalid value: "A": a lowercase RFC 1123 label…`, at + `.name: Invalid value: "A": a lowercase RFC 1123 label…`, `spec.initContainers[0].name: Duplicate value: "A"`}},
	})
}

func TestPlacementValidation(t *testing.T) {
	const spread = "spec.topologySpreadConstraints[0]"
	const must, should = `"requiredDuringSchedulingIgnoredDuringExecution"`, `"preferredDuringSchedulingIgnoredDuringExecution"`
	runPodCases(t, []podCase{
		{spec: `"nodeSelector":{"a b":"c d"}`, want: []string{`spec.nodeSelector: Invalid value: "a b": name part…`, `spec.nodeSelector: Invalid value: "c d": a valid label…`}},
		{spec: `"tolerations":[{"key":"a b","operator":"Exists"},{"key":"a","operator":"X"},{"key":"a","operator":"Exists","effect":"Y"}]`, want: []string{
			`spec.tolerations[1].operator: Unsupported value: "X": supported values: "Equal", "Exists"`, `spec.tolerations[2].effect: Unsupported value: "Y": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
			`spec.tolerations[0].key: Invalid value: "a b": name part…`}},
		{spec: `"topologySpreadConstraints":[{"maxSkew":1}]`, want: []string{spread + `.topologyKey: Required value: can not be empty`, spread + `.whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"`}},
		{spec: `"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a b","whenUnsatisfiable":"X","nodeAffinityPolicy":"Y","nodeTaintsPolicy":"Z","labelSelector":{"matchLabels":{"c d":"e"}}}]`, want: []string{
			spread + `.whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway"`, spread + `.nodeAffinityPolicy: Unsupported value: "Y": supported values: "Honor", "Ignore"`,
			spread + `.nodeTaintsPolicy: Unsupported value: "Z": supported values: "Honor", "Ignore"`,
			spread + `.labelSelector.matchLabels: Invalid value: "c d": name part…`}},
		{spec: `"affinity":{"nodeAffinity":{` + should + `:[{"weight":1,"preference":{"matchExpressions":[{"key":"a","operator":"X"}],"matchFields":[{"key":"metadata.name","operator":"Exists","values":["a"]},{"key":"metadata.name","values":["a"]},{"key":"x","operator":"In","values":["a"]}]}}]}}`, want: []string{
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].operator: Invalid value: "X": not a valid selector operator`,
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[0].operator: Invalid value: "Exists": not a valid selector operator`,
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[1].operator: Invalid value: "": not a valid selector operator`,
			`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[2].key: Invalid value: "x": not a valid field selector key`}},
		{spec: `"affinity":{"podAffinity":{` + must + `:[{"topologyKey":"a b","namespaceSelector":{"matchLabels":{"c d":"e"}}},{}]}}`, want: []string{
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].topologyKey: Required value: can not be empty`,
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector.matchLabels: Invalid value: "c d": name part…`,
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "a b": name part…`,
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].topologyKey: Invalid value: "": name part must be non-empty`,
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].topologyKey: Invalid value: "": name part must consist…`}},
	})
}

func TestPodSpecValidation(t *testing.T) {
	runPodCases(t, []podCase{
		{spec: `"restartPolicy":"X","dnsPolicy":"Y","preemptionPolicy":"Z"`, want: []string{`spec.restartPolicy: Unsupported value: "X": supported values: "Always", "OnFailure", "Never"`,
			`spec.dnsPolicy: Unsupported value: "Y": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`, `spec.preemptionPolicy: Unsupported value: "Z": supported values: "PreemptLowerPriority", "Never"`}},
		{spec: `"terminationGracePeriodSeconds":-1,"activeDeadlineSeconds":0`, want: []string{`spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive`}},
		{spec: `"serviceAccountName":"A","nodeName":"B","priorityClassName":"C","runtimeClassName":"D","hostname":"E","subdomain":"F"`, want: []string{`spec.serviceAccountName: Invalid value: "A": a lowercase RFC 1123 subdomain…`,
			`spec.nodeName: Invalid value: "B": a lowercase RFC 1123 subdomain…`, `spec.hostname: Invalid value: "E": a lowercase RFC 1123 label…`, `spec.subdomain: Invalid value: "F": a lowercase RFC 1123 label…`,
			`spec.priorityClassName: Invalid value: "C": a lowercase RFC 1123 subdomain…`, `spec.runtimeClassName: Invalid value: "D": a lowercase RFC 1123 subdomain…`}},
		{spec: `"readinessGates":[{}]`, want: []string{`spec.readinessGates[0].conditionType: Invalid value: "": name part must be non-empty`, `spec.readinessGates[0].conditionType: Invalid value: "": name part must consist…`}},
		{spec: `"securityContext":{"fsGroupChangePolicy":"X","supplementalGroupsPolicy":"Y","seccompProfile":{"type":"Z"},"appArmorProfile":{}}`, want: []string{
			`spec.securityContext.supplementalGroupsPolicy: Unsupported value: "Y": supported values: "Merge", "Strict"`, `spec.securityContext.fsGroupChangePolicy: Unsupported value: "X": supported values: "Always", "OnRootMismatch"`,
			`spec.securityContext.seccompProfile.type: Unsupported value: "Z": supported values: "Localhost", "RuntimeDefault", "Unconfined"`, `spec.securityContext.appArmorProfile.type: Required value`}},
		{spec: `"securityContext":{"seccompProfile":{"type":"Localhost"}}`, want: []string{`spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost`}},
		{spec: `"resourceClaims":[{"name":"a","resourceClaimName":"A"},{"name":"b","resourceClaimTemplateName":"B"}]`, want: []string{
			`spec.resourceClaims[0].resourceClaimName: Invalid value: "A": a lowercase RFC 1123 subdomain…`, `spec.resourceClaims[1].resourceClaimTemplateName: Invalid value: "B": a lowercase RFC 1123 subdomain…`}},
	})
}

func TestVolumeValidation(t *testing.T) {
	const at = "spec.volumes[0]."
	volume := func(source string) string { return `"volumes":[{"name":"v",` + source + `}]` }
	projected := func(source string) string {
		return `"serviceAccountName":"sa",` + volume(`"projected":{"sources":[{`+source+`}]}`)
	}
	runPodCases(t, []podCase{
		{spec: `"volumes":[{"name":"A","emptyDir":{}},{"name":"a","emptyDir":{}},{"name":"a","emptyDir":{}}]`, want: []string{`spec.volumes[0].name: Invalid value: "A": a lowercase RFC 1123 label…`, `spec.volumes[2].name: Duplicate value: "a"`}},
		{spec: volume(`"image":{"reference":"r","pullPolicy":"X"}`), want: []string{at + `image.pullPolicy: Unsupported value: "X": supported values: "Always", "IfNotPresent", "Never"`}},
		{spec: volume(`"configMap":{"name":"c","items":[{},{"key":"k","path":"..a"},{"key":"k","path":"p","mode":512}]}`), want: []string{at + `configMap.items[0].key: Required value`, at + `configMap.items[0].path: Required value`,
			at + `configMap.items[2].mode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive`, at + `configMap.items[1].path: Invalid value: "..a": must not start with '..'`}},
		{spec: volume(`"downwardAPI":{"items":[{"fieldRef":{"fieldPath":"metadata.name"},"mode":512},{"path":"../a","resourceFieldRef":{}},{"path":"b","resourceFieldRef":{"containerName":"c"}},{"path":"c","fieldRef":{}}]}`), want: []string{at + `downwardAPI.path: Required value`,
			at + `downwardAPI.mode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive`, at + `downwardAPI.path: Invalid value: "../a": must not contain '..'`,
			at + `downwardAPI.resourceFieldRef.containerName: Required value`, at + `downwardAPI.resourceFieldRef.resource: Required value`, at + `downwardAPI.fieldRef.fieldPath: Required value`}},
		{spec: volume(`"ephemeral":{"volumeClaimTemplate":{"metadata":{"labels":{"a b":"c"},"annotations":{"d e":"f"}}}}`), want: []string{at + `ephemeral.volumeClaimTemplate.metadata.labels: Invalid value: "a b": name part…`,
			at + `ephemeral.volumeClaimTemplate.metadata.annotations: Invalid value: "d e": name part…`, at + `ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required`, at + `ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value`}},
		{spec: volume(`"hostPath":{"path":"/a/../b","type":"X"}`), want: []string{at + `hostPath.type: Unsupported value: "X": supported values: "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"`,
			at + `hostPath.path: Invalid value: "/a/../b": must not contain '..'`}},
		{spec: volume(`"nfs":{"server":"s","path":"p"}`), want: []string{at + `nfs.path: Invalid value: "p": must be an absolute path`}},
		{spec: volume(`"iscsi":{"targetPortal":"p","iqn":"iqn.2015-02.example.com:x","lun":256,"chapAuthSession":true}`), want: []string{at + `iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive`, at + `iscsi.secretRef: Required value`}},
		{spec: volume(`"iscsi":{"targetPortal":"p","iqn":"iqn.2015-02.example.com:x","lun":0,"secretRef":{}}`)},
		{spec: volume(`"csi":{"driver":"d.e","nodePublishSecretRef":{"name":"A b"}}`), want: []string{at + `csi.name: Invalid value: "A b": a lowercase RFC 1123 subdomain…`}},
		{spec: volume(`"azureDisk":{"diskName":"n","diskURI":"https://a.b/c.vhd","cachingMode":"","fsType":"","kind":""}`), want: []string{
			at + `azureDisk.cachingMode: Unsupported value: "": supported values: "None", "ReadOnly", "ReadWrite"`, at + `azureDisk.kind: Unsupported value: "": supported values: "Dedicated", "Managed", "Shared"`}},
		{spec: volume(`"fc":{"targetWWNs":["a"],"lun":256}`), want: []string{at + `fc.lun: Invalid value: 256: must be between 0 and 255, inclusive`}},
		{spec: volume(`"storageos":{"volumeName":"A","volumeNamespace":"B"}`), want: []string{at + `storageos.volumeName: Invalid value: "A": a lowercase RFC 1123 label…`, at + `storageos.volumeNamespace: Invalid value: "B": a lowercase RFC 1123 label…`}},
		{spec: projected(`"configMap":{"items":[{"key":"k","path":"/p"}]}`), want: []string{at + `projected.sources[0].configMap.items[0].path: Invalid value: "/p": must be a relative path`, at + `projected.sources[0].configMap.name: Required value`}},
		{spec: projected(`"secret":{"name":"s","items":[{"key":"k","path":"..p"}]}`), want: []string{at + `projected.sources[0].secret.items[0].path: Invalid value: "..p": must not start with '..'`}},
		{spec: projected(`"downwardAPI":{"items":[{"path":"p"}]}`), want: []string{at + `projected.sources[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required`}},
		{spec: projected(`"clusterTrustBundle":{"name":"n"}`), want: []string{at + `projected.sources[0].clusterTrustBundle.path: Required value`}},
		{spec: projected(`"clusterTrustBundle":{"name":"n","path":"..p"}`), want: []string{at + `projected.sources[0].clusterTrustBundle.path: Invalid value: "..p": must not start with '..'`}},
		{spec: projected(`"serviceAccountToken":{}`), want: []string{at + `projected.path: Required value`}},
		{spec: projected(`"serviceAccountToken":{"path":"..p"}`), want: []string{at + `projected.path: Invalid value: "..p": must not start with '..'`}},
	})
}
