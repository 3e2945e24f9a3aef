package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// volume is the body of a PersistentVolume with fields of its spec beyond size and mode.
func volume(spec string) string {
	return `{"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],` + spec + `}}`
}

const csiVolume = `"csi":{"driver":"d","volumeHandle":"h"}`

func TestPersistentVolumeDefaults(t *testing.T) {
	k := coreKind(t, meta.Platform, "PersistentVolume")
	obj := named(k, parseTree(t, volume(csiVolume)))
	obj.Object("metadata")["creationTimestamp"] = "2026-01-01T00:00:00Z"
	obj["status"] = tree.Tree{"phase": "Bound"}
	expect(t, "create", create(k, obj), nil)
	equalJSON(t, "spec", obj["spec"], `{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"csi":{"driver":"d","volumeHandle":"h"},
		"persistentVolumeReclaimPolicy":"Retain","volumeMode":"Filesystem"}`)
	equalJSON(t, "status", obj["status"], `{"phase":"Pending","lastPhaseTransitionTime":"2026-01-01T00:00:00Z"}`)
	for source, want := range map[string]string{
		`"iscsi":{"targetPortal":"p","iqn":"iqn.2001-04.com.example:a","lun":0}`: `{"targetPortal":"p","iqn":"iqn.2001-04.com.example:a","lun":0,"iscsiInterface":"default"}`,
		`"rbd":{"monitors":["m"],"image":"i"}`:                                   `{"monitors":["m"],"image":"i","pool":"rbd","user":"admin","keyring":"/etc/ceph/keyring"}`,
		`"hostPath":{"path":"/a"}`:                                               `{"path":"/a","type":""}`,
	} {
		name, _, _ := strings.Cut(source[1:], `"`)
		equalJSON(t, source, defaulted(t, k, volume(source))["spec"].(tree.Tree)[name], want)
	}
}

func TestPersistentVolumeFaults(t *testing.T) {
	k := coreKind(t, meta.Kubernetes, "PersistentVolume")
	const affinity = `"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}]}}`
	runBodyCases(t, k, []bodyCase{
		{volume(csiVolume + `,"storageClassName":"a.b","volumeAttributesClassName":"c","volumeMode":"Block","mountOptions":["x y"],"claimRef":{"name":"n"}`), nil},
		{volume(csiVolume + `,"persistentVolumeReclaimPolicy":"Keep","volumeMode":"Tape","storageClassName":"A"`), []string{
			`spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"`,
			`spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"`, `spec.storageClassName: Invalid value: "A": a lowercase…`}},
		{`{"spec":{` + csiVolume + `}}`, []string{`spec.capacity: Required value`, `spec.capacity: Unsupported value: null: supported values: "storage"`, `spec.accessModes: Required value`}},
		{`{"spec":{"capacity":{"storage":"0","cpu":"-1"},"accessModes":["ReadWriteOncePod","ReadOnlyMany","Nope"],` + csiVolume + `}}`, []string{
			`spec.accessModes: Unsupported value: "Nope": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`,
			`spec.capacity: Unsupported value: {"cpu":"-1","storage":"0"}: supported values: "storage"`,
			`spec.capacity[cpu]: Invalid value: "-1": must be a valid resource quantity`, `spec.capacity[cpu]: Invalid value: "-1": must be greater than zero`,
			`spec.capacity[storage]: Invalid value: "0": must be greater than zero`,
			`spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes`}},
		{volume(`"mountOptions":[]`), []string{`spec: Required value: must specify a volume type`}},
		{volume(csiVolume + `,"nfs":{"server":"s","path":"/"}`), []string{`spec.nfs: Forbidden: may not specify more than 1 volume type`}},
		{volume(`"local":{"path":"/x"}`), []string{`spec.nodeAffinity: Required value: Local volume requires node affinity`}},
		{volume(`"local":{"path":"/x","fsType":"ext4"},` + affinity), nil},
		{volume(`"local":{"path":"/x/../y"},` + affinity), []string{`spec.local.path: Invalid value: "/x/../y": must not contain '..'`}},
		{volume(`"local":{},` + affinity), []string{`spec.local.path: Required value`}},
		{volume(csiVolume + `,"nodeAffinity":{}`), []string{`spec.nodeAffinity.required: Required value: must specify required node constraints`}},
		{volume(csiVolume + `,"nodeAffinity":{"required":{"nodeSelectorTerms":[]}}`), []string{`spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term`}},
		{volume(csiVolume + `,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In"}],"matchFields":[{"key":"x","operator":"In","values":["n"]}]}]}}`), []string{
			"spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			`spec.nodeAffinity.required.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "x": not a valid field selector key`}},
		{volume(`"hostPath":{"path":"/a/.."},"persistentVolumeReclaimPolicy":"Recycle"`), []string{`spec.hostPath.path: Invalid value: "/a/..": must not contain '..'`,
			`spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'`}},
		{volume(`"nfs":{"server":"s","path":"/"},"volumeAttributesClassName":""`), []string{`spec.volumeAttributesClassName: Required value: an empty string is disallowed`,
			`spec.csi: Required value: has to be specified when using volumeAttributesClassName`}},
	})
}

func TestPersistentVolumeSources(t *testing.T) {
	k := coreKind(t, meta.Platform, "PersistentVolume")
	runBodyCases(t, k, []bodyCase{
		{volume(`"csi":{}`), []string{`spec.csi.driver: Required value`, `spec.csi.volumeHandle: Required value`}},
		{volume(`"csi":{"driver":"d_e","volumeHandle":"h"}`), []string{`spec.csi.driver: Invalid value: "d_e": a lowercase RFC 1123 subdomain…`}},
		{volume(`"csi":{"driver":"D.e","volumeHandle":"h","fsType":"x","readOnly":true,"volumeAttributes":{"a":"b"},"controllerExpandSecretRef":{"name":"a","namespace":"b"}}`), nil},
		{volume(`"csi":{"driver":"d","volumeHandle":"h","controllerExpandSecretRef":{},"controllerPublishSecretRef":{"name":"a"},"nodePublishSecretRef":{"namespace":"b"},"nodeStageSecretRef":{"name":"A","namespace":"b.c"}}`), []string{
			`spec.csi.controllerExpandSecretRef.name: Required value`, `spec.csi.controllerExpandSecretRef.namespace: Required value`,
			`spec.csi.controllerPublishSecretRef.namespace: Required value`, `spec.csi.nodePublishSecretRef.name: Required value`,
			`spec.csi.nodeStageSecretRef.name: Invalid value: "A": a lowercase RFC 1123 subdomain…`, `spec.csi.nodeStageSecretRef.namespace: Invalid value: "b.c": a lowercase RFC 1123 label…`}},
		{volume(`"fc":{"wwids":["a"],"targetWWNs":["b"],"lun":1}`), []string{`spec.fc.targetWWNs: Invalid value: ["b"]: targetWWNs and wwids can not be specified simultaneously`}},
		{volume(`"iscsi":{"targetPortal":"p","iqn":"iqn.bad","lun":256,"chapAuthDiscovery":true}`), []string{`spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive`,
			`spec.iscsi.iqn: Invalid value: "iqn.bad": must be valid format`, `spec.iscsi.secretRef: Required value`}},
		{volume(`"iscsi":{"targetPortal":"` + strings.Repeat("p", 63) + `","iqn":"naa.62004567BA64678D0123456789ABCDEF","lun":0,"initiatorName":"eui.0123456789ABCDEF"}`), []string{
			`metadata.name: Invalid value: "x": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.`}},
		{volume(`"flexVolume":{"secretRef":{"namespace":"a"}}`), []string{`spec.flexVolume.driver: Required value`, `spec.flexVolume.secretRef.name: Required value`}},
		{volume(`"glusterfs":{"endpoints":"e","path":"p","endpointsNamespace":""}`), []string{`spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name`}},
		{volume(`"azureFile":{"secretName":"a","shareName":"b","secretNamespace":""}`), []string{`spec.azureFile.secretNamespace: Required value`}},
		{volume(`"azureDisk":{"diskName":"a","diskURI":"b"}`), []string{`spec.azureDisk.diskURI: Unsupported value: "b": supported values: "https://{account-name}…`}},
		{volume(`"azureDisk":{"diskName":"a","diskURI":"https://b","kind":"Managed"}`), []string{`spec.azureDisk.diskURI: Unsupported value: "https://b": supported values: "/subscriptions/…`}},
		{volume(`"flocker":{}`), []string{`spec.flocker: Required value: one of datasetName and datasetUUID is required`}},
		{volume(`"flocker":{"datasetName":"a/b","datasetUUID":"c"}`), []string{`spec.flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously`,
			`spec.flocker.datasetName: Invalid value: "a/b": must not contain '/'`}},
		{volume(`"quobyte":{"registry":"a:1,b","volume":"v"}`), []string{`spec.quobyte.registry: Invalid value: "a:1,b": must be a host:port pair or multiple pairs separated by commas`}},
		{volume(`"cinder":{"volumeID":"v","secretRef":{}}`), []string{`spec.cinder.secretRef.name: Required value`, `spec.cinder.secretRef.namespace: Required value`}},
		{volume(`"storageos":{}`), []string{`spec.storageos.volumeName: Required value`}},
		{volume(`"gcePersistentDisk":{"pdName":"a","partition":256}`), []string{`spec.gcePersistentDisk.partition: Invalid value: 256: must be between 0 and 255, inclusive`}},
		{volume(`"scaleIO":{"gateway":"g","system":"s"}`), []string{`spec.scaleIO.volumeName: Required value`}},
		{volume(`"vsphereVolume":{}`), []string{`spec.vsphereVolume.volumePath: Required value`}},
	})
}

func TestPersistentVolumeUpdate(t *testing.T) {
	k := coreKind(t, meta.Platform, "PersistentVolume")
	const affinity = `,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}`
	const secret = `"csi":{"driver":"d","volumeHandle":"h","controllerExpandSecretRef":{"name":"a","namespace":"b"}}`
	const source = `spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation`
	runUpdateCases(t, k, []updateCase{
		{volume(csiVolume), volume(csiVolume + affinity + `,"persistentVolumeReclaimPolicy":"Delete","storageClassName":"a","claimRef":{"name":"c"},"mountOptions":["a"],"volumeAttributesClassName":"v"`), nil},
		{volume(csiVolume), volume(`"csi":{"driver":"d","volumeHandle":"i"}`), []string{source}},
		{volume(csiVolume), volume(`"nfs":{"server":"s","path":"/"}`), []string{source}},
		{volume(csiVolume), volume(secret), nil},
		{volume(secret), volume(csiVolume), []string{source}},
		{volume(csiVolume), volume(csiVolume + `,"volumeMode":"Block"`), []string{`volumeMode: Invalid value: "Block": field is immutable`}},
		{volume(csiVolume + affinity), volume(csiVolume), []string{`nodeAffinity: Invalid value: null: field is immutable, except for updating from beta label to GA`}},
		{volume(csiVolume + `,"volumeAttributesClassName":"v"`), volume(csiVolume), []string{`spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden`}},
	})
}

func TestPersistentVolumeStatus(t *testing.T) {
	view := coreKind(t, meta.Platform, "PersistentVolume").Subresource("status").View
	for body, want := range map[string]string{
		`{"phase":"Bound"}`: `{"phase":"Bound","lastPhaseTransitionTime":"now"}`,
		`{"phase":"Bound","lastPhaseTransitionTime":"t"}`:                   `{"phase":"Bound","lastPhaseTransitionTime":"now"}`,
		`{"phase":"Bound","lastPhaseTransitionTime":"u"}`:                   `{"phase":"Bound","lastPhaseTransitionTime":"u"}`,
		`{"phase":"Pending","lastPhaseTransitionTime":"t","message":"m"}`:   `{"phase":"Pending","lastPhaseTransitionTime":"t","message":"m"}`,
		`{"phase":"Failed","reason":"R","lastPhaseTransitionTime":"later"}`: `{"phase":"Failed","reason":"R","lastPhaseTransitionTime":"later"}`,
	} {
		obj := parseTree(t, `{"status":{"phase":"Pending","lastPhaseTransitionTime":"t"}}`)
		if err := view.Write(obj, tree.Tree{"status": parseTree(t, body)}, "now", &schema.Faults{}); err != nil {
			t.Fatal(err)
		}
		equalJSON(t, body, obj["status"], want)
	}
}
