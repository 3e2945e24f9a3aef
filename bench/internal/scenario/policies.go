package scenario

import (
	"context"
	"fmt"
	"net/http"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// policyRules are what the policies of the scenario ask of Pods. All hold, so that each is evaluated to its end.
var policyRules = []string{
	`object.spec.containers.all(c, c.image.startsWith('example.com/'))`,
	`object.spec.containers.all(c, has(c.resources) && has(c.resources.limits) && 'memory' in c.resources.limits)`,
	`object.spec.containers.all(c, quantity(c.resources.requests.cpu).isLessThan(quantity('2')))`,
	`!has(object.spec.hostNetwork) || !object.spec.hostNetwork`,
	`!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.hostPath))`,
	`has(object.metadata.labels) && 'app' in object.metadata.labels`,
	`object.metadata.name.matches('^[a-z0-9-]+$')`,
	`object.spec.containers.size() <= 10`,
	`request.userInfo.username != ''`,
	`object.spec.containers.all(c, object.spec.containers.exists_one(d, d.name == c.name))`,
}

// policies: every operation is a POST of a new Pod, first in a namespace that nothing is asked of, then in one under ten
// validating policies and two quotas.
func policies(ctx context.Context, s *Session) ([]Result, error) {
	group, err := s.group("admissionregistration")
	if err != nil {
		return nil, err
	}
	without, err := s.createPods(ctx, func(*fixture) (func(), error) { return func() {}, nil })
	if err != nil {
		return nil, err
	}
	with, err := s.createPods(ctx, func(f *fixture) (func(), error) {
		if err := f.addQuotas(); err != nil {
			return nil, err
		}
		return f.addPolicies(group)
	})
	if err != nil {
		return nil, err
	}
	r := Result{Name: "policies, ten and two quotas", Sample: with}
	if cost := without.CPUPerOperation(); cost > 0 {
		r.Figure = &measure.Figure{Value: with.CPUPerOperation() / cost, Unit: "times the CPU without"}
	}
	return []Result{{Name: "policies, none", Sample: without}, r}, nil
}

// addPolicies puts the namespace under the policies.
func (f *fixture) addPolicies(group string) (remove func(), err error) {
	c := f.session.Target.Conn()
	version := group + "/v1"
	definitions, bindings := "/apis/"+version+"/validatingadmissionpolicies", "/apis/"+version+"/validatingadmissionpolicybindings"
	var made []string
	remove = func() {
		defer c.Close()
		for _, path := range made {
			if err := removeAll(c, path); err != nil {
				f.session.Note("clean-up of %s: %v", f.namespace, err)
			}
		}
	}
	label := fmt.Appendf(nil, `{"metadata":{"labels":{"bench":%q}}}`, f.namespace)
	_, err = c.Expect(http.StatusOK, http.MethodPatch, f.namespacePath(), server.TypeMergePatch, label)
	for i := 0; i < len(policyRules) && err == nil; i++ {
		name := fmt.Sprintf("%s-%d", f.namespace, i)
		policy := fmt.Appendf(nil, `{"apiVersion":%q,"kind":"ValidatingAdmissionPolicy","metadata":{"name":%q},"spec":{"matchConstraints":{"resourceRules":[`+
			`{"operations":["CREATE","UPDATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]},"validations":[{"expression":%q}]}}`, version, name, policyRules[i])
		binding := fmt.Appendf(nil, `{"apiVersion":%q,"kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":%q},"spec":{"policyName":%q,"validationActions":["Deny"],`+
			`"matchResources":{"namespaceSelector":{"matchLabels":{"bench":%q}}}}}`, version, name, name, f.namespace)
		if _, err = c.Expect(http.StatusCreated, http.MethodPost, definitions, server.TypeJSON, policy); err == nil {
			made = append(made, definitions+"/"+name)
			if _, err = c.Expect(http.StatusCreated, http.MethodPost, bindings, server.TypeJSON, binding); err == nil {
				made = append(made, bindings+"/"+name)
			}
		}
	}
	if err != nil {
		remove()
		return nil, err
	}
	return remove, nil
}
