package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestPersistentVolumeDefaults(t *testing.T) {
	k := CoreKind(t, meta.Platform, "PersistentVolume")
	obj := Named(k, Parse(t, volumeBody(CSIVolume)))
	obj.Object("metadata")["creationTimestamp"] = "2026-01-01T00:00:00Z"
	obj["status"] = tree.Tree{"phase": "Bound"}
	Expect(t, "create", Create(k, obj), nil)
	EqualJSON(t, "spec", obj["spec"], `{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"csi":{"driver":"d","volumeHandle":"h"},
		"persistentVolumeReclaimPolicy":"Retain","volumeMode":"Filesystem"}`)
	EqualJSON(t, "status", obj["status"], `{"phase":"Pending","lastPhaseTransitionTime":"2026-01-01T00:00:00Z"}`)
	for source, want := range map[string]string{
		`"iscsi":{"targetPortal":"p","iqn":"iqn.2001-04.com.example:a","lun":0}`: `{"targetPortal":"p","iqn":"iqn.2001-04.com.example:a","lun":0,"iscsiInterface":"default"}`,
		`"rbd":{"monitors":["m"],"image":"i"}`:                                   `{"monitors":["m"],"image":"i","pool":"rbd","user":"admin","keyring":"/etc/ceph/keyring"}`,
		`"hostPath":{"path":"/a"}`:                                               `{"path":"/a","type":""}`,
	} {
		name, _, _ := strings.Cut(source[1:], `"`)
		EqualJSON(t, source, Defaulted(t, k, volumeBody(source))["spec"].(tree.Tree)[name], want)
	}
}

func TestPersistentVolumeFaults(t *testing.T) {
	k := CoreKind(t, meta.Kubernetes, "PersistentVolume")
	const affinity = `"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}]}}`
	RunBodyCases(t, k, []BodyCase{
		{Body: volumeBody(CSIVolume + `,"storageClassName":"a.b","volumeAttributesClassName":"c","volumeMode":"Block","mountOptions":["x y"],"claimRef":{"name":"n"}`), Want: nil},
		{Body: volumeBody(CSIVolume + `,"persistentVolumeReclaimPolicy":"Keep","volumeMode":"Tape","storageClassName":"A"`), Want: []string{
			`spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"`,
			`spec.storageClassName: Invalid value: "A": a lowercase…`, `spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"`}},
		{Body: `{"spec":{` + CSIVolume + `}}`, Want: []string{`spec.accessModes: Required value`, `spec.capacity: Required value`, `spec.capacity: Unsupported value: null: supported values: "storage"`}},
		{Body: `{"spec":{"capacity":{"storage":"0","cpu":"-1"},"accessModes":["ReadWriteOncePod","ReadOnlyMany","Nope"],` + CSIVolume + `}}`, Want: []string{
			`spec.accessModes: Unsupported value: "Nope": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`,
			`spec.capacity: Unsupported value: {"cpu":"-1","storage":"0"}: supported values: "storage"`,
			`spec.capacity[cpu]: Invalid value: "-1": must be a valid resource quantity`, `spec.capacity[cpu]: Invalid value: "-1": must be greater than zero`,
			`spec.capacity[storage]: Invalid value: "0": must be greater than zero`,
			`spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes`}},
		{Body: volumeBody(`"mountOptions":[]`), Want: []string{`spec: Required value: must specify a volume type`}},
		{Body: volumeBody(CSIVolume + `,"nfs":{"server":"s","path":"/"}`), Want: []string{`spec.nfs: Forbidden: may not specify more than 1 volume type`}},
		{Body: volumeBody(`"local":{"path":"/x"}`), Want: []string{`spec.nodeAffinity: Required value: Local volume requires node affinity`}},
		{Body: volumeBody(`"local":{"path":"/x","fsType":"ext4"},` + affinity), Want: nil},
		{Body: volumeBody(`"local":{"path":"/x/../y"},` + affinity), Want: []string{`spec.local.path: Invalid value: "/x/../y": must not contain '..'`}},
		{Body: volumeBody(`"local":{},` + affinity), Want: []string{`spec.local.path: Required value`}},
		{Body: volumeBody(CSIVolume + `,"nodeAffinity":{}`), Want: []string{`spec.nodeAffinity.required: Required value: must specify required node constraints`}},
		{Body: volumeBody(CSIVolume + `,"nodeAffinity":{"required":{"nodeSelectorTerms":[]}}`), Want: []string{`spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term`}},
		{Body: volumeBody(CSIVolume + `,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In"}],"matchFields":[{"key":"x","operator":"In","values":["n"]}]}]}}`), Want: []string{
			"spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			`spec.nodeAffinity.required.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "x": not a valid field selector key`}},
		{Body: volumeBody(`"hostPath":{"path":"/a/.."},"persistentVolumeReclaimPolicy":"Recycle"`), Want: []string{`spec.hostPath.path: Invalid value: "/a/..": must not contain '..'`,
			`spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'`}},
		{Body: volumeBody(`"nfs":{"server":"s","path":"/"},"volumeAttributesClassName":""`), Want: []string{`spec.volumeAttributesClassName: Required value: an empty string is disallowed`,
			`spec.csi: Required value: has to be specified when using volumeAttributesClassName`}},
	})
}

func TestPersistentVolumeSources(t *testing.T) {
	k := CoreKind(t, meta.Platform, "PersistentVolume")
	RunBodyCases(t, k, []BodyCase{
		{Body: volumeBody(`"csi":{}`), Want: []string{`spec.csi.driver: Required value`, `spec.csi.volumeHandle: Required value`}},
		{Body: volumeBody(`"csi":{"driver":"d_e","volumeHandle":"h"}`), Want: []string{`spec.csi.driver: Invalid value: "d_e": a lowercase RFC 1123 subdomain…`}},
		{Body: volumeBody(`"csi":{"driver":"D.e","volumeHandle":"h","fsType":"x","readOnly":true,"volumeAttributes":{"a":"b"},"controllerExpandSecretRef":{"name":"a","namespace":"b"}}`), Want: nil},
		{Body: volumeBody(`"csi":{"driver":"d","volumeHandle":"h","controllerExpandSecretRef":{},"controllerPublishSecretRef":{"name":"a"},"nodePublishSecretRef":{"namespace":"b"},"nodeStageSecretRef":{"name":"A","namespace":"b.c"}}`), Want: []string{
			`spec.csi.controllerPublishSecretRef.namespace: Required value`, `spec.csi.nodePublishSecretRef.name: Required value`,
			`spec.csi.controllerExpandSecretRef.name: Required value`, `spec.csi.controllerExpandSecretRef.namespace: Required value`,
			`spec.csi.nodeStageSecretRef.name: Invalid value: "A": a lowercase RFC 1123 subdomain…`, `spec.csi.nodeStageSecretRef.namespace: Invalid value: "b.c": a lowercase RFC 1123 label…`}},
		{Body: volumeBody(`"fc":{"wwids":["a"],"targetWWNs":["b"],"lun":1}`), Want: []string{`spec.fc.targetWWNs: Invalid value: ["b"]: targetWWNs and wwids can not be specified simultaneously`}},
		{Body: volumeBody(`"iscsi":{"targetPortal":"p","iqn":"iqn.bad","lun":256,"chapAuthDiscovery":true}`), Want: []string{`spec.iscsi.iqn: Invalid value: "iqn.bad": must be valid format`,
			`spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive`, `spec.iscsi.secretRef: Required value`}},
		{Body: volumeBody(`"iscsi":{"targetPortal":"` + strings.Repeat("p", 63) + `","iqn":"naa.62004567BA64678D0123456789ABCDEF","lun":0,"initiatorName":"eui.0123456789ABCDEF"}`), Want: []string{
			`metadata.name: Invalid value: "x": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.`}},
		{Body: volumeBody(`"flexVolume":{"secretRef":{"namespace":"a"}}`), Want: []string{`spec.flexVolume.driver: Required value`}},
		{Body: volumeBody(`"glusterfs":{"endpoints":"e","path":"p","endpointsNamespace":""}`), Want: []string{`spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name`}},
		{Body: volumeBody(`"azureFile":{"secretName":"a","shareName":"b","secretNamespace":""}`), Want: []string{`spec.azureFile.secretNamespace: Required value`}},
		{Body: volumeBody(`"azureDisk":{"diskName":"a","diskURI":"b"}`), Want: []string{`spec.azureDisk.diskURI: Unsupported value: "b": supported values: "https://{account-name}…`}},
		{Body: volumeBody(`"azureDisk":{"diskName":"a","diskURI":"https://b","kind":"Managed"}`), Want: []string{`spec.azureDisk.diskURI: Unsupported value: "https://b": supported values: "/subscriptions/…`}},
		{Body: volumeBody(`"flocker":{}`), Want: []string{`spec.flocker: Required value: one of datasetName and datasetUUID is required`}},
		{Body: volumeBody(`"flocker":{"datasetName":"a/b","datasetUUID":"c"}`), Want: []string{`spec.flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously`,
			`spec.flocker.datasetName: Invalid value: "a/b": must not contain '/'`}},
		{Body: volumeBody(`"quobyte":{"registry":"a:1,b","volume":"v"}`), Want: []string{`spec.quobyte.registry: Invalid value: "a:1,b": must be a host:port pair or multiple pairs separated by commas`}},
		{Body: volumeBody(`"cinder":{"volumeID":"v","secretRef":{}}`), Want: []string{`spec.cinder.secretRef.name: Required value`, `spec.cinder.secretRef.namespace: Required value`}},
		{Body: volumeBody(`"storageos":{}`), Want: []string{`spec.storageos.volumeName: Required value`}},
		{Body: volumeBody(`"gcePersistentDisk":{"pdName":"a","partition":256}`), Want: []string{`spec.gcePersistentDisk.partition: Invalid value: 256: must be between 0 and 255, inclusive`}},
		{Body: volumeBody(`"scaleIO":{"gateway":"g","system":"s"}`), Want: []string{`spec.scaleIO.volumeName: Required value`}},
		{Body: volumeBody(`"vsphereVolume":{}`), Want: []string{`spec.vsphereVolume.volumePath: Required value`}},
	})
}

func TestPersistentVolumeUpdate(t *testing.T) {
	k := CoreKind(t, meta.Platform, "PersistentVolume")
	const affinity = `,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}`
	const secret = `"csi":{"driver":"d","volumeHandle":"h","controllerExpandSecretRef":{"name":"a","namespace":"b"}}`
	const source = `spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation…`
	RunUpdateCases(t, k, []UpdateCase{
		{Old: volumeBody(CSIVolume), Now: volumeBody(CSIVolume + affinity + `,"persistentVolumeReclaimPolicy":"Delete","storageClassName":"a","claimRef":{"name":"c"},"mountOptions":["a"],"volumeAttributesClassName":"v"`), Want: nil},
		{Old: volumeBody(CSIVolume), Now: volumeBody(`"csi":{"driver":"d","volumeHandle":"i"}`), Want: []string{source}},
		{Old: volumeBody(CSIVolume), Now: volumeBody(`"nfs":{"server":"s","path":"/"}`), Want: []string{source}},
		{Old: volumeBody(CSIVolume), Now: volumeBody(secret), Want: nil},
		{Old: volumeBody(secret), Now: volumeBody(CSIVolume), Want: []string{source}},
		{Old: volumeBody(CSIVolume), Now: volumeBody(CSIVolume + `,"volumeMode":"Block"`), Want: []string{`volumeMode: Invalid value: "Block": field is immutable`}},
		{Old: volumeBody(CSIVolume + affinity), Now: volumeBody(CSIVolume), Want: []string{`nodeAffinity: Invalid value: null: field is immutable, except for updating from beta label to GA`}},
		{Old: volumeBody(CSIVolume + `,"volumeAttributesClassName":"v"`), Now: volumeBody(CSIVolume), Want: []string{`spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden`}},
	})
}

func TestPersistentVolumeStatus(t *testing.T) {
	view := CoreKind(t, meta.Platform, "PersistentVolume").Subresource("status").View
	for body, want := range map[string]string{
		`{"phase":"Bound"}`: `{"phase":"Bound","lastPhaseTransitionTime":"now"}`,
		`{"phase":"Bound","lastPhaseTransitionTime":"t"}`:                   `{"phase":"Bound","lastPhaseTransitionTime":"now"}`,
		`{"phase":"Bound","lastPhaseTransitionTime":"u"}`:                   `{"phase":"Bound","lastPhaseTransitionTime":"u"}`,
		`{"phase":"Pending","lastPhaseTransitionTime":"t","message":"m"}`:   `{"phase":"Pending","lastPhaseTransitionTime":"t","message":"m"}`,
		`{"phase":"Failed","reason":"R","lastPhaseTransitionTime":"later"}`: `{"phase":"Failed","reason":"R","lastPhaseTransitionTime":"later"}`,
	} {
		obj := Parse(t, `{"status":{"phase":"Pending","lastPhaseTransitionTime":"t"}}`)
		if err := view.Write(obj, tree.Tree{"status": Parse(t, body)}, "now", &schema.Faults{}); err != nil {
			t.Fatal(err)
		}
		EqualJSON(t, body, obj["status"], want)
	}
}

func volumeBody(spec string) string {
	return `{"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],` + spec + `}}`
}
