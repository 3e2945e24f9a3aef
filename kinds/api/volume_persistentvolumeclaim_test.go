package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestClaimDefaults(t *testing.T) {
	k := CoreKind(t, meta.Kubernetes, "PersistentVolumeClaim")
	const snapshot = `{"apiGroup":"snapshot.storage.k8s.io","kind":"VolumeSnapshot","name":"s"}`
	for body, want := range map[string]string{
		`,"volumeName":"v","storageClassName":""`:                                   `"volumeName":"v","storageClassName":""`,
		`,"dataSource":` + snapshot:                                                 `"dataSource":` + snapshot + `,"dataSourceRef":` + snapshot,
		`,"dataSourceRef":` + snapshot:                                              `"dataSource":` + snapshot + `,"dataSourceRef":` + snapshot,
		`,"dataSource":{"kind":"PersistentVolumeClaim","name":"c"}`:                 `"dataSource":{"kind":"PersistentVolumeClaim","name":"c"},"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"c"}`,
		`,"dataSource":{"apiGroup":"a.b","kind":"K","name":"c"}`:                    ``,
		`,"dataSourceRef":{"apiGroup":"a.b","kind":"K","name":"c"}`:                 `"dataSource":{"apiGroup":"a.b","kind":"K","name":"c"},"dataSourceRef":{"apiGroup":"a.b","kind":"K","name":"c"}`,
		`,"dataSourceRef":{"apiGroup":"a.b","kind":"K","name":"c","namespace":"o"}`: ``,
	} {
		obj := Defaulted(t, k, claimBody(body))
		if want != "" {
			want = "," + want
		}
		EqualJSON(t, body, obj["spec"], `{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"2Gi"}},"volumeMode":"Filesystem"`+want+`}`)
		EqualJSON(t, body, obj["status"], `{"phase":"Pending"}`)
	}
}

func TestClaimFaults(t *testing.T) {
	k := CoreKind(t, meta.Kubernetes, "PersistentVolumeClaim")
	RunBodyCases(t, k, []BodyCase{
		{Body: claimBody(``), Want: nil},
		{Body: `{}`, Want: []string{`spec.accessModes: Required value: at least 1 access mode is required`, `spec.resources[storage]: Required value`}},
		{Body: `{"spec":{"accessModes":["ReadWriteOncePod","X"],"resources":{"requests":{"storage":"0"}}}}`, Want: []string{
			`spec.accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`,
			`spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes`, `spec.resources[storage]: Invalid value: "0": must be greater than zero`}},
		{Body: claimBody(`,"storageClassName":"A","volumeAttributesClassName":"B","volumeMode":"X","selector":{"matchExpressions":[{"key":"a","operator":"Like"}]}`), Want: []string{
			`spec.volumeMode: Unsupported value: "X": supported values: "Block", "Filesystem"`,
			`spec.selector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator`,
			`spec.storageClassName: Invalid value: "A": a lowercase…`, `spec.volumeAttributesClassName: Invalid value: "B": a lowercase…`}},
		{Body: claimBody(`,"dataSourceRef":{"kind":"Pod","name":"p"}`), Want: []string{`spec.dataSource: Invalid value: "Pod": must be 'PersistentVolumeClaim' when referencing the default apiGroup`,
			`spec.dataSourceRef: Invalid value: "Pod": must be 'PersistentVolumeClaim' when referencing the default apiGroup`}},
		{Body: claimBody(`,"dataSource":{"kind":"PersistentVolumeClaim","name":"a"},"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"b"}`), Want: []string{
			`spec: Invalid value: {"kind":"PersistentVolumeClaim","name":"a"}: must match dataSourceRef`}},
		{Body: claimBody(`,"dataSource":{"kind":"PersistentVolumeClaim","name":"a"},"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"a","namespace":"B"}`), Want: nil},
		{Body: claimBody(`,"dataSourceRef":{"apiGroup":"A","kind":"K"}`), Want: []string{`spec.dataSource.name: Required value`, `spec.dataSourceRef.name: Required value`,
			`spec.dataSource.apiGroup: Invalid value: "A": a lowercase…`, `spec.dataSourceRef.apiGroup: Invalid value: "A": a lowercase…`}},
	})
	status := Named(k, Parse(t, boundClaimBody(``, `,"capacity":{"storage":"-1"},"allocatedResources":{"storage":"-1"},"allocatedResourceStatuses":{"storage":"Growing"},"conditions":[{},{"type":"ResizeStarted","status":"True"}]`)))
	Expect(t, "status", Lines(rules.Validate(k, status)), []string{`status.conditions[0].type: Required value`, `status.conditions[0].status: Required value`,
		`status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", …`, `status.capacity[storage]: Invalid value: "-1": must be a valid resource quantity`,
		`status.allocatedResources[storage]: Invalid value: "-1": must be a valid resource quantity`})
}

func TestClaimUpdate(t *testing.T) {
	k := CoreKind(t, meta.Platform, "PersistentVolumeClaim")
	const frozen = `spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims…`
	const bigger, smaller = `,"resources":{"requests":{"storage":"3Gi"}}`, `,"resources":{"requests":{"storage":"1Gi"}}`
	RunUpdateCases(t, k, []UpdateCase{
		{Old: claimBody(``), Now: claimBody(`,"volumeName":"v"`), Want: nil},
		{Old: claimBody(`,"volumeName":"v"`), Now: claimBody(`,"volumeName":"w"`), Want: []string{frozen}},
		{Old: claimBody(``), Now: claimBody(`,"storageClassName":"c"`), Want: nil},
		{Old: claimBody(`,"storageClassName":""`), Now: claimBody(``), Want: []string{frozen}},
		{Old: claimBody(`,"storageClassName":"c"`), Now: claimBody(`,"storageClassName":"d"`), Want: []string{frozen}},
		{Old: claimBody(``), Now: claimBody(`,"accessModes":["ReadOnlyMany"]`), Want: []string{frozen}},
		{Old: claimBody(``), Now: claimBody(`,"volumeMode":"Block"`), Want: []string{frozen, `volumeMode: Invalid value: "Block": field is immutable`}},
		{Old: claimBody(``), Now: claimBody(`,"selector":{"matchLabels":{"a":"b"}}`), Want: []string{frozen}},
		{Old: claimBody(``), Now: claimBody(bigger), Want: []string{frozen}},
		{Old: boundClaimBody(``, ``), Now: claimBody(bigger), Want: nil},
		{Old: boundClaimBody(``, ``), Now: claimBody(`,"resources":{"requests":{"storage":"3Gi"},"limits":{"storage":"9Gi"}}`), Want: []string{frozen}},
		{Old: boundClaimBody(``, `,"capacity":{"storage":"1Gi"}`), Now: claimBody(smaller), Want: []string{`spec.resources.requests.storage: Forbidden: field can not be less than status.capacity`}},
		{Old: boundClaimBody(``, `,"capacity":{"storage":"512Mi"}`), Now: claimBody(smaller), Want: nil},
		{Old: claimBody(``), Now: claimBody(`,"volumeAttributesClassName":"a"`), Want: []string{frozen}},
		{Old: boundClaimBody(``, ``), Now: claimBody(`,"volumeAttributesClassName":"a"`), Want: nil},
		{Old: boundClaimBody(`,"volumeAttributesClassName":"a"`, ``), Now: claimBody(``), Want: nil},
		{Old: boundClaimBody(`,"volumeAttributesClassName":"a"`, `,"currentVolumeAttributesClassName":"a"`), Now: claimBody(`,"volumeAttributesClassName":"b"`), Want: nil},
		{Old: boundClaimBody(`,"volumeAttributesClassName":"a"`, `,"currentVolumeAttributesClassName":"a"`), Now: claimBody(`,"volumeAttributesClassName":""`), Want: []string{
			`spec.volumeAttributesClassName: Forbidden: update to an empty string is forbidden when status.currentVolumeAttributesClassName is not nil`}},
		{Old: boundClaimBody(`,"volumeAttributesClassName":"a"`, `,"currentVolumeAttributesClassName":"a"`), Now: claimBody(``), Want: []string{
			`spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when status.currentVolumeAttributesClassName is not nil`}},
	})
}

func TestClaimClassAnnotation(t *testing.T) {
	k := CoreKind(t, meta.Platform, "PersistentVolumeClaim")
	const annotated = `{"metadata":{"annotations":{"volume.beta.platform.io/storage-class":"c"}},`
	RunUpdateCases(t, k, []UpdateCase{
		{Old: annotated + claimBody(``)[1:], Now: annotated + claimBody(``)[1:], Want: nil},
		{Old: annotated + claimBody(``)[1:], Now: claimBody(`,"storageClassName":"c"`), Want: nil},
		{Old: annotated + claimBody(``)[1:], Now: claimBody(`,"storageClassName":"d"`), Want: []string{
			`metadata.annotations[volume.beta.platform.io/storage-class]: Invalid value: "": field is immutable`,
			`spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims…`}},
	})
}

func TestClaimUpdateKeepsStatus(t *testing.T) {
	k := CoreKind(t, meta.Platform, "PersistentVolumeClaim")
	old := Named(k, Parse(t, boundClaimBody(`,"volumeMode":"Filesystem"`, ``)))
	now := Named(k, Parse(t, claimBody(``)))
	now["status"] = tree.Tree{"phase": "Lost"}
	Expect(t, "update", Update(k, now, old), nil)
	EqualJSON(t, "status", now["status"], `{"phase":"Bound"}`)
}

func claimBody(spec string) string {
	return `{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"2Gi"}}` + spec + `}}`
}

func boundClaimBody(spec, status string) string {
	return strings.TrimSuffix(claimBody(spec), "}") + `,"status":{"phase":"Bound"` + status + `}}`
}
