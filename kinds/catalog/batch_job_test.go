package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

const jobTemplateSpec = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`

func TestJobDefaults(t *testing.T) {
	k := kindByGVK(t, meta.Kubernetes, "batch", "v1", "Job")
	for _, c := range []struct{ spec, want string }{
		{``, `{"parallelism":1,"completions":1,"backoffLimit":6,"completionMode":"NonIndexed","suspend":false,"manualSelector":false,"podReplacementPolicy":"TerminatingOrFailed"}`},
		{`"parallelism":3`, `{"parallelism":3,"backoffLimit":6,"completionMode":"NonIndexed","suspend":false,"manualSelector":false,"podReplacementPolicy":"TerminatingOrFailed"}`},
		{`"completions":3`, `{"parallelism":1,"completions":3,"backoffLimit":6,"completionMode":"NonIndexed","suspend":false,"manualSelector":false,"podReplacementPolicy":"TerminatingOrFailed"}`},
		{`"completions":3,"completionMode":"Indexed","backoffLimitPerIndex":1,"suspend":true`, `{"parallelism":1,"completions":3,"backoffLimit":2147483647,"backoffLimitPerIndex":1,
			"completionMode":"Indexed","suspend":true,"manualSelector":false,"podReplacementPolicy":"TerminatingOrFailed"}`},
		{`"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"A"}]}]}`, `{"parallelism":1,"completions":1,"backoffLimit":6,"completionMode":"NonIndexed","suspend":false,
			"manualSelector":false,"podReplacementPolicy":"Failed","podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"A","status":"True"}]}]}}`},
	} {
		obj := named(k, parseTree(t, `{"metadata":{"uid":"u-1"},"spec":{`+jobTemplateSpec+`},"status":{"active":3}}`))
		for key, value := range parseTree(t, "{"+c.spec+"}") {
			obj.Object("spec")[key] = value
		}
		expect(t, c.spec, create(k, obj), nil)
		if obj.Has("status") {
			t.Error("a create keeps the status of the client")
		}
		spec := obj.Object("spec")
		equalJSON(t, "selector", spec["selector"], `{"matchLabels":{"batch.kubernetes.io/controller-uid":"u-1"}}`)
		labels := `{"batch.kubernetes.io/controller-uid":"u-1","batch.kubernetes.io/job-name":"x","controller-uid":"u-1","job-name":"x"}`
		equalJSON(t, "labels of Pods", spec.Object("template", "metadata")["labels"], labels)
		equalJSON(t, "labels", obj.Object("metadata")["labels"], labels)
		delete(spec, "selector")
		delete(spec, "template")
		equalJSON(t, c.spec, spec, c.want)
	}
}

func TestJobSelector(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "batch", "v1", "Job")
	labelled := func(labels string) string {
		return `"template":{"metadata":{"labels":{` + labels + `}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`
	}
	const mismatch = "`selector` does not match template `labels`"
	runCreateCases(t, k, jobTemplateSpec, []createCase{
		{"own", `"manualSelector":true,"selector":{"matchLabels":{"a":"b"}},` + labelled(`"a":"b"`), nil},
		{"own, missing", `"manualSelector":true`, []string{"spec.selector: Required value", "spec.template.metadata.labels: Invalid value: null: " + mismatch}},
		{"own, of another", `"manualSelector":true,"selector":{"matchLabels":{"a":"b"}}`, []string{"spec.template.metadata.labels: Invalid value: null: " + mismatch}},
		{"made for another", `"selector":{"matchLabels":{"a":"b"}},` + labelled(`"a":"b"`), []string{"spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\",\"batch.platform.io/controller-uid\":\"u-1\"}}: `selector` not auto-generated"}},
		{"label of another", labelled(`"job-name":"y"`), []string{`spec.template.metadata.labels[job-name]: Invalid value: {"batch.platform.io/controller-uid":"u-1","batch.platform.io/job-name":"x","controller-uid":"u-1","job-name":"y"}: must be 'x'`}},
	})
	obj := named(k, parseTree(t, `{"metadata":{"uid":"u-1","labels":{"mine":"yes"}},"spec":{`+jobTemplateSpec+`}}`))
	expect(t, "labels", create(k, obj), nil)
	equalJSON(t, "labels that were given stay", obj.Object("metadata")["labels"], `{"mine":"yes"}`)
}

func TestJobRules(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "batch", "v1", "Job")
	const indexed = `"completionMode":"Indexed","completions":5`
	onExit := func(fields string) string {
		return `"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{` + fields + `}}]}`
	}
	const rule, codes = "spec.podFailurePolicy.rules[0]", "spec.podFailurePolicy.rules[0].onExitCodes."
	success := func(fields string) string { return indexed + `,"successPolicy":{"rules":[{` + fields + `}]}` }
	const done = "spec.successPolicy.rules[0]."
	runCreateCases(t, k, jobTemplateSpec, []createCase{
		{"counts", `"parallelism":-1,"completions":-1,"activeDeadlineSeconds":-1,"backoffLimit":-1,"ttlSecondsAfterFinished":-1`, []string{
			"spec.parallelism: Invalid value: -1: must be greater than or equal to 0", "spec.completions: Invalid value: -1: must be greater than or equal to 0",
			"spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0", "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0",
			"spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0"}},
		{"mode", `"completionMode":"Odd"`, []string{`spec.completionMode: Unsupported value: "Odd": supported values: "NonIndexed", "Indexed"`}},
		{"indexed without size", `"completionMode":"Indexed","parallelism":1`, []string{"spec.completions: Required value: when completion mode is Indexed"}},
		{"indexed and wide", indexed + `,"parallelism":100001`, []string{"spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed"}},
		{"failed indexes", indexed + `,"backoffLimitPerIndex":1,"maxFailedIndexes":6`, []string{"spec.maxFailedIndexes: Invalid value: 6: must be less than or equal to completions"}},
		{"failed indexes alone", indexed + `,"maxFailedIndexes":1`, []string{"spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"}},
		{"many", `"completionMode":"Indexed","completions":100001,"parallelism":10001,"backoffLimitPerIndex":1`, []string{
			"spec.maxFailedIndexes: Required value: must be specified when completions is above 100000",
			"spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index"}},
		{"many failed", `"completionMode":"Indexed","completions":100002,"backoffLimitPerIndex":1,"maxFailedIndexes":100001`, []string{
			"spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 100000",
			"spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index"}},
		{"not indexed", `"backoffLimitPerIndex":1,"maxFailedIndexes":1,"successPolicy":{"rules":[]}`, []string{"spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
			"spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode", `spec.successPolicy: Invalid value: {"rules":[]}: requires indexed completion mode`}},
		{"manager", `"managedBy":"me"`, []string{`spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")`}},
		{"long manager", `"managedBy":"acme.io/` + strings.Repeat("a", 60) + `"`, []string{"spec.managedBy: Too long: may not be more than 63 bytes"}},
		{"good manager", `"managedBy":"acme.io/foo"`, nil},
		{"restart policy", `"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}`, []string{`spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`}},
		{"template", `"template":{"spec":{"restartPolicy":"Never"}}`, []string{"spec.template.spec.containers: Required value"}},

		{"failure policy", onExit(`"operator":"In","values":[1,2]`), nil},
		{"failure policy and restart", onExit(`"operator":"In","values":[1]`) + `,"template":{"spec":{"restartPolicy":"OnFailure","containers":[{"name":"c","image":"i"}]}}`, []string{
			`spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified`}},
		{"failure policy and replacement", onExit(`"operator":"In","values":[1]`) + `,"podReplacementPolicy":"TerminatingOrFailed"`, []string{
			`spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"`}},
		{"replacement", `"podReplacementPolicy":"Never"`, []string{`spec.podReplacementPolicy: Unsupported value: "Never": supported values: "Failed", "TerminatingOrFailed"`}},
		{"no codes", onExit(`"operator":"In"`), []string{codes + "values: Invalid value: null: at least one value is required"}},
		{"codes", onExit(`"operator":"In","values":[2,1,0,2],"containerName":"z"`), []string{codes + "values[3]: Duplicate value: 2",
			codes + `containerName: Invalid value: "z": must be one of the container or initContainer names in the pod template`,
			codes + "values[2]: Invalid value: 0: must not be 0 for the In operator", codes + "values: Invalid value: [2,1,0,2]: must be ordered"}},
		{"operator", onExit(`"operator":"Like","values":[1]`), []string{codes + `operator: Unsupported value: "Like": supported values: "In", "NotIn"`}},
		{"no operator", onExit(`"values":[1]`), []string{codes + `operator: Required value: valid values: ["In" "NotIn"]`}},
		{"no rule", `"podFailurePolicy":{"rules":[{}]}`, []string{rule + `.action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]`,
			rule + ": Invalid value: specifying one of OnExitCodes and OnPodConditions is required"}},
		{"both", `"podFailurePolicy":{"rules":[{"action":"Odd","onExitCodes":{"operator":"In","values":[1]},"onPodConditions":[{"type":"a b","status":"Maybe"}]}]}`, []string{
			rule + `.action: Unsupported value: "Odd": supported values: "Count", "FailIndex", "FailJob", "Ignore"`, rule + `.onPodConditions[0].type: Invalid value: "a b"…`,
			rule + `.onPodConditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`,
			rule + ": Invalid value: specifying both OnExitCodes and OnPodConditions is not supported"}},
		{"fail index", `"podFailurePolicy":{"rules":[{"action":"FailIndex","onPodConditions":[{"type":"A"}]}]}`, []string{rule + `.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`}},
		{"too many rules", `"podFailurePolicy":{"rules":[` + strings.TrimSuffix(strings.Repeat(`{"action":"Ignore","onPodConditions":[{"type":"A"}]},`, 21), ",") + `]}`, []string{
			"spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items"}},

		{"success", success(`"succeededIndexes":"0,2-4","succeededCount":3`), nil},
		{"no success", indexed + `,"successPolicy":{}`, []string{"spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified"}},
		{"empty success", success(``), []string{"spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified"}},
		{"too large", success(`"succeededIndexes":"5"`), []string{done + `succeededIndexes: Invalid value: "5": error parsing succeededIndexes: too large index: "5"`}},
		{"no number", success(`"succeededIndexes":"1,a"`), []string{done + `succeededIndexes: Invalid value: "1,a": error parsing succeededIndexes: cannot convert string to integer for index: "a"`}},
		{"falling", success(`"succeededIndexes":"3,1"`), []string{done + `succeededIndexes: Invalid value: "3,1": error parsing succeededIndexes: non-increasing order, previous: 3, current: 1`}},
		{"falling range", success(`"succeededIndexes":"3-3"`), []string{done + `succeededIndexes: Invalid value: "3-3": error parsing succeededIndexes: non-increasing order, previous: 3, current: 3`}},
		{"three parts", success(`"succeededIndexes":"1-2-3"`), []string{done + `succeededIndexes: Invalid value: "1-2-3": error parsing succeededIndexes: the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`}},
		{"too many successes", success(`"succeededIndexes":"0-1","succeededCount":6`), []string{done + "succeededCount: Invalid value: 6: must be less than or equal to 5 (the number of specified completions)",
			done + "succeededCount: Invalid value: 6: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)"}},
		{"negative successes", success(`"succeededCount":-1`), []string{done + "succeededCount: Invalid value: -1: must be greater than or equal to 0"}},
	})
	obj := named(k, parseTree(t, `{"metadata":{"name":"`+strings.Repeat("a", 61)+`","uid":"u"},"spec":{`+jobTemplateSpec+`,"completionMode":"Indexed","completions":11}}`))
	expect(t, "host name", create(k, obj), []string{"metadata.name: Invalid value: \"" + strings.Repeat("a", 61) + "\": will not able to create pod with invalid DNS label: " + strings.Repeat("a", 61) + "-10"})
}

func TestJobUpdate(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "batch", "v1", "Job")
	const suspended, frozen = `"suspend":true`, "spec.template: Invalid value: …"
	labels := `"metadata":{"labels":{"batch.platform.io/controller-uid":"u-1","batch.platform.io/job-name":"x","controller-uid":"u-1","job-name":"x"NEW}}`
	placed := `"template":{` + strings.Replace(labels, "NEW", `,"new":"yes"`, 1) + `,"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}],"nodeSelector":{"a":"b"},"tolerations":[{"key":"a","operator":"Exists"}],
		"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}}}}`
	image := `"template":{` + strings.Replace(labels, "NEW", "", 1) + `,"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"j"}]}}`
	runSpecUpdateCases(t, k, jobTemplateSpec, []specUpdateCase{
		{"nothing", ``, ``, nil},
		{"open", ``, `"parallelism":3,"suspend":true,"activeDeadlineSeconds":5,"backoffLimit":1,"ttlSecondsAfterFinished":1`, nil},
		{"completions", ``, `"completions":3`, []string{"spec.completions: Invalid value: 3: field is immutable"}},
		{"elastic", `"completionMode":"Indexed","completions":2`, `"completions":3,"parallelism":3`, nil},
		{"not in tandem", `"completionMode":"Indexed","completions":2`, `"completions":3`, []string{"spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism"}},
		{"selector", ``, `"manualSelector":true,"selector":{"matchLabels":{"job-name":"x"}}`, []string{`spec.selector: Invalid value: {"matchLabels":{"job-name":"x"}}: field is immutable`}},
		{"mode", ``, `"completionMode":"Indexed"`, []string{`spec.completionMode: Invalid value: "Indexed": field is immutable`}},
		{"failure policy", ``, `"podReplacementPolicy":"Failed","podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"A"}]}]}`, []string{"spec.podFailurePolicy: Invalid value: …"}},
		{"success policy", `"completionMode":"Indexed","completions":2`, `"successPolicy":{"rules":[{"succeededCount":1}]}`, []string{"spec.successPolicy: Invalid value: …"}},
		{"per index", `"completionMode":"Indexed","completions":2`, `"backoffLimitPerIndex":1`, []string{"spec.backoffLimitPerIndex: Invalid value: 1: field is immutable"}},
		{"manager", ``, `"managedBy":"acme.io/foo"`, []string{`spec.managedBy: Invalid value: "acme.io/foo": field is immutable`}},
		{"template", ``, image, []string{frozen}},
		{"placement", ``, placed, []string{frozen}},
		{"placement while suspended", suspended, placed, nil},
		{"placement after the start", suspended + `,"status":{"startTime":"2026-01-01T00:00:00Z"}`, placed, []string{frozen}},
		{"template while suspended", suspended, image, []string{frozen}},
	})
}

func TestCronJob(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "batch", "v1", "CronJob")
	const base = `"schedule":"* * * * *","jobTemplate":{"spec":{` + jobTemplateSpec + `}}`
	obj := named(k, tree.Tree{"spec": merged(t, base, ``), "status": tree.Tree{"lastScheduleTime": "2026-01-01T00:00:00Z"}})
	expect(t, "defaults", create(k, obj), nil)
	spec := obj.Object("spec")
	delete(spec.Object("jobTemplate", "spec"), "template")
	equalJSON(t, "defaults", spec, `{"schedule":"* * * * *","jobTemplate":{"spec":{}},"concurrencyPolicy":"Allow","suspend":false,"successfulJobsHistoryLimit":3,"failedJobsHistoryLimit":1}`)
	if obj.Has("status") {
		t.Error("a create keeps the status of the client")
	}
	job := func(fields string) string { return `"jobTemplate":{"spec":{` + jobTemplateSpec + `,` + fields + `}}` }
	const at = "spec.jobTemplate.spec."
	runCreateCases(t, k, base, []createCase{
		{"no schedule", `"schedule":""`, []string{"spec.schedule: Required value"}},
		{"counts", `"startingDeadlineSeconds":-1,"successfulJobsHistoryLimit":-1,"failedJobsHistoryLimit":-1`, []string{"spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
			"spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0", "spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0"}},
		{"policy", `"concurrencyPolicy":"Wait"`, []string{`spec.concurrencyPolicy: Unsupported value: "Wait": supported values: "Allow", "Forbid", "Replace"`}},
		{"selector", job(`"selector":{"matchLabels":{"a":"b"}}`), []string{at + "selector: Invalid value: {\"matchLabels\":{\"a\":\"b\"}}: `selector` will be auto-generated"}},
		{"manual selector", job(`"manualSelector":true`), []string{at + `manualSelector: Unsupported value: true: supported values: "nil", "false"`}},
		{"job", job(`"parallelism":-1`), []string{at + "parallelism: Invalid value: -1: must be greater than or equal to 0"}},
		{"restart policy", `"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}`, []string{at + `template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`}},
		{"zone", `"timeZone":"Europe/Berlin"`, nil},
		{"UTC", `"timeZone":"Etc/UTC"`, nil},
		{"no zone", `"timeZone":""`, []string{`spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string`}},
		{"unknown zone", `"timeZone":"Europe/Atlantis"`, []string{`spec.timeZone: Invalid value: "Europe/Atlantis": unknown time zone Europe/Atlantis`}},
		{"path", `"timeZone":"../etc"`, []string{`spec.timeZone: Invalid value: "../etc": unknown time zone ../etc`}},
		{"local", `"timeZone":"Local"`, []string{`spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones`}},
	})
	obj = named(k, tree.Tree{"metadata": tree.Tree{"name": strings.Repeat("a", 53)}, "spec": merged(t, base, ``)})
	expect(t, "name", create(k, obj), []string{`metadata.name: Invalid value: "` + strings.Repeat("a", 53) + `": must be no more than 52 characters`})
}

func TestSchedules(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "batch", "v1", "CronJob")
	const zone = `cannot use TZ or CRON_TZ in schedule, use timeZone field instead`
	for schedule, want := range map[string][]string{
		"0 0 * * *": nil, "*/5 1-3 ? jan,FEB-mar sun": nil, "1,2-4/2 0/6 1 12 6": nil, "@hourly": nil, "@every 1h30m": nil, "  1 2 3 4 5 ": nil,
		"* * * *":                      {"expected exactly 5 fields, found 4: [* * * *]"},
		"* * * * * *":                  {"expected exactly 5 fields, found 6: [* * * * * *]"},
		"60 * * * *":                   {"end of range (60) above maximum (59): 60"},
		"* 24 * * *":                   {"end of range (24) above maximum (23): 24"},
		"* * 0 * *":                    {"beginning of range (0) below minimum (1): 0"},
		"* * * 13 *":                   {"end of range (13) above maximum (12): 13"},
		"* * * * 7":                    {"end of range (7) above maximum (6): 7"},
		"5-1 * * * *":                  {"beginning of range (5) beyond end of range (1): 5-1"},
		"1-2-3 * * * *":                {"too many hyphens: 1-2-3"},
		"*/2/3 * * * *":                {"too many slashes: */2/3"},
		"*/0 * * * *":                  {"step of range should be a positive number: */0"},
		"a * * * *":                    {`failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax`},
		"* * * foo *":                  {`failed to parse int from foo: strconv.Atoi: parsing "foo": invalid syntax`},
		"@sometimes":                   {"unrecognized descriptor: @sometimes"},
		"@every x":                     {`failed to parse duration @every x: time: invalid duration "x"`},
		"TZ=UTC * * * * *":             {zone},
		"CRON_TZ=Nowhere/At * * * * *": {"provided bad location Nowhere/At: unknown time zone Nowhere/At", zone},
	} {
		obj := named(k, parseTree(t, `{"spec":{"jobTemplate":{"spec":{`+jobTemplateSpec+`}}}}`))
		obj.Object("spec")["schedule"] = schedule
		var faults []string
		for _, msg := range want {
			faults = append(faults, `spec.schedule: Invalid value: "`+schedule+`": `+msg)
		}
		expect(t, schedule, create(k, obj), faults)
	}
}
