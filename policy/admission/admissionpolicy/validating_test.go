package admissionpolicy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestAnnotations(t *testing.T) {
	f := newFixture(t, fakeObjects{
		"validatingadmissionpolicies": []tree.Tree{parse(t, `{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]},
			"validations":[{"expression":"true"},{"expression":"false","message":"<no>"},{"expression":"false"}],
			"auditAnnotations":[{"key":"k","valueExpression":"' v '"},{"key":"none","valueExpression":"null"},{"key":"empty","valueExpression":"''"},{"key":"long","valueExpression":"'`+string(slices.Repeat([]byte("x"), 4000))+`' + '`+string(slices.Repeat([]byte("y"), 9000))+`'"}]}}`)},
		"validatingadmissionpolicybindings": []tree.Tree{
			parse(t, `{"metadata":{"name":"a"},"spec":{"policyName":"p","validationActions":["Audit","Warn"]}}`),
			parse(t, `{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Audit"]}}`),
		},
	})
	a := f.create(t, pod)
	if err := f.validating.Validator.Validate(a); err != nil {
		t.Fatal(err)
	}
	warnings, annotations := a.Mutation.Recorder.Recorded()
	if len(warnings) != 2 || warnings[1] != "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'a': failed expression: false" {
		t.Errorf("warnings %q", warnings)
	}
	at := func(key string) string {
		i := slices.IndexFunc(annotations, func(a request.Annotation) bool { return a.Key == key })
		if i < 0 {
			return ""
		}
		return annotations[i].Value
	}
	want := `[{"message":"\u003cno\u003e","policy":"p","binding":"a","expressionIndex":1,"validationActions":["Audit","Warn"]},` +
		`{"message":"failed expression: false","policy":"p","binding":"a","expressionIndex":2,"validationActions":["Audit","Warn"]},` +
		`{"message":"\u003cno\u003e","policy":"p","binding":"b","expressionIndex":1,"validationActions":["Audit"]},` +
		`{"message":"failed expression: false","policy":"p","binding":"b","expressionIndex":2,"validationActions":["Audit"]}]`
	if got := at("validation.policy.admission.platform.io/validation_failure"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if at("p/k") != "v" || len(at("p/long")) != 10<<10 || len(annotations) != 3 {
		t.Errorf("annotations %.300v", annotations)
	}
}

func TestManyFailures(t *testing.T) {
	f := newFixture(t, fakeObjects{
		"validatingadmissionpolicies": []tree.Tree{parse(t, `{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]},
			"validations":[`+strings.Repeat(`{"expression":"false"},`, 59)+`{"expression":"false"}]}}`)},
		"validatingadmissionpolicybindings": []tree.Tree{parse(t, `{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Audit"]}}`)},
	})
	a := f.create(t, pod)
	if err := f.validating.Validator.Validate(a); err != nil {
		t.Fatal(err)
	}
	_, annotations := a.Mutation.Recorder.Recorded()
	if len(annotations) != 1 || strings.Count(annotations[0].Value, "expressionIndex") != 50 || !strings.Contains(annotations[0].Value, `"expressionIndex":49,`) {
		t.Errorf("annotations %.300v", annotations)
	}
}

func TestSelects(t *testing.T) {
	f := newFixture(t, policies(t, 1))
	s := f.validating
	pods, services := f.kinds.Kind("", "v1", "pods"), f.kinds.Kind("", "v1", "services")
	if !s.Selects(pods, "") || s.Selects(pods, "status") || s.Selects(services, "") || f.mutating.Selects(pods, "") {
		t.Error("the wrong resources are selected")
	}
	if got := testing.AllocsPerRun(100, func() { s.Selects(services, "") }); got > 0 {
		t.Errorf("%v allocations", got)
	}
}
