package api_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

// TestBatchBoundaries covers both sides of each clause of compound conditions.
func TestBatchBoundaries(t *testing.T) {
	ExpectValid(t, "batch", "v1", "Job", `{"spec":{"template":{"spec":{"restartPolicy":"OnFailure","containers":[{"name":"c","image":"i"}]}}}}`)
	const manager = "spec.managedBy: Invalid value: "
	RunCreateCases(t, KindByGVK(t, meta.Platform, "batch", "v1", "Job"), JobTemplateSpec, []CreateCase{
		{Name: "no domain", Spec: `"managedBy":"/x"`, Want: []string{manager + `"/x": must be a domain-prefixed path (such as "acme.io/foo")`}},
		{Name: "no path", Spec: `"managedBy":"a.io/"`, Want: []string{manager + `"a.io/": must be a domain-prefixed path (such as "acme.io/foo")`}},
	})
}

func TestBatchValidObjects(t *testing.T) {
	job := func(more string) string { return `{"spec":{` + JobTemplateSpec + `,` + more + `}}` }
	const indexed = `"completionMode":"Indexed","completions":5`
	codes := make([]string, 255)
	for i := range codes {
		codes[i] = strconv.Itoa(i + 1)
	}
	ExpectValid(t, "batch", "v1", "Job",
		job(`"parallelism":0,"completions":0,"backoffLimit":0,"ttlSecondsAfterFinished":0,"activeDeadlineSeconds":1`), job(`"managedBy":"a.io/`+strings.Repeat("a", 58)+`"`),
		job(indexed+`,"parallelism":100000,"backoffLimitPerIndex":0,"maxFailedIndexes":5`), job(`"completionMode":"Indexed","completions":0`),
		job(`"completionMode":"Indexed","completions":100000,"backoffLimitPerIndex":1,"parallelism":100000`),
		job(`"completionMode":"Indexed","completions":100001,"parallelism":100000`),
		job(`"completionMode":"Indexed","completions":100001,"parallelism":10000,"backoffLimitPerIndex":1,"maxFailedIndexes":10000`),
		job(`"podFailurePolicy":{"rules":[`+RepeatItem(20, `{"action":"Ignore","onPodConditions":[{"type":"%"}]}`)+`]}`),
		job(`"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"containerName":"c","operator":"NotIn","values":[0,1]}},{"action":"Ignore","onPodConditions":[`+RepeatItem(20, `{"type":"%"}`)+`]}]}`),
		job(indexed+`,"successPolicy":{"rules":[`+RepeatItem(20, `{"succeededCount":5}`)+`]}`), job(indexed+`,"successPolicy":{"rules":[{"succeededIndexes":"0-1","succeededCount":2}]}`),
		job(`"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[`+strings.Join(codes, ",")+`]}}]}`), job(`"podReplacementPolicy":"Failed"`), job(indexed+`,"backoffLimitPerIndex":1,"podFailurePolicy":{"rules":[{"action":"FailIndex","onPodConditions":[{"type":"A"}]}]}`))
	ExpectValid(t, "batch", "v1", "CronJob", `{"metadata":{"name":"`+strings.Repeat("a", 52)+`"},"spec":{"schedule":"@daily","jobTemplate":{"spec":{`+JobTemplateSpec+`}}}}`)
}

func TestBatchValidUpdates(t *testing.T) {
	RunSpecUpdateCases(t, KindByGVK(t, meta.Platform, "batch", "v1", "Job"), JobTemplateSpec, []SpecUpdateCase{
		{Name: "elastic, down", Old: `"completionMode":"Indexed","completions":3,"parallelism":3`, Now: `"completions":2,"parallelism":2`, Want: nil},
	})
}
