package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestVolumeDefaults(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	for source, want := range map[string]string{
		`"configMap":{"name":"a"}`: `{"name":"a","defaultMode":420}`,
		`"secret":{"secretName":"a","optional":true,"items":[{"key":"k","path":"p/q","mode":0}]}`: `{"secretName":"a","optional":true,"defaultMode":420,"items":[{"key":"k","path":"p/q","mode":0}]}`,
		`"downwardAPI":{"items":[{"path":"p","fieldRef":{"fieldPath":"metadata.name"}}]}`:         `{"defaultMode":420,"items":[{"path":"p","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}]}`,
		`"projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}`:                          `{"defaultMode":420,"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":3600}}]}`,
		`"iscsi":{"targetPortal":"10.0.0.1:3260","iqn":"iqn.2001-04.com.example:a","lun":0}`:      `{"targetPortal":"10.0.0.1:3260","iqn":"iqn.2001-04.com.example:a","lun":0,"iscsiInterface":"default"}`,
		`"csi":{"driver":"D.e","volumeAttributes":{"a":"b"},"nodePublishSecretRef":{"name":"s"}}`: `{"driver":"D.e","volumeAttributes":{"a":"b"},"nodePublishSecretRef":{"name":"s"}}`,
		`"fc":{"wwids":["a"]}`: `{"wwids":["a"]}`,
		`"flexVolume":{"driver":"d/e","options":{"a":"b"},"secretRef":{"name":"s"}}`: `{"driver":"d/e","options":{"a":"b"},"secretRef":{"name":"s"}}`,
		`"image":{"reference":"a:1"}`: `{"reference":"a:1","pullPolicy":"IfNotPresent"}`,
	} {
		obj := newPod(t, k, `"serviceAccountName":"sa","volumes":[{"name":"v",`+source+`}]`)
		Expect(t, source, Create(k, obj), nil)
		name, _, _ := strings.Cut(source[1:], `"`)
		EqualJSON(t, source, obj.Object("spec").Objects("volumes")[0][name], want)
	}
}

func TestVolumeSourceFaults(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	const at, base = "spec.volumes[0]", `"targetPortal":"p","lun":0`
	for source, want := range map[string][]string{
		`"projected":{"defaultMode":512,"sources":[{"serviceAccountToken":{"path":"a","expirationSeconds":599}}]}`: {
			at + `.projected.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive`,
			at + `.projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`},
		`"projected":{"sources":[{"serviceAccountToken":{"path":"../a"}}]}`: {at + `.projected.path: Invalid value: "../a": must not contain '..'`},
		`"projected":{"sources":[{"serviceAccountToken":{}}]}`:              {at + `.projected.path: Required value`},
		`"iscsi":{` + base + `,"iqn":"iqn.bad"}`:                            {at + `.iscsi.iqn: Invalid value: "iqn.bad": must be valid format`},
		`"iscsi":{` + base + `,"iqn":"eui.0123"}`:                           {at + `.iscsi.iqn: Invalid value: "eui.0123": must be valid format`},
		`"iscsi":{` + base + `,"iqn":"naa.0123456789ABCDEF0123456789ABCDEF","initiatorName":"iqn bad"}`: {
			at + `.iscsi.initiatorName: Invalid value: "iqn bad": must be valid format`},
		`"iscsi":{"targetPortal":"` + strings.Repeat("p", 63) + `","lun":0,"iqn":"iqn.2001-04.com.example:a","initiatorName":"iqn.2001-04.com.example:b"}`: {
			at + `.name: Invalid value: "v": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.`},
		`"csi":{"driver":"d_e"}`:                                   {at + `.csi.driver: Invalid value: "d_e": a lowercase RFC 1123 subdomain…`},
		`"gitRepo":{"repository":"r","directory":"a/../b"}`:        {at + `.gitRepo.directory: Invalid value: "a/../b": must not contain '..'`},
		`"downwardAPI":{"defaultMode":-1,"items":[{"path":"/a"}]}`: {at + `.downwardAPI.defaultMode: Invalid value: -1: must be a number…`, at + `.downwardAPI.path: Invalid value: "/a": must be a relative path`, at + `.downwardAPI: Required value: one of fieldRef and resourceFieldRef is required`},
		`"awsElasticBlockStore":{"volumeID":"a","partition":256}`:  {at + `.awsElasticBlockStore.partition: Invalid value: 256: must be between 0 and 255, inclusive`},
		`"azureFile":{}`: {at + `.azureFile.secretName: Required value`, at + `.azureFile.shareName: Required value`},
		`"cephfs":{}`:    {at + `.cephfs.monitors: Required value`},
		`"cinder":{"volumeID":"a","secretRef":{}}`: {at + `.cinder.secretRef.name: Required value`},
		`"glusterfs":{"endpoints":"e"}`:            {at + `.glusterfs.path: Required value`},
		`"rbd":{"monitors":["a"]}`:                 {at + `.rbd.image: Required value`},
		`"photonPersistentDisk":{}`:                {at + `.photonPersistentDisk.pdID: Required value`},
		`"portworxVolume":{}`:                      {at + `.portworxVolume.volumeID: Required value`},
		`"storageos":{"volumeName":"A"}`:           {at + `.storageos.volumeName: Invalid value: "A": a lowercase RFC 1123 label…`},
		`"quobyte":{"registry":"a","volume":"v","tenant":"` + strings.Repeat("t", 65) + `"}`: {
			at + `.quobyte.registry: Invalid value: "a": must be a host:port pair or multiple pairs separated by commas`,
			at + `.quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters`},
	} {
		Expect(t, source, Create(k, newPod(t, k, `"serviceAccountName":"sa","volumes":[{"name":"v",`+source+`}]`)), want)
	}
}

func TestEphemeralVolumeIsImmutable(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	with := func(size string) string {
		return `"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"metadata":{"labels":{"a":"b"},"annotations":{"c":"d"}},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"` + size + `"}}}}}}]`
	}
	old := createdPod(t, k, with("1Gi"))
	Expect(t, "the same", Update(k, newPod(t, k, with("1Gi")), old), nil)
	Expect(t, "bigger", Update(k, newPod(t, k, with("2Gi")), old), []string{"spec: Forbidden: pod updates may not change fields other than…"})
}

func TestMountFaults(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	const at = "spec.containers[0]"
	for container, want := range map[string][]string{
		`"volumeDevices":[{"name":"e","devicePath":"/d"}]`:                                {at + `.volumeDevices[0].name: Invalid value: "e": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`},
		`"volumeDevices":[{"name":"p","devicePath":"/d"},{"name":"z","devicePath":"/d"}]`: {at + `.volumeDevices[1].name: Not found: "z"`, at + `.volumeDevices[1].devicePath: Invalid value: "/d": must be unique`},
		`"volumeDevices":[{"name":"p","devicePath":"/a/../d"}]`:                           {at + `.volumeDevices[0].devicePath: Invalid value: "/a/../d": can not contain backsteps ('..')`},
		`"volumeDevices":[{"name":"p","devicePath":"/d"}],"volumeMounts":[{"name":"p","mountPath":"/d"}]`: {
			at + `.volumeMounts[0].name: Invalid value: "p": must not already exist in volumeDevices`, at + `.volumeMounts[0].mountPath: Invalid value: "/d": must not already exist as a path in volumeDevices`,
			at + `.volumeDevices[0].name: Invalid value: "p": must not already exist in volumeMounts`, at + `.volumeDevices[0].devicePath: Invalid value: "/d": must not already exist as a path in volumeMounts`},
		`"volumeMounts":[{"name":"e","mountPath":"/d","subPath":"a","subPathExpr":"b"}]`:    {at + `.volumeMounts[0].subPathExpr: Invalid value: "b": subPathExpr and subPath are mutually exclusive`},
		`"volumeMounts":[{"name":"e","mountPath":"/d","mountPropagation":"Bidirectional"}]`: {at + `.volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`},
		`"volumeMounts":[{"name":"e","mountPath":"/d","recursiveReadOnly":"Enabled","mountPropagation":"HostToContainer"}]`: {
			at + `.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true`,
			at + `.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified`},
		`"volumeMounts":[{"name":"e","mountPath":"/d","recursiveReadOnly":"Enabled","readOnly":true},{"name":"p","mountPath":"/e"}]`: nil,
		`"resources":{"claims":[{"name":"r"},{"name":"r"},{"name":"z"},{}]}`:                                                         {at + `.resources.claims[1]: Duplicate value: "r"`, at + `.resources.claims[2]: Not found: "z": must be one of the names in pod.spec.resourceClaims: r`, at + `.resources.claims[3]: Required value`},
		`"resizePolicy":[{"resourceName":"gpu","restartPolicy":"NotRequired"},{"resourceName":"cpu","restartPolicy":"Maybe"},{"resourceName":"cpu","restartPolicy":"RestartContainer"}]`: {
			at + `.resizePolicy: Unsupported value: "gpu": supported values: "cpu", "memory"`, at + `.resizePolicy: Unsupported value: "Maybe": supported values: "NotRequired", "RestartContainer"`,
			at + `.resizePolicy: Invalid value: "Maybe": must be 'NotRequired' when…`, at + `.resizePolicy[2]: Duplicate value: "cpu"`, at + `.resizePolicy: Invalid value: "RestartContainer": must be 'NotRequired' when…`},
	} {
		spec := `"restartPolicy":"Never","resourceClaims":[{"name":"r","resourceClaimName":"c"}],"volumes":[{"name":"e"},{"name":"p","persistentVolumeClaim":{"claimName":"c"}}],"containers":[{"name":"c","image":"i",` + container + `}]`
		Expect(t, container, Create(k, newPod(t, k, spec)), want)
	}
	Expect(t, "claims", Create(k, newPod(t, k, `"os":{"name":"plan9"},"resourceClaims":[{"name":"A","resourceClaimName":"c","resourceClaimTemplateName":"t"},{"name":"b"}]`)), []string{
		`spec.os.name: Unsupported value: "plan9": supported values: "linux", "windows"`, `spec.resourceClaims[0].name: Invalid value: "A": a lowercase RFC 1123 label…`,
		`spec.resourceClaims[0]: Invalid value: {…`,
		"spec.resourceClaims[1]: Invalid value: {\"name\":\"b\"}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"})
}
