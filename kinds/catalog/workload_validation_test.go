package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// invalidPodSpec is a fault that only a function finds, not a declaration: it shows that a form of
// Pods is judged as a Pod is.
const invalidPodSpec = `"hostPID":true,"shareProcessNamespace":true`

const invalidPodSpecFault = ".spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled"

func TestPodTemplateValidation(t *testing.T) {
	shares := `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never",` + invalidPodSpec + `,"containers":[{"name":"c","image":"i"}]}}`
	always := strings.Replace(shares, `"restartPolicy":"Never",`, ``, 1)
	for _, c := range []struct {
		k           *schema.Kind
		body, fault string
	}{
		{coreKind(t, meta.Platform, "PodTemplate"), always, "template"},
		{coreKind(t, meta.Platform, "ReplicationController"), `"spec":{` + always + `}`, "spec.template"},
		{kindByGVK(t, meta.Platform, "apps", "v1", "Deployment"), `"spec":{"selector":{"matchLabels":{"a":"b"}},` + always + `}`, "spec.template"},
		{kindByGVK(t, meta.Platform, "batch", "v1", "Job"), `"metadata":{"uid":"u"},"spec":{` + shares + `}`, "spec.template"},
		{kindByGVK(t, meta.Platform, "batch", "v1", "CronJob"), `"spec":{"schedule":"@daily","jobTemplate":{"spec":{` + shares + `}}}`, "spec.jobTemplate.spec.template"},
	} {
		expect(t, c.k.Kind, create(c.k, named(c.k, parseTree(t, "{"+c.body+"}"))), []string{c.fault + invalidPodSpecFault})
	}
}

func TestRestartPolicies(t *testing.T) {
	const at, any = "spec.template.spec.restartPolicy: ", `Unsupported value: "X": supported values: "Always", "Never", "OnFailure"`
	runCreateCases(t, kindByGVK(t, meta.Platform, "apps", "v1", "Deployment"), podTemplateSpec, []createCase{
		{"none", podTemplateWith(`"restartPolicy":"X"`), []string{at + any, at + `Unsupported value: "X": supported values: "Always"`}}})
	runCreateCases(t, kindByGVK(t, meta.Platform, "batch", "v1", "Job"), jobTemplateSpec, []createCase{
		{"none", `"template":{"spec":{"restartPolicy":"X","containers":[{"name":"c","image":"i"}]}}`, []string{at + any, at + `Unsupported value: "X": supported values: "OnFailure", "Never"`}}})
}

func TestWorkloadValidation(t *testing.T) {
	const low = ": Invalid value: -1: must be greater than or equal to 0"
	runCreateCases(t, kindByGVK(t, meta.Platform, "apps", "v1", "ReplicaSet"), podTemplateSpec, []createCase{
		{"counts", `"replicas":-1,"minReadySeconds":-1`, []string{"spec.replicas" + low, "spec.minReadySeconds" + low}}})
	runCreateCases(t, kindByGVK(t, meta.Platform, "apps", "v1", "StatefulSet"), podTemplateSpec, []createCase{
		{"share", `"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"x"}}`, []string{
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "x": a valid percent string…`,
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "x": cannot be 0`}}})
}

func TestJobValidation(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "batch", "v1", "Job")
	const indexed = `"completionMode":"Indexed","completions":5`
	many := func(text string, n int) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
	values := make([]string, 256)
	for i := range values {
		values[i] = "1"
	}
	const rule = "spec.podFailurePolicy.rules[0]."
	over := strings.Repeat("0", 64<<10+1)
	runCreateCases(t, k, jobTemplateSpec, []createCase{
		{"empty manager", `"managedBy":""`, []string{"spec.managedBy: Required value"}},
		{"manager of no domain", `"managedBy":"A/b"`, []string{`spec.managedBy: Invalid value: "A": a lowercase RFC 1123 subdomain…`}},
		{"manager of no path", `"managedBy":"a.b/c d"`, []string{`spec.managedBy: Invalid value: "c d": Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')`}},
		{"selector", `"manualSelector":true,"selector":{"matchExpressions":[{"key":"a","operator":"Like"}]}`, []string{
			`spec.selector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator`, "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`"}},
		{"many conditions", `"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[` + many(`{"type":"A"}`, 21) + `]}]}`, []string{rule + "onPodConditions: Too many: 21: must have at most 20 items"}},
		{"many codes", `"podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[` + strings.Join(values, ",") + `]}}]}`,
			append(repeatedCodes(255), rule+"onExitCodes.values: Too many: 256: must have at most 255 items")},
		{"many successes", indexed + `,"successPolicy":{"rules":[` + many(`{"succeededCount":1}`, 21) + `]}`, []string{"spec.successPolicy.rules: Too many: 21: must have at most 20 items"}},
		{"long successes", indexed + `,"successPolicy":{"rules":[{"succeededIndexes":"` + over + `"}]}`, []string{"spec.successPolicy.rules[0].succeededIndexes: Too long: may not be more than 65536 bytes"}},
	})
	obj := named(k, parseTree(t, `{"metadata":{"uid":"u-1"},"spec":{`+jobTemplateSpec+`}}`))
	expect(t, "create", create(k, obj), nil)
	bare := tree.Clone(obj).(tree.Tree)
	delete(bare.Object("spec", "template", "metadata", "labels"), "job-name")
	expect(t, "a label gone", lines(rules.Validate(k, bare)), []string{"spec.template.metadata.labels[job-name]: Required value: must be 'x'"})
}

func repeatedCodes(n int) []string {
	want := make([]string, n)
	for i := range want {
		want[i] = tree.IndexPath("spec.podFailurePolicy.rules[0].onExitCodes.values", i+1) + ": Duplicate value: 1"
	}
	return want
}

func TestCronJobValidation(t *testing.T) {
	runCreateCases(t, kindByGVK(t, meta.Platform, "batch", "v1", "CronJob"), `"schedule":"@daily","jobTemplate":{"spec":{`+jobTemplateSpec+`}}`, []createCase{
		{"metadata of Jobs", `"jobTemplate":{"metadata":{"labels":{"a b":"c"},"annotations":{"d e":"f"}},"spec":{` + jobTemplateSpec + `}}`, []string{
			`spec.jobTemplate.metadata.labels: Invalid value: "a b": name part…`, `spec.jobTemplate.metadata.annotations: Invalid value: "d e": name part…`}},
	})
}

func TestMetricValidation(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "autoscaling", "v2", "HorizontalPodAutoscaler")
	runCreateCases(t, k, `"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"maxReplicas":3`, []createCase{
		{"pods", `"metrics":[{"type":"Pods","pods":{"metric":{"name":"a/b"},"target":{"type":"AverageValue","averageValue":"1"}}}]`, []string{
			`spec.metrics[0].pods.metric.name: Invalid value: "a/b": may not contain '/'`}},
	})
}

func TestScale(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "apps", "v1", "Deployment")
	for replicas, want := range map[string][]string{"-1": {"spec.replicas: Invalid value: -1: must be greater than or equal to 0"}, "3": nil} {
		obj := parseTree(t, `{"spec":{"replicas":1}}`)
		var faults schema.Faults
		if err := k.Subresource("scale").View.Write(obj, parseTree(t, `{"spec":{"replicas":`+replicas+`}}`), "", &faults); err != nil {
			t.Fatal(err)
		}
		expect(t, replicas, lines(faults.List), want)
	}
}
