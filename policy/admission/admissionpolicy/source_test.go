package admissionpolicy_test

import (
	"context"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

// slowObjects serves objects and can block reads of ConfigMaps.
type slowObjects struct {
	followers map[string]func(policy.Change)
	reading   chan struct{} // receives when ConfigMaps are read
	goOn      chan struct{}
}

func (s *slowObjects) Get(meta.GroupResource, string, string) *policy.Object { return nil }

func (s *slowObjects) Inform(ctx context.Context, r meta.GroupResource, onChange func(policy.Change)) error {
	if r.Resource != "configmaps" {
		s.followers[r.Resource] = onChange
		return nil
	}
	s.reading <- struct{}{}
	select {
	case <-s.goOn:
		onChange(changeOf(r.Resource, tree.Tree{"metadata": tree.Tree{"namespace": "default", "name": "c"}, "data": tree.Tree{"allow": "yes"}}))
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func changeOf(resource string, t tree.Tree) policy.Change {
	metadata := t.Object("metadata")
	return policy.Change{Object: &policy.Object{Key: meta.Key{GroupResource: meta.GroupResource{Resource: resource}, Namespace: metadata.String("namespace"), Name: metadata.String("name")}, Tree: t}}
}

// TestParametersAreReadAside checks that other policies and bindings take effect while the objects
// of a new paramKind are read. The policy itself keeps its previous version meanwhile.
func TestParametersAreReadAside(t *testing.T) {
	t.Parallel()
	objects := &slowObjects{map[string]func(policy.Change){}, make(chan struct{}), make(chan struct{})}
	f := newFixtureOf(t, objects)
	objects.followers["namespaces"](changeOf("namespaces", parse(t, `{"metadata":{"name":"default"}}`)))
	publish := func(resource, text string) { objects.followers[resource](changeOf(resource, parse(t, text))) }
	write := func(name, spec, binding string) {
		publish("validatingadmissionpolicybindings", `{"metadata":{"name":"`+name+`"},"spec":{"policyName":"`+name+`","validationActions":["Deny"]`+binding+`}}`)
		publish("validatingadmissionpolicies", `{"metadata":{"name":"`+name+`"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]},`+spec+`}}`)
	}
	verdict := func() string {
		a := f.create(t, `{"metadata":{"name":"p"}}`)
		if err := f.validating.Validator.Validate(a); err != nil {
			return err.Error()
		}
		return ""
	}
	expect := func(when, want string) {
		t.Helper()
		if got := verdict(); want == "" && got != "" || want != "" && got != `pods "p" is forbidden: ValidatingAdmissionPolicy '`+want+`' with binding '`+want+`' denied request: as `+want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	write("b", `"validations":[{"expression":"false","message":"as b"}]`, "")
	expect("before", "b")

	changed := make(chan struct{})
	go func() {
		write("b", `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"validations":[{"expression":"params.data.allow == 'yes'","message":"as b"}]`, `,"paramRef":{"name":"c","parameterNotFoundAction":"Allow"}`)
		close(changed)
	}()
	<-objects.reading
	expect("while parameters are read", "b")
	other := make(chan struct{})
	go func() {
		write("a", `"validations":[{"expression":"false","message":"as a"}]`, "")
		close(other)
	}()
	select {
	case <-other:
	case <-time.After(5 * time.Minute):
		t.Fatal("another policy waits for the parameters")
	}
	expect("beside another policy", "a")
	objects.followers["validatingadmissionpolicies"](policy.Change{Object: changeOf("validatingadmissionpolicies", parse(t, `{"metadata":{"name":"a"}}`)).Object, Deleted: true})
	expect("when the other one is gone", "b")
	close(objects.goOn)
	<-changed
	expect("with parameters", "")
}
