package catalog_test

import (
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// catalogs keeps the catalogue of each profile: tests only read them.
var catalogs sync.Map

// kindByGVK finds a kind by group, version and name, the group in the form of the profile.
func kindByGVK(t testing.TB, n *meta.Naming, group, version, kind string) *schema.Kind {
	t.Helper()
	c, ok := catalogs.Load(n)
	if !ok {
		c, _ = catalogs.LoadOrStore(n, newCatalog(t, n))
	}
	k := c.(*catalog.Catalog).ByGVK(meta.GroupVersionKind{Group: group, Version: version, Kind: kind})
	if k == nil {
		t.Fatalf("no kind %s in %s/%s", kind, group, version)
	}
	return k
}

// A createCase is a create and its faults. spec is JSON of fields over those of a base.
type createCase struct {
	name, spec string
	want       []string
}

// A specUpdateCase is an update and its faults: now is JSON of the fields that change.
type specUpdateCase struct {
	name, old, now string
	want           []string
}

// merged puts the fields of JSON over those of base; null takes a field away.
func merged(t *testing.T, base, over string) tree.Tree {
	t.Helper()
	out := parseTree(t, "{"+base+"}")
	for key, value := range parseTree(t, "{"+over+"}") {
		if out[key] = value; value == nil {
			delete(out, key)
		}
	}
	return out
}

// runCreateCases creates an object of k for each case.
func runCreateCases(t *testing.T, k *schema.Kind, base string, cases []createCase) {
	t.Helper()
	for _, c := range cases {
		obj := named(k, tree.Tree{"spec": merged(t, base, c.spec)})
		obj.Object("metadata")["uid"] = "u-1"
		expect(t, c.name, create(k, obj), c.want)
	}
}

// runSpecUpdateCases updates an object of k for each case. The status of the old object, if the JSON
// of old has one under "status", is not part of its spec.
func runSpecUpdateCases(t *testing.T, k *schema.Kind, base string, cases []specUpdateCase) {
	t.Helper()
	for _, c := range cases {
		before := merged(t, base, c.old)
		status := before["status"]
		delete(before, "status")
		old := named(k, tree.Tree{"spec": before})
		old.Object("metadata")["uid"] = "u-1"
		if faults := create(k, old); len(faults) > 0 {
			t.Fatalf("%s: the old object: %v", c.name, faults)
		}
		if status != nil {
			old["status"] = status
		}
		now := tree.Clone(old).(tree.Tree)
		for key, value := range parseTree(t, "{"+c.now+"}") {
			if now.Object("spec")[key] = value; value == nil {
				delete(now.Object("spec"), key)
			}
		}
		expect(t, c.name, update(k, now, old), c.want)
	}
}

const podTemplateSpec = `"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`

// podTemplateWith is the template of podTemplateSpec with further fields of its spec.
func podTemplateWith(spec string) string {
	return `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],` + spec + `}}`
}

// podDefaults are what the spec of a form gets beyond its containers.
const podDefaults = `"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},"schedulerName":"default-scheduler"`

const defaultedPodTemplate = `{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{},"terminationMessagePath":"/dev/termination-log",
	"terminationMessagePolicy":"File","imagePullPolicy":"Always"}],` + podDefaults + `}}`

func TestWorkloadDefaults(t *testing.T) {
	for kind, want := range map[string]string{
		"Deployment": `{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":` + defaultedPodTemplate + `,
			"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}},"revisionHistoryLimit":10,"progressDeadlineSeconds":600}`,
		"ReplicaSet": `{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":` + defaultedPodTemplate + `}`,
		"DaemonSet": `{"selector":{"matchLabels":{"a":"b"}},"template":` + defaultedPodTemplate + `,
			"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1,"maxSurge":0}},"revisionHistoryLimit":10}`,
		"StatefulSet": `{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":` + defaultedPodTemplate + `,"podManagementPolicy":"OrderedReady",
			"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0,"maxUnavailable":1}},"revisionHistoryLimit":10,
			"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Retain"}}`,
	} {
		k := kindByGVK(t, meta.Kubernetes, "apps", "v1", kind)
		obj := named(k, parseTree(t, `{"spec":{`+podTemplateSpec+`},"status":{"observedGeneration":7}}`))
		expect(t, kind, create(k, obj), nil)
		equalJSON(t, kind, obj["spec"], want)
		if obj.Object("status").Has("observedGeneration") {
			t.Errorf("%s: a create keeps the status of the client", kind)
		}
	}
}

func TestStrategyDefaults(t *testing.T) {
	for _, c := range []struct{ kind, field, given, want string }{
		{"Deployment", "strategy", `{"type":"Recreate"}`, `{"type":"Recreate"}`},
		{"Deployment", "strategy", `{"rollingUpdate":{"maxSurge":1}}`, `{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":"25%"}}`},
		{"DaemonSet", "updateStrategy", `{"type":"OnDelete"}`, `{"type":"OnDelete"}`},
		{"DaemonSet", "updateStrategy", `{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"10%"}}`, `{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"10%","maxSurge":0}}`},
		{"StatefulSet", "updateStrategy", `{"type":"RollingUpdate"}`, `{"type":"RollingUpdate"}`},
		{"StatefulSet", "updateStrategy", `{"type":"RollingUpdate","rollingUpdate":{}}`, `{"type":"RollingUpdate","rollingUpdate":{"partition":0,"maxUnavailable":1}}`},
		{"StatefulSet", "updateStrategy", `{"type":"OnDelete"}`, `{"type":"OnDelete"}`},
		{"StatefulSet", "persistentVolumeClaimRetentionPolicy", `{"whenDeleted":"Delete"}`, `{"whenDeleted":"Delete","whenScaled":"Retain"}`},
	} {
		k := kindByGVK(t, meta.Platform, "apps", "v1", c.kind)
		obj := named(k, parseTree(t, `{"spec":{`+podTemplateSpec+`,"`+c.field+`":`+c.given+`}}`))
		expect(t, c.given, create(k, obj), nil)
		equalJSON(t, c.kind+" "+c.given, obj.Object("spec")[c.field], c.want)
	}
}

// templateCases hold for every kind that keeps Pods running.
func templateCases(kind string) []createCase {
	mismatch := "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"
	return []createCase{
		{"complete", ``, nil},
		{"selector of another", `"selector":{"matchLabels":{"a":"c"}}`, []string{mismatch}},
		{"expression of another", `"selector":{"matchExpressions":[{"key":"a","operator":"NotIn","values":["b"]}]}`, []string{mismatch}},
		{"absent key", `"selector":{"matchExpressions":[{"key":"z","operator":"Exists"}]}`, []string{mismatch}},
		{"expressions", `"selector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]},{"key":"z","operator":"DoesNotExist"}]}`, nil},
		{"restart policy", podTemplateWith(`"restartPolicy":"Never"`), []string{`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`}},
		{"deadline", podTemplateWith(`"activeDeadlineSeconds":5`), []string{`spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ` + kind + ` is not Supported`}},
		{"pod", podTemplateWith(`"hostname":"A"`), []string{`spec.template.spec.hostname: Invalid value: "A"…`}},
		{"labels", `"template":{"metadata":{"labels":{"a":"b","c":"-"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, []string{`spec.template.labels: Invalid value: "-"…`}},
		{"annotations", `"template":{"metadata":{"labels":{"a":"b"},"annotations":{"-":""}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, []string{`spec.template.annotations: Invalid value: "-"…`}},
		{"ephemeral", podTemplateWith(`"ephemeralContainers":[{"name":"e","image":"i"}]`), []string{`spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template`}},
	}
}

func TestTemplates(t *testing.T) {
	for kind, called := range map[string]string{"Deployment": "ReplicaSet", "ReplicaSet": "ReplicaSet", "DaemonSet": "DaemonSet", "StatefulSet": "StatefulSet"} {
		k := kindByGVK(t, meta.Platform, "apps", "v1", kind)
		runCreateCases(t, k, podTemplateSpec, templateCases(called))
		frozen := []string{`spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: field is immutable`}
		if kind == "StatefulSet" {
			frozen = []string{"spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"}
		}
		runSpecUpdateCases(t, k, podTemplateSpec, []specUpdateCase{
			{"nothing", ``, ``, nil},
			{"minReadySeconds", ``, `"minReadySeconds":5`, nil},
			{"template", ``, podTemplateWith(`"hostname":"h"`), nil},
			{"selector", ``, `"selector":{"matchLabels":{"a":"b","c":"d"}},"template":{"metadata":{"labels":{"a":"b","c":"d"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, frozen},
		})
	}
}

func TestSelectors(t *testing.T) {
	const mismatch = "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"
	for kind, want := range map[string]struct{ none, empty []string }{
		"Deployment":  {[]string{"spec.selector: Required value", mismatch}, []string{"spec.selector: Invalid value: {}: empty selector is invalid for deployment"}},
		"ReplicaSet":  {[]string{"spec.selector: Required value", mismatch}, []string{"spec.selector: Invalid value: {}: empty selector is invalid for deployment"}},
		"StatefulSet": {[]string{"spec.selector: Required value", mismatch}, []string{"spec.selector: Invalid value: {}: empty selector is invalid for statefulset"}},
		"DaemonSet":   {[]string{mismatch}, []string{"spec.selector: Invalid value: {}: empty selector is invalid for daemonset"}},
	} {
		runCreateCases(t, kindByGVK(t, meta.Platform, "apps", "v1", kind), podTemplateSpec, []createCase{
			{kind + " without", `"selector":null`, want.none}, {kind + " empty", `"selector":{}`, want.empty},
			{kind + " invalid", `"selector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"In"}]}`, []string{
				"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'", mismatch}},
		})
	}
}

func TestDeploymentRules(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "apps", "v1", "Deployment")
	rolling := func(fields string) string { return `"strategy":{"rollingUpdate":{` + fields + `}}` }
	const at = "spec.strategy.rollingUpdate"
	runCreateCases(t, k, podTemplateSpec, []createCase{
		{"counts", `"replicas":-1,"minReadySeconds":-1,"revisionHistoryLimit":-1,"progressDeadlineSeconds":-2`, []string{
			"spec.replicas: Invalid value: -1: must be greater than or equal to 0", "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
			"spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0", "spec.progressDeadlineSeconds: Invalid value: -2: must be greater than or equal to 0",
			"spec.progressDeadlineSeconds: Invalid value: -2: must be greater than minReadySeconds"}},
		{"deadline", `"minReadySeconds":600`, []string{"spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"}},
		{"strategy", `"strategy":{"type":"Fast"}`, []string{`spec.strategy: Unsupported value: {"type":"Fast"}: supported values: "Recreate", "RollingUpdate"`}},
		{"recreate", `"strategy":{"type":"Recreate","rollingUpdate":{}}`, []string{at + ": Forbidden: may not be specified when strategy `type` is 'Recreate'"}},
		{"standstill", rolling(`"maxSurge":0,"maxUnavailable":"0%"`), []string{at + ".maxUnavailable: Invalid value: \"0%\": may not be 0 when `maxSurge` is 0"}},
		{"too much", rolling(`"maxSurge":"200%","maxUnavailable":"101%"`), []string{at + `.maxUnavailable: Invalid value: "101%": must not be greater than 100%`}},
		{"negative", rolling(`"maxSurge":-1`), []string{at + ".maxSurge: Invalid value: -1: must be greater than or equal to 0"}},
		{"no percentage", rolling(`"maxSurge":"1"`), []string{at + `.maxSurge: Invalid value: "1": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`}},
	})
	obj := named(k, parseTree(t, `{"spec":{`+podTemplateSpec+`}}`))
	create(k, obj)
	obj["status"] = parseTree(t, `{"replicas":1,"readyReplicas":2,"availableReplicas":3,"unavailableReplicas":-1}`)
	expect(t, "status", lines(rules.Validate(k, obj)), []string{"status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0",
		"status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas", "status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas",
		"status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas"})
}

func TestDaemonSetRules(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "apps", "v1", "DaemonSet")
	rolling := func(fields string) string { return `"updateStrategy":{"rollingUpdate":{` + fields + `}}` }
	const at = "spec.updateStrategy.rollingUpdate"
	runCreateCases(t, k, podTemplateSpec, []createCase{
		{"counts", `"minReadySeconds":-1,"revisionHistoryLimit":-1`, []string{"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
			"spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0"}},
		{"strategy", `"updateStrategy":{"type":"Fast"}`, []string{`spec.updateStrategy: Unsupported value: {"type":"Fast"}: supported values: "RollingUpdate", "OnDelete"`}},
		{"both", rolling(`"maxSurge":1,"maxUnavailable":1`), []string{at + ".maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"}},
		{"none", rolling(`"maxUnavailable":0`), []string{at + ".maxUnavailable: Required value: cannot be 0 when maxSurge is 0"}},
		{"surge", rolling(`"maxSurge":"120%","maxUnavailable":0`), []string{at + `.maxSurge: Invalid value: "120%": must not be greater than 100%`}},
	})
}

func TestStatefulSetRules(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "apps", "v1", "StatefulSet")
	const frozen = "spec: Forbidden: updates to statefulset spec for fields other than…"
	claim := `"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]`
	mount := `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"data","mountPath":"/d"}]}]}}`
	runCreateCases(t, k, podTemplateSpec, []createCase{
		{"counts", `"replicas":-1,"minReadySeconds":-1,"ordinals":{"start":-1}`, []string{"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
			"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0", "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0"}},
		{"management", `"podManagementPolicy":"Wild"`, []string{`spec.podManagementPolicy: Invalid value: "Wild": must be 'OrderedReady' or 'Parallel'`}},
		{"strategy", `"updateStrategy":{"type":"Fast"}`, []string{`spec.updateStrategy: Invalid value: {"type":"Fast"}: must be 'RollingUpdate' or 'OnDelete'`}},
		{"on delete", `"updateStrategy":{"type":"OnDelete","rollingUpdate":{}}`, []string{`spec.updateStrategy.rollingUpdate: Invalid value: {}: only allowed for updateStrategy 'RollingUpdate'`}},
		{"pace", `"updateStrategy":{"rollingUpdate":{"partition":-1,"maxUnavailable":0}}`, []string{
			"spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0", "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0"}},
		{"retention", `"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Keep"}`, []string{`spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Keep": supported values: "Retain", "Delete"`}},
		{"service", `"serviceName":"A"`, []string{`spec.serviceName: Invalid value: "A"…`}},
		{"mount of a claim", claim + `,` + mount, nil},
		{"mount of nothing", mount, []string{`spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"`}},
	})
	runSpecUpdateCases(t, k, podTemplateSpec, []specUpdateCase{
		{"open fields", ``, `"replicas":3,"ordinals":{"start":1},"updateStrategy":{"type":"OnDelete"},"revisionHistoryLimit":3,"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"},"minReadySeconds":3`, nil},
		{"service", ``, `"serviceName":"s"`, []string{frozen}},
		{"management", ``, `"podManagementPolicy":"Parallel"`, []string{frozen}},
		{"claims", ``, claim, []string{frozen}},
	})
	obj := named(k, tree.Tree{"spec": merged(t, podTemplateSpec, claim)})
	create(k, obj)
	equalJSON(t, "claims", obj.Object("spec")["volumeClaimTemplates"], `[{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"data"},
		"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},"volumeMode":"Filesystem"},"status":{"phase":"Pending"}}]`)
	obj["metadata"].(tree.Tree)["name"] = "a.b"
	expect(t, "name", lines(rules.Validate(k, obj)), []string{`metadata.name: Invalid value: "a.b"…`})
}

// TestWorkloadStatus: no count is negative, and no part is more than the whole.
func TestWorkloadStatus(t *testing.T) {
	apps := func(kind string) *schema.Kind { return kindByGVK(t, meta.Platform, "apps", "v1", kind) }
	const low, high = ": Invalid value: -1: must be greater than or equal to 0", ": Invalid value: 2: cannot be greater than status.replicas"
	for _, c := range []struct {
		kind            *schema.Kind
		negative, parts []string
	}{
		{apps("ReplicaSet"), []string{"replicas", "terminatingReplicas"}, []string{"fullyLabeledReplicas", "readyReplicas"}},
		{apps("StatefulSet"), []string{"replicas", "collisionCount"}, []string{"readyReplicas", "currentReplicas", "updatedReplicas"}},
		{apps("DaemonSet"), []string{"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
			"updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount"}, nil},
		{coreKind(t, meta.Platform, "ReplicationController"), []string{"replicas", "observedGeneration"}, []string{"fullyLabeledReplicas", "readyReplicas"}},
	} {
		obj := named(c.kind, parseTree(t, `{"spec":{`+podTemplateSpec+`}}`))
		if c.kind.Group == "" {
			obj.Object("spec")["selector"] = tree.Tree{"a": "b"}
		}
		expect(t, c.kind.Kind, create(c.kind, obj), nil)
		for _, name := range c.negative {
			status := tree.Tree{name: int64(-1)}
			obj["status"] = status
			if got := lines(rules.Validate(c.kind, obj)); len(got) == 0 || got[0] != "status."+name+low {
				t.Errorf("%s: %s of -1: %v", c.kind.Kind, name, got)
			}
		}
		for _, name := range c.parts {
			obj["status"] = tree.Tree{"replicas": int64(1), name: int64(2)}
			expect(t, c.kind.Kind+" "+name, lines(rules.Validate(c.kind, obj)), []string{"status." + name + high})
		}
	}
}

func TestControllerRevision(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "apps", "v1", "ControllerRevision")
	expect(t, "no data", create(k, named(k, parseTree(t, `{"revision":-1}`))), []string{"revision: Invalid value: -1: must be greater than or equal to 0", "data: Required value: data is mandatory"})
	old := named(k, parseTree(t, `{"revision":1,"data":{"a":1}}`))
	expect(t, "create", create(k, old), nil)
	for now, want := range map[string][]string{
		`{"revision":1,"data":{"a":1},"metadata":{"labels":{"a":"b"}}}`: nil,
		`{"revision":1,"data":{"a":2}}`:                                 {`data: Invalid value: {"a":2}: field is immutable`},
		`{"revision":2,"data":{"a":1}}`:                                 nil,
		`{"revision":-2,"data":{"a":1}}`:                                {`revision: Invalid value: -2: must be greater than or equal to 0`},
	} {
		expect(t, now, update(k, named(k, parseTree(t, now)), old), want)
	}
}

func TestReplicationController(t *testing.T) {
	k := coreKind(t, meta.Platform, "ReplicationController")
	template := `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	obj := named(k, parseTree(t, `{"spec":{`+template+`}}`))
	expect(t, "defaults", create(k, obj), nil)
	equalJSON(t, "labels", obj.Object("metadata")["labels"], `{"a":"b"}`)
	equalJSON(t, "selector", obj.Object("spec")["selector"], `{"a":"b"}`)
	equalJSON(t, "replicas", obj.Object("spec")["replicas"], `1`)
	runCreateCases(t, k, template, []createCase{
		{"nothing", `"template":null`, []string{"spec.selector: Required value", "spec.template: Required value"}},
		{"mismatch", `"selector":{"a":"c"}`, []string{"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"}},
		{"counts", `"replicas":-1,"minReadySeconds":-1`, []string{"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0", "spec.replicas: Invalid value: -1: must be greater than or equal to 0"}},
		{"restart", podTemplateWith(`"restartPolicy":"OnFailure"`), []string{`spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"`}},
	})
	runSpecUpdateCases(t, k, template, []specUpdateCase{{"selector", ``, `"selector":{"a":"c"},"template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, nil}})
}

func TestPodTemplate(t *testing.T) {
	k := coreKind(t, meta.Platform, "PodTemplate")
	obj := named(k, parseTree(t, `{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}`))
	expect(t, "defaults", create(k, obj), nil)
	equalJSON(t, "template", obj["template"], defaultedPodTemplate)
	expect(t, "no containers", create(k, named(k, parseTree(t, `{}`))), []string{"template.spec.containers: Required value"})
}
