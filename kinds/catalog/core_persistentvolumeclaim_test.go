package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

// claim is the body of a claim with fields of its spec beyond size and mode.
func claim(spec string) string {
	return `{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"2Gi"}}` + spec + `}}`
}

// boundClaim is like claim, with a status.
func boundClaim(spec, status string) string {
	return strings.TrimSuffix(claim(spec), "}") + `,"status":{"phase":"Bound"` + status + `}}`
}

func TestClaimDefaults(t *testing.T) {
	k := coreKind(t, meta.Kubernetes, "PersistentVolumeClaim")
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
		obj := defaulted(t, k, claim(body))
		if want != "" {
			want = "," + want
		}
		equalJSON(t, body, obj["spec"], `{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"2Gi"}},"volumeMode":"Filesystem"`+want+`}`)
		equalJSON(t, body, obj["status"], `{"phase":"Pending"}`)
	}
}

func TestClaimFaults(t *testing.T) {
	k := coreKind(t, meta.Kubernetes, "PersistentVolumeClaim")
	runBodyCases(t, k, []bodyCase{
		{claim(``), nil},
		{`{}`, []string{`spec.accessModes: Required value: at least 1 access mode is required`, `spec.resources[storage]: Required value`}},
		{`{"spec":{"accessModes":["ReadWriteOncePod","X"],"resources":{"requests":{"storage":"0"}}}}`, []string{
			`spec.accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`,
			`spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes`, `spec.resources[storage]: Invalid value: "0": must be greater than zero`}},
		{claim(`,"storageClassName":"A","volumeAttributesClassName":"B","volumeMode":"X","selector":{"matchExpressions":[{"key":"a","operator":"Like"}]}`), []string{
			`spec.volumeMode: Unsupported value: "X": supported values: "Block", "Filesystem"`,
			`spec.selector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator`,
			`spec.storageClassName: Invalid value: "A": a lowercase…`, `spec.volumeAttributesClassName: Invalid value: "B": a lowercase…`}},
		{claim(`,"dataSourceRef":{"kind":"Pod","name":"p"}`), []string{`spec.dataSource: Invalid value: "Pod": must be 'PersistentVolumeClaim' when referencing the default apiGroup`,
			`spec.dataSourceRef: Invalid value: "Pod": must be 'PersistentVolumeClaim' when referencing the default apiGroup`}},
		{claim(`,"dataSource":{"kind":"PersistentVolumeClaim","name":"a"},"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"b"}`), []string{
			`spec: Invalid value: {"kind":"PersistentVolumeClaim","name":"a"}: must match dataSourceRef`}},
		{claim(`,"dataSource":{"kind":"PersistentVolumeClaim","name":"a"},"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"a","namespace":"B"}`), nil},
		{claim(`,"dataSourceRef":{"apiGroup":"A","kind":"K"}`), []string{`spec.dataSource.name: Required value`, `spec.dataSourceRef.name: Required value`,
			`spec.dataSource.apiGroup: Invalid value: "A": a lowercase…`, `spec.dataSourceRef.apiGroup: Invalid value: "A": a lowercase…`}},
	})
	status := named(k, parseTree(t, boundClaim(``, `,"capacity":{"storage":"-1"},"allocatedResources":{"storage":"-1"},"allocatedResourceStatuses":{"storage":"Growing"},"conditions":[{},{"type":"ResizeStarted","status":"True"}]`)))
	expect(t, "status", lines(rules.Validate(k, status)), []string{`status.conditions[0].type: Required value`, `status.conditions[0].status: Required value`,
		`status.capacity[storage]: Invalid value: "-1": must be a valid resource quantity`, `status.allocatedResources[storage]: Invalid value: "-1": must be a valid resource quantity`,
		`status.allocatedResourceStatuses[storage]: Unsupported value: "Growing": supported values: "ControllerResizeInfeasible", …`})
}

func TestClaimUpdate(t *testing.T) {
	k := coreKind(t, meta.Platform, "PersistentVolumeClaim")
	const frozen = `spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims`
	const bigger, smaller = `,"resources":{"requests":{"storage":"3Gi"}}`, `,"resources":{"requests":{"storage":"1Gi"}}`
	runUpdateCases(t, k, []updateCase{
		{claim(``), claim(`,"volumeName":"v"`), nil},
		{claim(`,"volumeName":"v"`), claim(`,"volumeName":"w"`), []string{frozen}},
		{claim(``), claim(`,"storageClassName":"c"`), nil},
		{claim(`,"storageClassName":"c"`), claim(`,"storageClassName":"d"`), []string{frozen}},
		{claim(``), claim(`,"accessModes":["ReadOnlyMany"]`), []string{frozen}},
		{claim(``), claim(`,"volumeMode":"Block"`), []string{frozen, `volumeMode: Invalid value: "Block": field is immutable`}},
		{claim(``), claim(`,"selector":{"matchLabels":{"a":"b"}}`), []string{frozen}},
		{claim(``), claim(bigger), []string{frozen}},
		{boundClaim(``, ``), claim(bigger), nil},
		{boundClaim(``, ``), claim(`,"resources":{"requests":{"storage":"3Gi"},"limits":{"storage":"9Gi"}}`), []string{frozen}},
		{boundClaim(``, `,"capacity":{"storage":"1Gi"}`), claim(smaller), []string{`spec.resources.requests.storage: Forbidden: field can not be less than status.capacity`}},
		{boundClaim(``, `,"capacity":{"storage":"512Mi"}`), claim(smaller), nil},
		{claim(``), claim(`,"volumeAttributesClassName":"a"`), []string{frozen}},
		{boundClaim(``, ``), claim(`,"volumeAttributesClassName":"a"`), nil},
		{boundClaim(`,"volumeAttributesClassName":"a"`, ``), claim(``), nil},
		{boundClaim(`,"volumeAttributesClassName":"a"`, `,"currentVolumeAttributesClassName":"a"`), claim(`,"volumeAttributesClassName":"b"`), nil},
		{boundClaim(`,"volumeAttributesClassName":"a"`, `,"currentVolumeAttributesClassName":"a"`), claim(`,"volumeAttributesClassName":""`), []string{
			`spec.volumeAttributesClassName: Forbidden: update to an empty string is forbidden when status.currentVolumeAttributesClassName is not nil`}},
		{boundClaim(`,"volumeAttributesClassName":"a"`, `,"currentVolumeAttributesClassName":"a"`), claim(``), []string{
			`spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when status.currentVolumeAttributesClassName is not nil`}},
	})
}

func TestClaimClassAnnotation(t *testing.T) {
	k := coreKind(t, meta.Platform, "PersistentVolumeClaim")
	const annotated = `{"metadata":{"annotations":{"volume.beta.platform.io/storage-class":"c"}},`
	runUpdateCases(t, k, []updateCase{
		{annotated + claim(``)[1:], annotated + claim(``)[1:], nil},
		{annotated + claim(``)[1:], claim(`,"storageClassName":"c"`), nil},
		{annotated + claim(``)[1:], claim(`,"storageClassName":"d"`), []string{
			`metadata.annotations[volume.beta.platform.io/storage-class]: Invalid value: "": field is immutable`,
			`spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims`}},
	})
}

// TestClaimUpdateKeepsStatus: the main resource leaves the status.
func TestClaimUpdateKeepsStatus(t *testing.T) {
	k := coreKind(t, meta.Platform, "PersistentVolumeClaim")
	old := named(k, parseTree(t, boundClaim(`,"volumeMode":"Filesystem"`, ``)))
	now := named(k, parseTree(t, claim(``)))
	now["status"] = tree.Tree{"phase": "Lost"}
	expect(t, "update", update(k, now, old), nil)
	equalJSON(t, "status", now["status"], `{"phase":"Bound"}`)
}
