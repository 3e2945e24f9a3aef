package admissionpolicy_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/troupe-api/troupe/kinds/tree"
)

var rules = []string{
	`!has(object.spec.hostNetwork) || object.spec.hostNetwork == false`,
	`object.spec.containers.all(c, !c.image.endsWith(':latest'))`,
	`object.spec.containers.all(c, has(c.resources) && has(c.resources.limits) && 'memory' in c.resources.limits)`,
	`has(object.metadata.labels) && 'app' in object.metadata.labels`,
	`object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) || c.securityContext.privileged == false)`,
	`!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.hostPath))`,
	`request.userInfo.username != 'root'`,
	`namespaceObject.metadata.name != 'restricted'`,
	`object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))`,
	`size(object.spec.containers) <= 5`,
}

const pod = `{"metadata":{"name":"p","labels":{"app":"a"}},"spec":{"containers":[
	{"name":"a","image":"registry.example.com/a:1","resources":{"limits":{"memory":"1Gi"}},"securityContext":{"privileged":false}},
	{"name":"b","image":"registry.example.com/b:1","resources":{"limits":{"memory":"1Gi"}}}],"volumes":[{"name":"v","emptyDir":{}}]}}`

func policies(t testing.TB, n int) fakeObjects {
	o := fakeObjects{}
	for i := range n {
		name := fmt.Sprintf("p%03d", i)
		o["validatingadmissionpolicies"] = append(o["validatingadmissionpolicies"], parse(t, `{"metadata":{"name":"`+name+`"},"spec":{"matchConstraints":{"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},
			"resourceRules":[{"operations":["CREATE","UPDATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]},"validations":[{"expression":`+strconv.Quote(rules[i%len(rules)])+`}]}}`))
		o["validatingadmissionpolicybindings"] = append(o["validatingadmissionpolicybindings"], parse(t, `{"metadata":{"name":"`+name+`"},"spec":{"policyName":"`+name+`","validationActions":["Deny"]}}`))
	}
	return o
}

func BenchmarkValidate(b *testing.B) {
	for _, n := range []int{0, 1, 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := newFixture(b, policies(b, n))
			a := f.create(b, pod)
			v := f.validating.Validator
			b.ReportAllocs()
			for b.Loop() {
				if err := v.Validate(a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMutate(b *testing.B) {
	o := fakeObjects{
		"mutatingadmissionpolicies": []tree.Tree{parse(b, `{"metadata":{"name":"m"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]},
			"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{metadata: Object.metadata{labels: {'x': 'y'}}}"}}]}}`)},
		"mutatingadmissionpolicybindings": []tree.Tree{parse(b, `{"metadata":{"name":"m"},"spec":{"policyName":"m"}}`)},
	}
	f := newFixture(b, o)
	b.ReportAllocs()
	for b.Loop() {
		a := f.create(b, pod)
		if err := f.mutating.Mutator.Admit(a); err != nil {
			b.Fatal(err)
		}
	}
}
