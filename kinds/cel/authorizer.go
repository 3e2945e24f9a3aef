package cel

import (
	"context"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/selector"
)

// An Authorizer makes the access decisions for the CEL variable authorizer. Because it may be slow,
// each check has a high cost and receives the context of the evaluation.
type Authorizer interface {
	// Authorize makes one access decision. The reason may be empty. An error does not end the
	// evaluation, because the expression can test for it.
	Authorize(ctx context.Context, a Access) (allowed bool, reason string, err error)
	// ServiceAccount returns the Authorizer for a service account. The caller has validated both
	// names.
	ServiceAccount(namespace, name string) Authorizer
}

// An Access is an access check in an expression, for a path or for a resource in any version. An
// invalid selector counts as absent, which can only reduce the access granted.
type Access struct {
	Verb string
	Path string // "": a resource

	Group, Resource, Subresource, Namespace, Name string
	// Fields and Labels are empty if the selector is invalid.
	Fields, Labels []selector.Requirement
}

// Each step of authorizer.group("apps").resource("deployments").namespace("x").check("get") returns
// a value of a different type, so that the type checker rejects steps out of order.
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

// A resourceCheck keeps selectors unparsed until the check runs, so that the functions that set
// them cannot fail.
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

// NewAuthorization returns the value of the CEL variable authorizer.
func NewAuthorization(ctx context.Context, by Authorizer) Value {
	return receiver(authorizerType, authorization{ctx, by})
}

// NewResourceAuthorization returns the value of authorizer.requestResource. It is a resource check
// that is preset to the resource, namespace and name in a.
func NewResourceAuthorization(ctx context.Context, by Authorizer, a Access) Value {
	return receiver(resourceCheckType, resourceCheck{authorization: authorization{ctx, by}, access: a})
}

// receiver returns a value on which only functions can be called. As in kube-apiserver, receivers
// are never equal.
func receiver[T any](t *types.Type, v T) ref.Val {
	return opaque[T]{t, t.TypeName(), v, func(T, T) bool { return false }, nil}
}

// authorizerFunctions declares the check and decision functions, with kube-apiserver's overload
// IDs.
func authorizerFunctions() []cel.EnvOption {
	step := func(name, id string, of, to *cel.Type, call func(x, y ref.Val) ref.Val) cel.EnvOption {
		return cel.Function(name, cel.MemberOverload(id, []*cel.Type{of, cel.StringType}, to, cel.BinaryBinding(call)))
	}
	narrow := func(name, id string, set func(c *resourceCheck, s string)) cel.EnvOption {
		return step(name, id, resourceCheckType, resourceCheckType, binary(func(c resourceCheck, s string) ref.Val {
			set(&c, s)
			return receiver(resourceCheckType, c)
		}))
	}
	answer := func(name string, to *cel.Type, call func(d decision) ref.Val) cel.EnvOption {
		return cel.Function(name, cel.MemberOverload("decision_"+name, []*cel.Type{decisionType}, to, cel.UnaryBinding(unary(call))))
	}
	return []cel.EnvOption{
		step("path", "authorizer_path", authorizerType, pathCheckType, binary(authorization.checkPath)),
		step("group", "authorizer_group", authorizerType, groupCheckType, binary(func(a authorization, group string) ref.Val {
			return receiver(groupCheckType, groupCheck{a, group})
		})),
		cel.Function("serviceAccount", cel.MemberOverload("authorizer_serviceaccount", []*cel.Type{authorizerType, cel.StringType, cel.StringType},
			authorizerType, cel.FunctionBinding(func(args ...ref.Val) ref.Val {
				a, ok := held[authorization](args[0])
				if !ok {
					return types.MaybeNoSuchOverloadErr(args[0])
				}
				return binary(a.serviceAccount)(args[1], args[2])
			}))),
		step("resource", "groupcheck_resource", groupCheckType, resourceCheckType, binary(groupCheck.resource)),
		narrow("subresource", "resourcecheck_subresource", func(c *resourceCheck, s string) { c.access.Subresource = s }),
		narrow("namespace", "resourcecheck_namespace", func(c *resourceCheck, s string) { c.access.Namespace = s }),
		narrow("name", "resourcecheck_name", func(c *resourceCheck, s string) { c.access.Name = s }),
		narrow("fieldSelector", "authorizer_fieldselector", func(c *resourceCheck, s string) { c.fields = s }),
		narrow("labelSelector", "authorizer_labelselector", func(c *resourceCheck, s string) { c.labels = s }),
		step("check", "pathcheck_check", pathCheckType, decisionType, binary(func(c pathCheck, verb string) ref.Val {
			return c.decide(Access{Verb: verb, Path: c.path})
		})),
		step("check", "resourcecheck_check", resourceCheckType, decisionType, binary(resourceCheck.check)),
		answer("errored", cel.BoolType, func(d decision) ref.Val { return types.Bool(d.err != nil) }),
		answer("error", cel.StringType, func(d decision) ref.Val {
			if d.err == nil {
				return types.String("")
			}
			return types.String(d.err.Error())
		}),
		answer("allowed", cel.BoolType, func(d decision) ref.Val { return types.Bool(d.allowed) }),
		answer("reason", cel.StringType, func(d decision) ref.Val { return types.String(d.reason) }),
	}
}

func (a authorization) checkPath(path string) ref.Val {
	if strings.TrimSpace(path) == "" {
		return types.NewErr("path must not be empty")
	}
	return receiver(pathCheckType, pathCheck{a, path})
}

// serviceAccount validates the names, because a colon in a name would make them refer to another
// user.
func (a authorization) serviceAccount(namespace, name string) ref.Val {
	switch {
	case len(rules.Subdomain(name)) > 0:
		return types.NewErr("Invalid service account name")
	case len(rules.Label(namespace)) > 0:
		return types.NewErr("Invalid service account namespace")
	}
	return NewAuthorization(a.ctx, a.by.ServiceAccount(namespace, name))
}

func (g groupCheck) resource(name string) ref.Val {
	if strings.TrimSpace(name) == "" {
		return types.NewErr("resource must not be empty")
	}
	return receiver(resourceCheckType, resourceCheck{authorization: g.authorization, access: Access{Group: g.group, Resource: name}})
}

func (c resourceCheck) check(verb string) ref.Val {
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

func (a authorization) decide(access Access) ref.Val {
	allowed, reason, err := a.by.Authorize(a.ctx, access)
	return receiver(decisionType, decision{allowed, reason, err})
}
