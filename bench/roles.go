package main

import (
	"context"
	"encoding/json"
	"fmt"
)

// roles is a Role that allows reading ConfigMaps in a fixture's namespace, with its RoleBindings.
type roles struct {
	*fixture
	group  string // RBAC group
	tokens string // group of TokenRequests
}

func (f *fixture) roles() (*roles, error) {
	group, err := f.Target.group("rbac.authorization")
	if err != nil {
		return nil, err
	}
	r := &roles{fixture: f, group: group}
	if r.tokens, err = f.Target.group("authentication"); err != nil {
		return nil, err
	}
	f.others = append(f.others, r.rbac("rolebindings"), r.rbac("roles"))
	c := f.Target.Conn()
	defer c.Close()
	_, err = c.Call(post(r.rbac("roles"), `{"apiVersion":"%s/v1","kind":"Role","metadata":{"name":"reader"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}]}`, group))
	return r, err
}

func (r *roles) rbac(resource string) string {
	return fmt.Sprintf("/apis/%s/v1/namespaces/%s/%s", r.group, r.namespace, resource)
}

func (r *roles) accounts() string { return r.path("/serviceaccounts") }

func (r *roles) bind(name, subject string) Request {
	return post(r.rbac("rolebindings"), `{"apiVersion":"%s/v1","kind":"RoleBinding","metadata":{"name":%q},"subjects":[%s],"roleRef":{"apiGroup":%q,"kind":"Role","name":"reader"}}`,
		r.group, name, subject, r.group)
}

// addReader creates a service account bound to the Role. The returned target authenticates as the
// account, with a token that outlasts every workload.
func (r *roles) addReader(c *Conn, name string) (*Target, error) {
	if _, err := calls(c,
		post(r.accounts(), `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":%q}}`, name),
		r.bind(name, fmt.Sprintf(`{"kind":"ServiceAccount","name":%q,"namespace":%q}`, name, r.namespace))); err != nil {
		return nil, err
	}
	answer, err := c.Call(post(r.accounts()+"/"+name+"/token", `{"apiVersion":"%s/v1","kind":"TokenRequest","spec":{"expirationSeconds":7200}}`, r.tokens))
	if err != nil {
		return nil, err
	}
	var request struct {
		Status struct {
			Token string `json:"token"`
		} `json:"status"`
	}
	err = json.Unmarshal(answer, &request)
	return r.Target.bearer(request.Status.Token), err
}

// addOtherBindings adds bindings for other users, numbered from first. Their names sort before the
// readers' bindings, so that a linear search visits them first.
func (r *roles) addOtherBindings(ctx context.Context, first, total int) error {
	return r.fill(ctx, total-first, step(func(n int) Request {
		return r.bind(fmt.Sprintf("decoy-%06d", n+first), fmt.Sprintf(`{"apiGroup":%q,"kind":"User","name":"user-%06d"}`, r.group, n+first))
	}))
}
