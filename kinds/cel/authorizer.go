package cel

import (
	"context"
	"errors"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/selector"
)

// An Authorizer makes the access decisions for the CEL variable authorizer. A check may be slow, so
// it has a high cost and receives the context of the evaluation.
type Authorizer interface {
	// Authorize makes one access decision. The reason may be empty. An error does not end the
	// evaluation, because the expression can test for it.
	Authorize(ctx context.Context, a Access) (allowed bool, reason string, err error)
	// ServiceAccount returns the Authorizer for a service account with valid names.
	ServiceAccount(namespace, name string) Authorizer
}

// An Access is an access check in an expression, for a path or for a resource in any version. An
// invalid selector counts as absent, which can only deny more.
type Access struct {
	Verb string
	Path string // "" for a resource

	Group, Resource, Subresource, Namespace, Name string
	// Fields and Labels are empty if the selector is invalid.
	Fields, Labels []selector.Requirement
}

// Each step of authorizer.group("apps").resource("deployments").namespace("x").check("get") returns
// a different type, so that the type checker rejects steps out of order.
var (
	authorizerType    = cel.ObjectType("platform.authorization.Authorizer")
	pathCheckType     = cel.ObjectType("platform.authorization.PathCheck")
	groupCheckType    = cel.ObjectType("platform.authorization.GroupCheck")
	resourceCheckType = cel.ObjectType("platform.authorization.ResourceCheck")
	decisionType      = cel.ObjectType("platform.authorization.Decision")
)

// An authorization is an Authorizer for one evaluation. It may store the context in a field,
// because no CEL value outlives the evaluation.
type authorization struct {
	ctx context.Context
	by  Authorizer
}

type pathCheck struct {
	authorization
	path string
}

type groupCheck struct {
	authorization
	group string
}

// A resourceCheck parses selectors only when the check runs, so that the functions that set them
// cannot fail.
type resourceCheck struct {
	authorization
	access         Access
	fields, labels string
}

// A decision keeps the error for the CEL functions errored and error, so that expressions can fail
// open or closed.
type decision struct {
	allowed bool
	reason  string
	err     error
}

// NewAuthorization returns the value of the variable authorizer.
func NewAuthorization(ctx context.Context, by Authorizer) Value {
	return receiver(authorization{ctx, by})
}

// NewResourceAuthorization returns the value of authorizer.requestResource, a check of the
// resource, namespace and name in a.
func NewResourceAuthorization(ctx context.Context, by Authorizer, a Access) Value {
	return receiver(resourceCheck{authorization: authorization{ctx, by}, access: a})
}

// authorizerFunctions declares the functions of checks and decisions, with kube-apiserver's
// overload IDs.
func authorizerFunctions() []cel.EnvOption {
	narrow := func(name, id string, set func(c *resourceCheck, s string)) cel.EnvOption {
		return method(name, id, binary(func(c resourceCheck, s string) resourceCheck {
			set(&c, s)
			return c
		}))
	}
	return []cel.EnvOption{
		method("path", "authorizer_path", tryBinary(authorization.checkPath)),
		method("group", "authorizer_group", binary(func(a authorization, group string) groupCheck { return groupCheck{a, group} })),
		cel.Function("serviceAccount", cel.MemberOverload("authorizer_serviceaccount", []*cel.Type{authorizerType, cel.StringType, cel.StringType},
			authorizerType, cel.FunctionBinding(func(args ...ref.Val) ref.Val {
				a, hasAuthorizer := held[authorization](args[0])
				namespace, hasNamespace := held[string](args[1])
				name, hasName := held[string](args[2])
				if !hasAuthorizer || !hasNamespace || !hasName {
					return types.NoSuchOverloadErr()
				}
				return valueOrErr(a.serviceAccount(namespace, name))
			}))),
		method("resource", "groupcheck_resource", tryBinary(groupCheck.resource)),
		narrow("subresource", "resourcecheck_subresource", func(c *resourceCheck, s string) { c.access.Subresource = s }),
		narrow("namespace", "resourcecheck_namespace", func(c *resourceCheck, s string) { c.access.Namespace = s }),
		narrow("name", "resourcecheck_name", func(c *resourceCheck, s string) { c.access.Name = s }),
		narrow("fieldSelector", "authorizer_fieldselector", func(c *resourceCheck, s string) { c.fields = s }),
		narrow("labelSelector", "authorizer_labelselector", func(c *resourceCheck, s string) { c.labels = s }),
		method("check", "pathcheck_check", binary(func(c pathCheck, verb string) decision {
			return c.decide(Access{Verb: verb, Path: c.path})
		})),
		method("check", "resourcecheck_check", binary(resourceCheck.check)),
		method("errored", "decision_errored", unary(func(d decision) bool { return d.err != nil })),
		method("error", "decision_error", unary(func(d decision) string {
			if d.err == nil {
				return ""
			}
			return d.err.Error()
		})),
		method("allowed", "decision_allowed", unary(func(d decision) bool { return d.allowed })),
		method("reason", "decision_reason", unary(func(d decision) string { return d.reason })),
	}
}

func (a authorization) checkPath(path string) (pathCheck, error) {
	if strings.TrimSpace(path) == "" {
		return pathCheck{}, errors.New("path must not be empty")
	}
	return pathCheck{a, path}, nil
}

// serviceAccount validates the names, because a name with a colon could refer to another user.
func (a authorization) serviceAccount(namespace, name string) (authorization, error) {
	switch {
	case len(rules.Subdomain(name)) > 0:
		//lint:ignore ST1005 kube-apiserver has this text.
		return a, errors.New("Invalid service account name")
	case len(rules.Label(namespace)) > 0:
		//lint:ignore ST1005 kube-apiserver has this text.
		return a, errors.New("Invalid service account namespace")
	}
	return authorization{a.ctx, a.by.ServiceAccount(namespace, name)}, nil
}

func (g groupCheck) resource(name string) (resourceCheck, error) {
	if strings.TrimSpace(name) == "" {
		return resourceCheck{}, errors.New("resource must not be empty")
	}
	return resourceCheck{authorization: g.authorization, access: Access{Group: g.group, Resource: name}}, nil
}

func (c resourceCheck) check(verb string) decision {
	a := c.access
	a.Verb = verb
	if c.fields != "" {
		a.Fields, _ = selector.FieldRequirements(c.fields) // none if invalid
	}
	if l, err := selector.ParseLabels(c.labels); err == nil {
		a.Labels = l.Requirements()
	}
	return c.decide(a)
}

func (a authorization) decide(access Access) decision {
	allowed, reason, err := a.by.Authorize(a.ctx, access)
	return decision{allowed, reason, err}
}
