package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestJobValidation(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "batch", "v1", "Job")
	const indexed = `"completionMode":"Indexed","completions":5`
	many := func(text string, n int) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
	values := make([]string, 256)
	for i := range values {
		values[i] = "1"
	}
	const rule = "spec.podFailurePolicy.rules[0]."
	over := strings.Repeat("0", 64<<10+1)
	RunCreateCases(t, k, JobTemplateSpec, []CreateCase{
		{Name: "empty manager", Spec: `"managedBy":""`, Want: []string{"spec.managedBy: Required value"}},
		{Name: "manager of no domain", Spec: `"managedBy":"A/b"`, Want: []string{`spec.managedBy: Invalid value: "A": a lowercase RFC 1123 subdomain…`}},
		{Name: "manager of no path", Spec: `"managedBy":"a.b/c d"`, Want: []string{`spec.managedBy: Invalid value: "c d": Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')`}},
		{Name: "selector", Spec: `"manualSelector":true,"selector":{"matchExpressions":[{"key":"a","operator":"Like"}]}`, Want: []string{
			`spec.selector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator`, "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`"}},
		{Name: "many conditions", Spec: `"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[` + many(`{"type":"A"}`, 21) + `]}]}`, Want: []string{rule + "onPodConditions: Too many: 21: must have at most 20 items"}},
		{Name: "many codes", Spec: `"podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[` + strings.Join(values, ",") + `]}}]}`,
			Want: append(repeatedCodes(255), rule+"onExitCodes.values: Too many: 256: must have at most 255 items")},
		{Name: "many successes", Spec: indexed + `,"successPolicy":{"rules":[` + many(`{"succeededCount":1}`, 21) + `]}`, Want: []string{"spec.successPolicy.rules: Too many: 21: must have at most 20 items"}},
		{Name: "long successes", Spec: indexed + `,"successPolicy":{"rules":[{"succeededIndexes":"` + over + `"}]}`, Want: []string{"spec.successPolicy.rules[0].succeededIndexes: Too long: may not be more than 65536 bytes"}},
	})
	obj := Named(k, Parse(t, `{"metadata":{"uid":"u-1"},"spec":{`+JobTemplateSpec+`}}`))
	Expect(t, "create", Create(k, obj), nil)
	bare := tree.Clone(obj).(tree.Tree)
	delete(bare.Object("spec", "template", "metadata", "labels"), "job-name")
	Expect(t, "a label gone", Lines(rules.Validate(k, bare)), []string{"spec.template.metadata.labels[job-name]: Required value: must be 'x'"})
}

func repeatedCodes(n int) []string {
	want := make([]string, n)
	for i := range want {
		want[i] = tree.IndexPath("spec.podFailurePolicy.rules[0].onExitCodes.values", i+1) + ": Duplicate value: 1"
	}
	return want
}

func TestCronJobValidation(t *testing.T) {
	RunCreateCases(t, KindByGVK(t, meta.Platform, "batch", "v1", "CronJob"), `"schedule":"@daily","jobTemplate":{"spec":{`+JobTemplateSpec+`}}`, []CreateCase{
		{Name: "metadata of Jobs", Spec: `"jobTemplate":{"metadata":{"labels":{"a b":"c"},"annotations":{"d e":"f"}},"spec":{` + JobTemplateSpec + `}}`, Want: nil}, // the Jobs are refused, not the template
	})
}
