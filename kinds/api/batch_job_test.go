package api_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestJobDefaults(t *testing.T) {
	k := KindByGVK(t, meta.Kubernetes, "batch", "v1", "Job")
	for _, c := range []struct{ spec, want string }{
		{``, `{"parallelism":1,"completions":1,"backoffLimit":6,"completionMode":"NonIndexed","suspend":false,"manualSelector":false,"podReplacementPolicy":"TerminatingOrFailed"}`},
		{`"parallelism":3`, `{"parallelism":3,"backoffLimit":6,"completionMode":"NonIndexed","suspend":false,"manualSelector":false,"podReplacementPolicy":"TerminatingOrFailed"}`},
		{`"completions":3`, `{"parallelism":1,"completions":3,"backoffLimit":6,"completionMode":"NonIndexed","suspend":false,"manualSelector":false,"podReplacementPolicy":"TerminatingOrFailed"}`},
		{`"completions":3,"completionMode":"Indexed","backoffLimitPerIndex":1,"suspend":true`, `{"parallelism":1,"completions":3,"backoffLimit":2147483647,"backoffLimitPerIndex":1,
			"completionMode":"Indexed","suspend":true,"manualSelector":false,"podReplacementPolicy":"TerminatingOrFailed"}`},
		{`"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"A"}]}]}`, `{"parallelism":1,"completions":1,"backoffLimit":6,"completionMode":"NonIndexed","suspend":false,
			"manualSelector":false,"podReplacementPolicy":"Failed","podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"A","status":"True"}]}]}}`},
	} {
		obj := Named(k, Parse(t, `{"metadata":{"uid":"u-1"},"spec":{`+JobTemplateSpec+`},"status":{"active":3}}`))
		for key, value := range Parse(t, "{"+c.spec+"}") {
			obj.Object("spec")[key] = value
		}
		Expect(t, c.spec, Create(k, obj), nil)
		if obj.Has("status") {
			t.Error("a create keeps the status of the client")
		}
		spec := obj.Object("spec")
		EqualJSON(t, "selector", spec["selector"], `{"matchLabels":{"batch.kubernetes.io/controller-uid":"u-1"}}`)
		labels := `{"batch.kubernetes.io/controller-uid":"u-1","batch.kubernetes.io/job-name":"x","controller-uid":"u-1","job-name":"x"}`
		EqualJSON(t, "labels of Pods", spec.Object("template", "metadata")["labels"], labels)
		EqualJSON(t, "labels", obj.Object("metadata")["labels"], labels)
		delete(spec, "selector")
		delete(spec, "template")
		EqualJSON(t, c.spec, spec, c.want)
	}
}

func TestJobSelector(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "batch", "v1", "Job")
	labelled := func(labels string) string {
		return `"template":{"metadata":{"labels":{` + labels + `}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`
	}
	const mismatch = "`selector` does not match template `labels`"
	RunCreateCases(t, k, JobTemplateSpec, []CreateCase{
		{Name: "own", Spec: `"manualSelector":true,"selector":{"matchLabels":{"a":"b"}},` + labelled(`"a":"b"`), Want: nil},
		{Name: "own, missing", Spec: `"manualSelector":true`, Want: []string{"spec.selector: Required value", "spec.template.metadata.labels: Invalid value: null: " + mismatch}},
		{Name: "own, of another", Spec: `"manualSelector":true,"selector":{"matchLabels":{"a":"b"}}`, Want: []string{"spec.template.metadata.labels: Invalid value: null: " + mismatch}},
		{Name: "made for another", Spec: `"selector":{"matchLabels":{"a":"b"}},` + labelled(`"a":"b"`), Want: []string{"spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\",\"batch.platform.io/controller-uid\":\"u-1\"}}: `selector` not auto-generated"}},
		{Name: "label of another", Spec: labelled(`"job-name":"y"`), Want: []string{`spec.template.metadata.labels[job-name]: Invalid value: {"batch.platform.io/controller-uid":"u-1","batch.platform.io/job-name":"x","controller-uid":"u-1","job-name":"y"}: must be 'x'`}},
	})
	obj := Named(k, Parse(t, `{"metadata":{"uid":"u-1","labels":{"mine":"yes"}},"spec":{`+JobTemplateSpec+`}}`))
	Expect(t, "labels", Create(k, obj), nil)
	EqualJSON(t, "labels that were given stay", obj.Object("metadata")["labels"], `{"mine":"yes"}`)
}

func TestJobRules(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "batch", "v1", "Job")
	const indexed = `"completionMode":"Indexed","completions":5`
	onExit := func(fields string) string {
		return `"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{` + fields + `}}]}`
	}
	const rule, codes = "spec.podFailurePolicy.rules[0]", "spec.podFailurePolicy.rules[0].onExitCodes."
	success := func(fields string) string { return indexed + `,"successPolicy":{"rules":[{` + fields + `}]}` }
	const done = "spec.successPolicy.rules[0]."
	RunCreateCases(t, k, JobTemplateSpec, []CreateCase{
		{Name: "counts", Spec: `"parallelism":-1,"completions":-1,"activeDeadlineSeconds":-1,"backoffLimit":-1,"ttlSecondsAfterFinished":-1`, Want: []string{
			"spec.parallelism: Invalid value: -1: must be greater than or equal to 0", "spec.completions: Invalid value: -1: must be greater than or equal to 0",
			"spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0", "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0",
			"spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0"}},
		{Name: "mode", Spec: `"completionMode":"Odd"`, Want: []string{`spec.completionMode: Unsupported value: "Odd": supported values: "NonIndexed", "Indexed"`}},
		{Name: "indexed without size", Spec: `"completionMode":"Indexed","parallelism":1`, Want: []string{"spec.completions: Required value: when completion mode is Indexed"}},
		{Name: "indexed and wide", Spec: indexed + `,"parallelism":100001`, Want: []string{"spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed"}},
		{Name: "failed indexes", Spec: indexed + `,"backoffLimitPerIndex":1,"maxFailedIndexes":6`, Want: []string{"spec.maxFailedIndexes: Invalid value: 6: must be less than or equal to completions"}},
		{Name: "failed indexes alone", Spec: indexed + `,"maxFailedIndexes":1`, Want: []string{"spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"}},
		{Name: "many", Spec: `"completionMode":"Indexed","completions":100001,"parallelism":10001,"backoffLimitPerIndex":1`, Want: []string{
			"spec.maxFailedIndexes: Required value: must be specified when completions is above 100000",
			"spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index"}},
		{Name: "many failed", Spec: `"completionMode":"Indexed","completions":100002,"backoffLimitPerIndex":1,"maxFailedIndexes":100001`, Want: []string{
			"spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 100000",
			"spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index"}},
		{Name: "not indexed", Spec: `"backoffLimitPerIndex":1,"maxFailedIndexes":1,"successPolicy":{"rules":[]}`, Want: []string{"spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
			"spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode", `spec.successPolicy: Invalid value: {"rules":[]}: requires indexed completion mode`}},
		{Name: "manager", Spec: `"managedBy":"me"`, Want: []string{`spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")`}},
		{Name: "long manager", Spec: `"managedBy":"acme.io/` + strings.Repeat("a", 60) + `"`, Want: []string{"spec.managedBy: Too long: may not be more than 63 bytes"}},
		{Name: "good manager", Spec: `"managedBy":"acme.io/foo"`, Want: nil},
		{Name: "restart policy", Spec: `"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}`, Want: []string{`spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`}},
		{Name: "template", Spec: `"template":{"spec":{"restartPolicy":"Never"}}`, Want: []string{"spec.template.spec.containers: Required value"}},

		{Name: "failure policy", Spec: onExit(`"operator":"In","values":[1,2]`), Want: nil},
		{Name: "failure policy and restart", Spec: onExit(`"operator":"In","values":[1]`) + `,"template":{"spec":{"restartPolicy":"OnFailure","containers":[{"name":"c","image":"i"}]}}`, Want: []string{
			`spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified`}},
		{Name: "failure policy and replacement", Spec: onExit(`"operator":"In","values":[1]`) + `,"podReplacementPolicy":"TerminatingOrFailed"`, Want: []string{
			`spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"`}},
		{Name: "replacement", Spec: `"podReplacementPolicy":"Never"`, Want: []string{`spec.podReplacementPolicy: Unsupported value: "Never": supported values: "Failed", "TerminatingOrFailed"`}},
		{Name: "no codes", Spec: onExit(`"operator":"In"`), Want: []string{codes + "values: Invalid value: null: at least one value is required"}},
		{Name: "codes", Spec: onExit(`"operator":"In","values":[2,1,0,2],"containerName":"z"`), Want: []string{codes + "values[3]: Duplicate value: 2",
			codes + `containerName: Invalid value: "z": must be one of the container or initContainer names in the pod template`,
			codes + "values[2]: Invalid value: 0: must not be 0 for the In operator", codes + "values: Invalid value: [2,1,0,2]: must be ordered"}},
		{Name: "operator", Spec: onExit(`"operator":"Like","values":[1]`), Want: []string{codes + `operator: Unsupported value: "Like": supported values: "In", "NotIn"`}},
		{Name: "no operator", Spec: onExit(`"values":[1]`), Want: []string{codes + `operator: Required value: valid values: ["In" "NotIn"]`}},
		{Name: "no rule", Spec: `"podFailurePolicy":{"rules":[{}]}`, Want: []string{rule + `.action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]`,
			rule + ": Invalid value: specifying one of OnExitCodes and OnPodConditions is required"}},
		{Name: "both", Spec: `"podFailurePolicy":{"rules":[{"action":"Odd","onExitCodes":{"operator":"In","values":[1]},"onPodConditions":[{"type":"a b","status":"Maybe"}]}]}`, Want: []string{
			rule + `.action: Unsupported value: "Odd": supported values: "Count", "FailIndex", "FailJob", "Ignore"`, rule + `.onPodConditions[0].type: Invalid value: "a b"…`,
			rule + `.onPodConditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`,
			rule + ": Invalid value: specifying both OnExitCodes and OnPodConditions is not supported"}},
		{Name: "fail index", Spec: `"podFailurePolicy":{"rules":[{"action":"FailIndex","onPodConditions":[{"type":"A"}]}]}`, Want: []string{rule + `.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`}},
		{Name: "too many rules", Spec: `"podFailurePolicy":{"rules":[` + strings.TrimSuffix(strings.Repeat(`{"action":"Ignore","onPodConditions":[{"type":"A"}]},`, 21), ",") + `]}`, Want: []string{
			"spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items"}},

		{Name: "success", Spec: success(`"succeededIndexes":"0,2-4","succeededCount":3`), Want: nil},
		{Name: "no success", Spec: indexed + `,"successPolicy":{}`, Want: []string{"spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified"}},
		{Name: "empty success", Spec: success(``), Want: []string{"spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified"}},
		{Name: "too large", Spec: success(`"succeededIndexes":"5"`), Want: []string{done + `succeededIndexes: Invalid value: "5": error parsing succeededIndexes: too large index: "5"`}},
		{Name: "no number", Spec: success(`"succeededIndexes":"1,a"`), Want: []string{done + `succeededIndexes: Invalid value: "1,a": error parsing succeededIndexes: cannot convert string to integer for index: "a"`}},
		{Name: "falling", Spec: success(`"succeededIndexes":"3,1"`), Want: []string{done + `succeededIndexes: Invalid value: "3,1": error parsing succeededIndexes: non-increasing order, previous: 3, current: 1`}},
		{Name: "falling range", Spec: success(`"succeededIndexes":"3-3"`), Want: []string{done + `succeededIndexes: Invalid value: "3-3": error parsing succeededIndexes: non-increasing order, previous: 3, current: 3`}},
		{Name: "three parts", Spec: success(`"succeededIndexes":"1-2-3"`), Want: []string{done + `succeededIndexes: Invalid value: "1-2-3": error parsing succeededIndexes: the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`}},
		{Name: "too many successes", Spec: success(`"succeededIndexes":"0-1","succeededCount":6`), Want: []string{done + "succeededCount: Invalid value: 6: must be less than or equal to 5 (the number of specified completions)",
			done + "succeededCount: Invalid value: 6: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)"}},
		{Name: "negative successes", Spec: success(`"succeededCount":-1`), Want: []string{done + "succeededCount: Invalid value: -1: must be greater than or equal to 0"}},
	})
	obj := Named(k, Parse(t, `{"metadata":{"name":"`+strings.Repeat("a", 61)+`","uid":"u"},"spec":{`+JobTemplateSpec+`,"completionMode":"Indexed","completions":11}}`))
	Expect(t, "host name", Create(k, obj), []string{"metadata.name: Invalid value: \"" + strings.Repeat("a", 61) + "\": will not able to create pod with invalid DNS label: " + strings.Repeat("a", 61) + "-10"})
}

func TestJobUpdate(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "batch", "v1", "Job")
	const suspended, frozen = `"suspend":true`, "spec.template: Invalid value: …"
	labels := `"metadata":{"labels":{"batch.platform.io/controller-uid":"u-1","batch.platform.io/job-name":"x","controller-uid":"u-1","job-name":"x"NEW}}`
	placed := `"template":{` + strings.Replace(labels, "NEW", `,"new":"yes"`, 1) + `,"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}],"nodeSelector":{"a":"b"},"tolerations":[{"key":"a","operator":"Exists"}],
		"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}}}}`
	image := `"template":{` + strings.Replace(labels, "NEW", "", 1) + `,"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"j"}]}}`
	RunSpecUpdateCases(t, k, JobTemplateSpec, []SpecUpdateCase{
		{Name: "nothing", Old: ``, Now: ``, Want: nil},
		{Name: "open", Old: ``, Now: `"parallelism":3,"suspend":true,"activeDeadlineSeconds":5,"backoffLimit":1,"ttlSecondsAfterFinished":1`, Want: nil},
		{Name: "a setting that is false", Old: ``, Now: strings.NewReplacer(`"image":"j"`, `"image":"i"`, `"spec":{`, `"spec":{"hostUsers":false,`).Replace(image), Want: []string{`spec.template: Invalid value: {"metadata"…`}},
		{Name: "completions", Old: ``, Now: `"completions":3`, Want: []string{"spec.completions: Invalid value: 3: field is immutable"}},
		{Name: "elastic", Old: `"completionMode":"Indexed","completions":2`, Now: `"completions":3,"parallelism":3`, Want: nil},
		{Name: "not in tandem", Old: `"completionMode":"Indexed","completions":2`, Now: `"completions":3`, Want: []string{"spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism"}},
		{Name: "selector", Old: ``, Now: `"manualSelector":true,"selector":{"matchLabels":{"job-name":"x"}}`, Want: []string{`spec.selector: Invalid value: {"matchLabels":{"job-name":"x"}}: field is immutable`}},
		{Name: "mode", Old: ``, Now: `"completionMode":"Indexed"`, Want: []string{`spec.completionMode: Invalid value: "Indexed": field is immutable`}},
		{Name: "failure policy", Old: ``, Now: `"podReplacementPolicy":"Failed","podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"A"}]}]}`, Want: []string{"spec.podFailurePolicy: Invalid value: …"}},
		{Name: "success policy", Old: `"completionMode":"Indexed","completions":2`, Now: `"successPolicy":{"rules":[{"succeededCount":1}]}`, Want: []string{"spec.successPolicy: Invalid value: …"}},
		{Name: "per index", Old: `"completionMode":"Indexed","completions":2`, Now: `"backoffLimitPerIndex":1`, Want: []string{"spec.backoffLimitPerIndex: Invalid value: 1: field is immutable"}},
		{Name: "manager", Old: ``, Now: `"managedBy":"acme.io/foo"`, Want: []string{`spec.managedBy: Invalid value: "acme.io/foo": field is immutable`}},
		{Name: "template", Old: ``, Now: image, Want: []string{frozen}},
		{Name: "placement", Old: ``, Now: placed, Want: []string{frozen}},
		{Name: "placement while suspended", Old: suspended, Now: placed, Want: nil},
		{Name: "placement after the start", Old: suspended + `,"status":{"startTime":"2026-01-01T00:00:00Z"}`, Now: placed, Want: []string{frozen}},
		{Name: "nothing while suspended", Old: `"suspend":true`, Now: `"parallelism":2`, Want: nil},
		{Name: "template while suspended", Old: suspended, Now: image, Want: []string{frozen}},
	})
}

func TestCronJob(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "batch", "v1", "CronJob")
	const base = `"schedule":"* * * * *","jobTemplate":{"spec":{` + JobTemplateSpec + `}}`
	obj := Named(k, tree.Tree{"spec": Merged(t, base, ``), "status": tree.Tree{"lastScheduleTime": "2026-01-01T00:00:00Z"}})
	Expect(t, "defaults", Create(k, obj), nil)
	spec := obj.Object("spec")
	delete(spec.Object("jobTemplate", "spec"), "template")
	EqualJSON(t, "defaults", spec, `{"schedule":"* * * * *","jobTemplate":{"spec":{}},"concurrencyPolicy":"Allow","suspend":false,"successfulJobsHistoryLimit":3,"failedJobsHistoryLimit":1}`)
	if obj.Has("status") {
		t.Error("a create keeps the status of the client")
	}
	job := func(fields string) string {
		return `"jobTemplate":{"spec":{` + JobTemplateSpec + `,` + fields + `}}`
	}
	const at = "spec.jobTemplate.spec."
	RunCreateCases(t, k, base, []CreateCase{
		{Name: "no schedule", Spec: `"schedule":""`, Want: []string{"spec.schedule: Required value"}},
		{Name: "counts", Spec: `"startingDeadlineSeconds":-1,"successfulJobsHistoryLimit":-1,"failedJobsHistoryLimit":-1`, Want: []string{"spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
			"spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0", "spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0"}},
		{Name: "policy", Spec: `"concurrencyPolicy":"Wait"`, Want: []string{`spec.concurrencyPolicy: Unsupported value: "Wait": supported values: "Allow", "Forbid", "Replace"`}},
		{Name: "selector", Spec: job(`"selector":{"matchLabels":{"a":"b"}}`), Want: []string{at + "selector: Invalid value: {\"matchLabels\":{\"a\":\"b\"}}: `selector` will be auto-generated"}},
		{Name: "manual selector", Spec: job(`"manualSelector":true`), Want: []string{at + `manualSelector: Unsupported value: true: supported values: "nil", "false"`}},
		{Name: "job", Spec: job(`"parallelism":-1`), Want: []string{at + "parallelism: Invalid value: -1: must be greater than or equal to 0"}},
		{Name: "restart policy", Spec: `"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}`, Want: []string{at + `template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`}},
		{Name: "zone", Spec: `"timeZone":"Europe/Berlin"`, Want: nil},
		{Name: "UTC", Spec: `"timeZone":"Etc/UTC"`, Want: nil},
		{Name: "no zone", Spec: `"timeZone":""`, Want: []string{`spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string`}},
		{Name: "unknown zone", Spec: `"timeZone":"Europe/Atlantis"`, Want: []string{`spec.timeZone: Invalid value: "Europe/Atlantis": unknown time zone Europe/Atlantis`}},
		{Name: "path", Spec: `"timeZone":"../etc"`, Want: []string{`spec.timeZone: Invalid value: "../etc": unknown time zone ../etc`}},
		{Name: "local", Spec: `"timeZone":"Local"`, Want: []string{`spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones`}},
	})
	obj = Named(k, tree.Tree{"metadata": tree.Tree{"name": strings.Repeat("a", 53)}, "spec": Merged(t, base, ``)})
	Expect(t, "name", Create(k, obj), []string{`metadata.name: Invalid value: "` + strings.Repeat("a", 53) + `": must be no more than 52 characters`})
}

func TestSchedules(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "batch", "v1", "CronJob")
	const (
		zone     = `cannot use TZ or CRON_TZ in schedule, use timeZone field instead`
		noFields = `expected exactly 5 fields, found 0: []`
	)
	for schedule, want := range map[string][]string{
		"0 0 * * *": nil, "*/5 1-3 ? jan,FEB-mar sun": nil, "1,2-4/2 0/6 1 12 6": nil, "@hourly": nil, "@every 1h30m": nil, "  1 2 3 4 5 ": nil,
		"* * * * *": nil, "*/15 0-6/2 1,15 * ?": nil, "5/10 * * * *": nil, "0 0 * JAN-mar Sun,tue": nil, "@midnight": nil,

		"* * * *":                      {"expected exactly 5 fields, found 4: [* * * *]"},
		"* * * * * *":                  {"expected exactly 5 fields, found 6: [* * * * * *]"},
		"0 * * * * *":                  {"expected exactly 5 fields, found 6: [0 * * * * *]"},
		" ":                            {noFields},
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
		"* * * * monday":               {`failed to parse int from monday: strconv.Atoi: parsing "monday": invalid syntax`},
		"@sometimes":                   {"unrecognized descriptor: @sometimes"},
		"@often":                       {"unrecognized descriptor: @often"},
		"@every x":                     {`failed to parse duration @every x: time: invalid duration "x"`},
		"@every day":                   {`failed to parse duration @every day: time: invalid duration "day"`},
		"TZ=UTC * * * * *":             {zone},
		"TZ=UTC 0 0 * * *":             {zone},
		"TZ= @daily":                   {zone},
		"CRON_TZ=Asia/Tokyo @weekly":   {zone},
		"TZ=":                          {noFields, zone},
		"TZ=UTC":                       {noFields, zone},
		"TZ=UTC ":                      {noFields, zone},
		"CRON_TZ=UTC":                  {noFields, zone},
		"TZ=No/Where":                  {"provided bad location No/Where: unknown time zone No/Where", zone},
		"CRON_TZ=Nowhere @daily":       {"provided bad location Nowhere: unknown time zone Nowhere", zone},
		"CRON_TZ=Nowhere/At * * * * *": {"provided bad location Nowhere/At: unknown time zone Nowhere/At", zone},
		"TZ=UTC\t*\t*\t*\t*\t*":        {"provided bad location UTC\t*\t*\t*\t*\t*: unknown time zone UTC\t*\t*\t*\t*\t*", zone},
	} {
		obj := Named(k, Parse(t, `{"spec":{"jobTemplate":{"spec":{`+JobTemplateSpec+`}}}}`))
		obj.Object("spec")["schedule"] = schedule
		var faults []string
		for _, msg := range want {
			faults = append(faults, "spec.schedule: Invalid value: "+strconv.Quote(schedule)+": "+msg)
		}
		Expect(t, schedule, Create(k, obj), faults)
	}
}
