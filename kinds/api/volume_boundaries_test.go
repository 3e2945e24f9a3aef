package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

// TestVolumeBoundaries covers both sides of each clause of compound conditions.
func TestVolumeBoundaries(t *testing.T) {
	RunBodyCases(t, CoreKind(t, meta.Platform, "PersistentVolume"), []BodyCase{
		{Body: volumeBody(CSIVolume + `,"volumeAttributesClassName":"A"`), Want: []string{`spec.volumeAttributesClassName: Invalid value: "A": a lowercase RFC 1123 subdomain…`}},
		{Body: volumeBody(`"glusterfs":{"endpoints":"e","path":"p","endpointsNamespace":"A"}`), Want: []string{`spec.glusterfs.endpointsNamespace: Invalid value: "A": a lowercase RFC 1123 label…`}}})
	claims := CoreKind(t, meta.Platform, "PersistentVolumeClaim")
	const source = `{"kind":"PersistentVolumeClaim","name":"a"}`
	old := Named(claims, Parse(t, boundClaimBody(`,"volumeMode":"Filesystem","dataSource":`+source+`,"dataSourceRef":`+source, ``)))
	now := Named(claims, Parse(t, claimBody(`,"dataSource":`+source+`,"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"a","namespace":"B"}`)))
	Expect(t, "source of another namespace", Update(claims, now, old), []string{`spec.dataSourceRef.namespace: Invalid value: "B": a lowercase RFC 1123 label…`,
		`spec: Invalid value: ` + source + `: may not be specified when dataSourceRef.namespace is specified`, `spec: Forbidden: spec is immutable after creation…`})
}

func TestVolumeStatusLimits(t *testing.T) {
	k := CoreKind(t, meta.Platform, "PersistentVolumeClaim")
	obj := Named(k, Parse(t, boundClaimBody(``, `,"capacity":{"storage":"0"},"allocatedResources":{"storage":"0"}`)))
	Expect(t, "claim", Lines(rules.Validate(k, obj)), nil)
}

func TestVolumeValidObjects(t *testing.T) {
	ExpectValid(t, "", "v1", "PersistentVolume", volumeBody(`"hostPath":{"path":"/a"},"persistentVolumeReclaimPolicy":"Recycle"`), volumeBody(`"hostPath":{"path":"/"},"persistentVolumeReclaimPolicy":"Retain"`),
		volumeBody(`"glusterfs":{"endpoints":"e","path":"p","endpointsNamespace":"a"}`), volumeBody(`"azureFile":{"secretName":"a","shareName":"b","secretNamespace":"c"}`), volumeBody(`"azureFile":{"secretName":"a","shareName":"b"}`),
		`{"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOncePod"],`+CSIVolume+`}}`)
}

func TestVolumeValidUpdates(t *testing.T) {
	const affinity = `,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}`
	const attributes = `,"volumeAttributesClassName":"v"`
	const source = `spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation…`
	RunUpdateCases(t, CoreKind(t, meta.Platform, "PersistentVolume"), []UpdateCase{
		{Old: volumeBody(CSIVolume + affinity + attributes), Now: volumeBody(CSIVolume + affinity + attributes + `,"persistentVolumeReclaimPolicy":"Delete"`), Want: nil},
		{Old: volumeBody(`"nfs":{"server":"s","path":"/"}`), Now: volumeBody(`"nfs":{"server":"s","path":"/"},"mountOptions":["a"]`), Want: nil},
		{Old: volumeBody(`"nfs":{"server":"s","path":"/"}`), Now: volumeBody(`"nfs":{"server":"r","path":"/"}`), Want: []string{source}},
		{Old: volumeBody(`"local":{"path":"/a","fsType":""}` + affinity), Now: volumeBody(`"local":{"path":"/a"}` + affinity), Want: []string{source}},
		{Old: volumeBody(CSIVolume), Now: volumeBody(`"csi":{"driver":"d","volumeHandle":"i","controllerExpandSecretRef":{"name":"a","namespace":"b"}}`), Want: []string{source}},
	})
}
