package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestWorkloadDefaults(t *testing.T) {
	for kind, want := range map[string]string{
		"Deployment": `{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":` + DefaultedPodTemplate + `,
			"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}},"revisionHistoryLimit":10,"progressDeadlineSeconds":600}`,
		"ReplicaSet": `{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":` + DefaultedPodTemplate + `}`,
		"DaemonSet": `{"selector":{"matchLabels":{"a":"b"}},"template":` + DefaultedPodTemplate + `,
			"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1,"maxSurge":0}},"revisionHistoryLimit":10}`,
		"StatefulSet": `{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":` + DefaultedPodTemplate + `,"podManagementPolicy":"OrderedReady",
			"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0,"maxUnavailable":1}},"revisionHistoryLimit":10,
			"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Retain"}}`,
	} {
		k := KindByGVK(t, meta.Kubernetes, "apps", "v1", kind)
		obj := Named(k, Parse(t, `{"spec":{`+PodTemplateSpec+`},"status":{"observedGeneration":7}}`))
		Expect(t, kind, Create(k, obj), nil)
		EqualJSON(t, kind, obj["spec"], want)
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
		k := KindByGVK(t, meta.Platform, "apps", "v1", c.kind)
		obj := Named(k, Parse(t, `{"spec":{`+PodTemplateSpec+`,"`+c.field+`":`+c.given+`}}`))
		Expect(t, c.given, Create(k, obj), nil)
		EqualJSON(t, c.kind+" "+c.given, obj.Object("spec")[c.field], c.want)
	}
}

// templateCases apply to every workload kind that keeps Pods running.
func templateCases(kind string) []CreateCase {
	mismatch := "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"
	return []CreateCase{
		{Name: "complete", Spec: ``, Want: nil},
		{Name: "selector of another", Spec: `"selector":{"matchLabels":{"a":"c"}}`, Want: []string{mismatch}},
		{Name: "expression of another", Spec: `"selector":{"matchExpressions":[{"key":"a","operator":"NotIn","values":["b"]}]}`, Want: []string{mismatch}},
		{Name: "absent key", Spec: `"selector":{"matchExpressions":[{"key":"z","operator":"Exists"}]}`, Want: []string{mismatch}},
		{Name: "expressions", Spec: `"selector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]},{"key":"z","operator":"DoesNotExist"}]}`, Want: nil},
		{Name: "restart policy", Spec: PodTemplateWith(`"restartPolicy":"Never"`), Want: []string{`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`}},
		{Name: "deadline", Spec: PodTemplateWith(`"activeDeadlineSeconds":5`), Want: []string{`spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ` + kind + ` is not Supported`}},
		{Name: "pod", Spec: PodTemplateWith(`"dnsPolicy":"A"`), Want: []string{`spec.template.spec.dnsPolicy: Unsupported value: "A": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`}},
		{Name: "space around an image, which only Pods refuse", Spec: `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":" i"}]}}`, Want: nil},
		{Name: "labels", Spec: `"template":{"metadata":{"labels":{"a":"b","c":"-"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, Want: []string{`spec.template.labels: Invalid value: "-"…`}},
		{Name: "annotations", Spec: `"template":{"metadata":{"labels":{"a":"b"},"annotations":{"-":""}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, Want: []string{`spec.template.annotations: Invalid value: "-"…`}},
		{Name: "ephemeral", Spec: PodTemplateWith(`"ephemeralContainers":[{"name":"e","image":"i"}]`), Want: []string{`spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template`}},
	}
}

func TestTemplates(t *testing.T) {
	for kind, called := range map[string]string{"Deployment": "ReplicaSet", "ReplicaSet": "ReplicaSet", "DaemonSet": "DaemonSet", "StatefulSet": "StatefulSet"} {
		k := KindByGVK(t, meta.Platform, "apps", "v1", kind)
		RunCreateCases(t, k, PodTemplateSpec, templateCases(called))
		frozen := []string{`spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: field is immutable`}
		if kind == "StatefulSet" {
			frozen = []string{"spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden…"}
		}
		RunSpecUpdateCases(t, k, PodTemplateSpec, []SpecUpdateCase{
			{Name: "nothing", Old: ``, Now: ``, Want: nil},
			{Name: "minReadySeconds", Old: ``, Now: `"minReadySeconds":5`, Want: nil},
			{Name: "template", Old: ``, Now: PodTemplateWith(`"hostname":"h"`), Want: nil},
			{Name: "selector", Old: ``, Now: `"selector":{"matchLabels":{"a":"b","c":"d"}},"template":{"metadata":{"labels":{"a":"b","c":"d"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, Want: frozen},
		})
	}
}

// TestSelectors: templates are not checked against invalid selectors, and host names only where
// they matter.
func TestSelectors(t *testing.T) {
	hostname := []string{`spec.template.spec.hostname: Invalid value: "A"…`, `spec.template.spec.subdomain: Invalid value: "B"…`}
	invalid := func(why string) []string {
		fault := `spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"In"}],"matchLabels":{"a":"b"}}`
		if why != "" {
			fault += ": " + why
		}
		return []string{fault}
	}
	const mismatch = "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"
	for kind, want := range map[string]struct{ none, empty, invalid, hostname []string }{
		"Deployment":  {[]string{"spec.selector: Required value", mismatch}, []string{"spec.selector: Invalid value: {}: empty selector is invalid for deployment"}, invalid("invalid label selector"), hostname},
		"ReplicaSet":  {[]string{"spec.selector: Required value", mismatch}, []string{"spec.selector: Invalid value: {}: empty selector is invalid for deployment"}, invalid("invalid label selector"), hostname},
		"StatefulSet": {[]string{"spec.selector: Required value", mismatch}, []string{"spec.selector: Invalid value: {}: empty selector is invalid for statefulset"}, invalid(""), nil},
		"DaemonSet":   {[]string{mismatch}, []string{"spec.selector: Invalid value: {}: empty selector is invalid for daemonset"}, nil, hostname},
	} {
		RunCreateCases(t, KindByGVK(t, meta.Platform, "apps", "v1", kind), PodTemplateSpec, []CreateCase{
			{Name: kind + " without", Spec: `"selector":null`, Want: want.none}, {Name: kind + " empty", Spec: `"selector":{}`, Want: want.empty},
			{Name: kind + " invalid", Spec: `"selector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"In"}]}`, Want: append([]string{
				"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"}, want.invalid...)},
			{Name: kind + " host names", Spec: PodTemplateWith(`"hostname":"A","subdomain":"B"`), Want: want.hostname},
		})
	}
}

func TestDeploymentRules(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "apps", "v1", "Deployment")
	rolling := func(fields string) string { return `"strategy":{"rollingUpdate":{` + fields + `}}` }
	const at = "spec.strategy.rollingUpdate"
	RunCreateCases(t, k, PodTemplateSpec, []CreateCase{
		{Name: "counts", Spec: `"replicas":-1,"minReadySeconds":-1,"revisionHistoryLimit":-1,"progressDeadlineSeconds":-2`, Want: []string{
			"spec.replicas: Invalid value: -1: must be greater than or equal to 0", "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
			"spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0", "spec.progressDeadlineSeconds: Invalid value: -2: must be greater than or equal to 0",
			"spec.progressDeadlineSeconds: Invalid value: -2: must be greater than minReadySeconds"}},
		{Name: "deadline", Spec: `"minReadySeconds":600`, Want: []string{"spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"}},
		{Name: "strategy", Spec: `"strategy":{"type":"Fast"}`, Want: []string{`spec.strategy: Unsupported value: {"type":"Fast"}: supported values: "Recreate", "RollingUpdate"`}},
		{Name: "recreate", Spec: `"strategy":{"type":"Recreate","rollingUpdate":{}}`, Want: []string{at + ": Forbidden: may not be specified when strategy `type` is 'Recreate'"}},
		{Name: "standstill", Spec: rolling(`"maxSurge":0,"maxUnavailable":"0%"`), Want: []string{at + ".maxUnavailable: Invalid value: \"0%\": may not be 0 when `maxSurge` is 0"}},
		{Name: "too much", Spec: rolling(`"maxSurge":"200%","maxUnavailable":"101%"`), Want: []string{at + `.maxUnavailable: Invalid value: "101%": must not be greater than 100%`}},
		{Name: "negative", Spec: rolling(`"maxSurge":-1`), Want: []string{at + ".maxSurge: Invalid value: -1: must be greater than or equal to 0"}},
		{Name: "no percentage", Spec: rolling(`"maxSurge":"1"`), Want: []string{at + `.maxSurge: Invalid value: "1": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`}},
	})
	obj := Named(k, Parse(t, `{"spec":{`+PodTemplateSpec+`}}`))
	Create(k, obj)
	obj["status"] = Parse(t, `{"replicas":1,"readyReplicas":2,"availableReplicas":3,"unavailableReplicas":-1}`)
	Expect(t, "status", Lines(rules.Validate(k, obj)), []string{"status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0",
		"status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas", "status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas",
		"status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas"})
}

func TestDaemonSetRules(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "apps", "v1", "DaemonSet")
	rolling := func(fields string) string { return `"updateStrategy":{"rollingUpdate":{` + fields + `}}` }
	const at = "spec.updateStrategy.rollingUpdate"
	RunCreateCases(t, k, PodTemplateSpec, []CreateCase{
		{Name: "counts", Spec: `"minReadySeconds":-1,"revisionHistoryLimit":-1`, Want: []string{"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
			"spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0"}},
		{Name: "strategy", Spec: `"updateStrategy":{"type":"Fast"}`, Want: []string{`spec.updateStrategy: Unsupported value: {"type":"Fast"}: supported values: "RollingUpdate", "OnDelete"`}},
		{Name: "both", Spec: rolling(`"maxSurge":1,"maxUnavailable":1`), Want: []string{at + ".maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"}},
		{Name: "none", Spec: rolling(`"maxUnavailable":0`), Want: []string{at + ".maxUnavailable: Required value: cannot be 0 when maxSurge is 0"}},
		{Name: "surge", Spec: rolling(`"maxSurge":"120%","maxUnavailable":0`), Want: []string{at + `.maxSurge: Invalid value: "120%": must not be greater than 100%`}},
	})
}

// TestTemplateGeneration: the annotation counts templates, regardless of the client's value.
func TestTemplateGeneration(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "apps", "v1", "DaemonSet")
	set := func(annotations, spec string) tree.Tree {
		obj := Named(k, Parse(t, `{"spec":{`+PodTemplateSpec+spec+`}}`))
		if annotations != "" {
			obj.EnsureObject("metadata")["annotations"] = Parse(t, `{"deprecated.daemonset.template.generation":`+annotations+`}`)
		}
		return obj
	}
	count := func(obj tree.Tree) any {
		return obj.Object("metadata", "annotations")["deprecated.daemonset.template.generation"]
	}
	created := func(annotations string) tree.Tree {
		obj := set(annotations, "")
		Create(k, obj)
		return obj
	}
	for given, want := range map[string]any{"": "1", `"0"`: "1", `"7"`: "7", `"-3"`: "1", `"x"`: "x"} {
		if got := count(created(given)); got != want {
			t.Errorf("a new one with %s has %v, want %v", given, got, want)
		}
	}
	Expect(t, "no number", Lines(rules.Validate(k, created(`"x"`))),
		[]string{`metadata.annotations[deprecated.daemonset.template.generation]: Invalid value: "x": must be a whole number`})
	for _, c := range []struct{ was, given, spec, want string }{
		{`"7"`, "", "", "7"}, {`"7"`, `"9"`, "", "7"}, {`"7"`, "", `,"minReadySeconds":3`, "7"}, {`"7"`, `"x"`, "", "x"},
	} {
		obj := set(c.given, c.spec)
		Update(k, obj, created(c.was))
		if got := count(obj); got != c.want {
			t.Errorf("after %s, an update with %q and %q has %v, want %v", c.was, c.given, c.spec, got, c.want)
		}
	}
	obj := created("")
	obj.EnsureObject("spec", "template", "metadata", "labels")["new"] = "label"
	Update(k, obj, created(`"7"`))
	if got := count(obj); got != "8" {
		t.Errorf("after 7, with another template, it is %v, want 8", got)
	}
}

func TestStatefulSetRules(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "apps", "v1", "StatefulSet")
	const frozen = "spec: Forbidden: updates to statefulset spec for fields other than…"
	claim := `"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]`
	mount := `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"data","mountPath":"/d"}]}]}}`
	RunCreateCases(t, k, PodTemplateSpec, []CreateCase{
		{Name: "counts", Spec: `"replicas":-1,"minReadySeconds":-1,"ordinals":{"start":-1}`, Want: []string{"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
			"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0", "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0"}},
		{Name: "management", Spec: `"podManagementPolicy":"Wild"`, Want: []string{`spec.podManagementPolicy: Invalid value: "Wild": must be 'OrderedReady' or 'Parallel'`}},
		{Name: "strategy", Spec: `"updateStrategy":{"type":"Fast"}`, Want: []string{`spec.updateStrategy: Invalid value: {"type":"Fast"}: must be 'RollingUpdate' or 'OnDelete'`}},
		{Name: "on delete", Spec: `"updateStrategy":{"type":"OnDelete","rollingUpdate":{}}`, Want: []string{`spec.updateStrategy.rollingUpdate: Invalid value: {}: only allowed for updateStrategy 'RollingUpdate'`}},
		{Name: "pace", Spec: `"updateStrategy":{"rollingUpdate":{"partition":-1,"maxUnavailable":0}}`, Want: []string{
			"spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0", "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0"}},
		{Name: "retention", Spec: `"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Keep"}`, Want: []string{`spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Keep": supported values: "Retain", "Delete"`}},
		{Name: "service", Spec: `"serviceName":"A"`, Want: []string{`spec.serviceName: Invalid value: "A"…`}},
		{Name: "mount of a claim", Spec: claim + `,` + mount, Want: nil},
		{Name: "mount of nothing", Spec: mount, Want: []string{`spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"`}},
	})
	RunSpecUpdateCases(t, k, PodTemplateSpec, []SpecUpdateCase{
		{Name: "open fields", Old: ``, Now: `"replicas":3,"ordinals":{"start":1},"updateStrategy":{"type":"OnDelete"},"revisionHistoryLimit":3,"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"},"minReadySeconds":3`, Want: nil},
		{Name: "service", Old: ``, Now: `"serviceName":"s"`, Want: []string{frozen}},
		{Name: "management", Old: ``, Now: `"podManagementPolicy":"Parallel"`, Want: []string{frozen}},
		{Name: "claims", Old: ``, Now: claim, Want: []string{frozen}},
		{Name: "no class instead of the default one", Old: claim, Now: strings.Replace(claim, `"spec":{`, `"spec":{"storageClassName":"",`, 1), Want: []string{frozen}},
	})
	obj := Named(k, tree.Tree{"spec": Merged(t, PodTemplateSpec, claim)})
	Create(k, obj)
	EqualJSON(t, "claims", obj.Object("spec")["volumeClaimTemplates"], `[{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"data"},
		"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},"volumeMode":"Filesystem"},"status":{"phase":"Pending"}}]`)
	obj["metadata"].(tree.Tree)["name"] = "a.b"
	Expect(t, "name", Lines(rules.Validate(k, obj)), []string{`metadata.name: Invalid value: "a.b"…`})
}

// TestWorkloadStatus: counts are not negative, and no part exceeds the whole.
func TestWorkloadStatus(t *testing.T) {
	apps := func(kind string) *schema.Kind { return KindByGVK(t, meta.Platform, "apps", "v1", kind) }
	const low, high = ": Invalid value: -1: must be greater than or equal to 0", ": Invalid value: 2: cannot be greater than status.replicas"
	for _, c := range []struct {
		kind            *schema.Kind
		negative, parts []string
	}{
		{apps("ReplicaSet"), []string{"replicas", "terminatingReplicas"}, []string{"fullyLabeledReplicas", "readyReplicas"}},
		{apps("StatefulSet"), []string{"replicas", "collisionCount"}, []string{"readyReplicas", "currentReplicas", "updatedReplicas"}},
		{apps("DaemonSet"), []string{"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
			"updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount"}, nil},
		{CoreKind(t, meta.Platform, "ReplicationController"), []string{"replicas", "observedGeneration"}, []string{"fullyLabeledReplicas", "readyReplicas"}},
	} {
		obj := Named(c.kind, Parse(t, `{"spec":{`+PodTemplateSpec+`}}`))
		if c.kind.Group == "" {
			obj.Object("spec")["selector"] = tree.Tree{"a": "b"}
		}
		Expect(t, c.kind.Kind, Create(c.kind, obj), nil)
		for _, name := range c.negative {
			status := tree.Tree{name: int64(-1)}
			obj["status"] = status
			if got := Lines(rules.Validate(c.kind, obj)); len(got) == 0 || got[0] != "status."+name+low {
				t.Errorf("%s: %s of -1: %v", c.kind.Kind, name, got)
			}
		}
		for _, name := range c.parts {
			obj["status"] = tree.Tree{"replicas": int64(1), name: int64(2)}
			Expect(t, c.kind.Kind+" "+name, Lines(rules.Validate(c.kind, obj)), []string{"status." + name + high})
		}
	}
}

func TestControllerRevision(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "apps", "v1", "ControllerRevision")
	Expect(t, "no data", Create(k, Named(k, Parse(t, `{"revision":-1}`))), []string{"revision: Invalid value: -1: must be greater than or equal to 0", "data: Required value: data is mandatory"})
	old := Named(k, Parse(t, `{"revision":1,"data":{"a":1}}`))
	Expect(t, "create", Create(k, old), nil)
	for now, want := range map[string][]string{
		`{"revision":1,"data":{"a":1},"metadata":{"labels":{"a":"b"}}}`: nil,
		`{"revision":1,"data":{"a":2}}`:                                 {`data: Invalid value: {"a":2}: field is immutable`},
		`{"revision":2,"data":{"a":1}}`:                                 nil,
		`{"revision":-2,"data":{"a":1}}`:                                {`revision: Invalid value: -2: must be greater than or equal to 0`},
	} {
		Expect(t, now, Update(k, Named(k, Parse(t, now)), old), want)
	}
}
