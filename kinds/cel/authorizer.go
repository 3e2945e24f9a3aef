package cel

import (
	"context"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/selector"
)

// An Authorizer decides what a user may do, for the variable authorizer. It is the same authorizer that
// decides requests, and may take as long; so each question has a high cost, and the context of the
// evaluation.
type Authorizer interface {
	// Authorize decides one access. reason may be "". An error does not end the expression, which can ask for it.
	Authorize(ctx context.Context, a Access) (allowed bool, reason string, err error)
	// ServiceAccount is the authorizer of another user. The names are valid.
	ServiceAccount(namespace, name string) Authorizer
}

// An Access is what an expression asks about: of a path, or of a resource, whose version is any. A selector
// that cannot be read does not fail the expression: the authorizer decides as if there was none, which can
// only mean fewer rights.
type Access struct {
	Verb string
	Path string // "": of a resource

	Group, Resource, Subresource, Namespace, Name string
	// The requirements of selectors, which are none where their text cannot be read.
	Fields, Labels []selector.Requirement
}

// The types of the steps of a question. A question is a chain, as in
// authorizer.group("apps").resource("deployments").namespace("x").check("get"). Each step returns a value
// of another type, so the compiler refuses steps out of order.
var (
	authorizerType    = cel.ObjectType("platform.authorization.Authorizer")
	pathCheckType     = cel.ObjectType("platform.authorization.PathCheck")
	groupCheckType    = cel.ObjectType("platform.authorization.GroupCheck")
	resourceCheckType = cel.ObjectType("platform.authorization.ResourceCheck")
	decisionType      = cel.ObjectType("platform.authorization.Decision")
)

// An authorization asks an Authorizer, for one evaluation. Holding a context in a value is safe here, since
// no value outlives the evaluation that it was made for.
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

// The selectors stay texts until the question is asked, so that a fault in one is not that of the step
// which sets it.
type resourceCheck struct {
	authorization
	access         Access
	fields, labels string
}

// err is kept for errored() and error(): an expression can thus fail open or closed as its author wants.
type decision struct {
	allowed bool
	reason  string
	err     error
}

// NewAuthorization is the value of the variable authorizer.
func NewAuthorization(ctx context.Context, by Authorizer) Value {
	return receiver(authorizerType, authorization{ctx, by})
}

// NewResourceAuthorization is the value of the variable authorizer.requestResource: of an access, group, resource,
// sub-resource, namespace and name count.
func NewResourceAuthorization(ctx context.Context, by Authorizer, a Access) Value {
	return receiver(resourceCheckType, resourceCheck{authorization: authorization{ctx, by}, access: a})
}

// receiver is a value that has only functions. Two of them are never equal, as the public API has it; to
// compare questions means nothing.
func receiver[T any](t *types.Type, v T) ref.Val {
	return opaque[T]{t, t.TypeName(), v, func(T, T) bool { return false }, nil}
}

// authorizerFunctions are the steps of a question, and what is asked of its answer. The ids of overloads
// are those of the public API.
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

// checkPath begins a question about a path that is no resource.
func (a authorization) checkPath(path string) ref.Val {
	if strings.TrimSpace(path) == "" {
		return types.NewErr("path must not be empty")
	}
	return receiver(pathCheckType, pathCheck{a, path})
}

// The names are checked because they become part of a user name, in which a colon would make another user.
func (a authorization) serviceAccount(namespace, name string) ref.Val {
	switch {
	case len(rules.Subdomain(name)) > 0:
		return types.NewErr("Invalid service account name")
	case len(rules.Label(namespace)) > 0:
		return types.NewErr("Invalid service account namespace")
	}
	return NewAuthorization(a.ctx, a.by.ServiceAccount(namespace, name))
}

// resource begins a question about a resource of any version.
func (g groupCheck) resource(name string) ref.Val {
	if strings.TrimSpace(name) == "" {
		return types.NewErr("resource must not be empty")
	}
	return receiver(resourceCheckType, resourceCheck{authorization: g.authorization, access: Access{Group: g.group, Resource: name}})
}

// check asks the question, which is where its selectors are read.
func (c resourceCheck) check(verb string) ref.Val {
	a := c.access
	a.Verb = verb
	if c.fields != "" {
		a.Fields, _ = selector.FieldRequirements(c.fields) // none with a fault
	}
	if l, err := selector.ParseLabels(c.labels); err == nil {
		a.Labels = l.Requirements()
	}
	return c.decide(a)
}

// decide asks in the middle of an evaluation, on its goroutine.
func (a authorization) decide(access Access) ref.Val {
	allowed, reason, err := a.by.Authorize(a.ctx, access)
	return receiver(decisionType, decision{allowed, reason, err})
}
