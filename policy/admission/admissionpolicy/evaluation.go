package admissionpolicy

import (
	"context"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/admission/review"
	"github.com/troupe-api/troupe/policy/authz"
)

// An Evaluator makes the values that expressions see of requests.
type Evaluator struct {
	Naming     *meta.Naming
	Namespaces *match.Namespaces
	Authorizer authz.Authorizer
}

// An evaluation is one look at a request. Its values are made when an expression first asks for them. It
// belongs to one goroutine.
type evaluation struct {
	*Evaluator
	ctx context.Context
	a   *request.Attributes

	views     []kindView
	namespace tree.Tree // as expressions see it; nil if it is not known yet, or there is none
	// namespaceSize is the size of namespace.
	namespaceSize cel.Size
	inNone        bool // the request is in no namespace
	authority     *review.Authorizer
}

// A kindView is the request in the form of one kind.
type kindView struct {
	kind *schema.Kind
	*review.View
	request tree.Tree // nil until it is asked for
	// sizes are those of the object, the old object and the request, as far as they have been asked for.
	sizes map[string]cel.Size
}

// newEvaluation begins to look at a request.
func (e *Evaluator) newEvaluation(a *request.Attributes) *evaluation {
	return &evaluation{Evaluator: e, ctx: a.Context, a: a}
}

// view is the request in the form of a kind. A request is mostly looked at in one version, at most in a
// few, so a list is searched.
func (e *evaluation) view(k *schema.Kind) (*kindView, error) {
	for i := range e.views {
		if e.views[i].kind == k {
			return &e.views[i], nil
		}
	}
	v, err := review.NewView(e.a, k)
	if err != nil {
		return nil, err
	}
	e.views = append(e.views, kindView{kind: k, View: v})
	return &e.views[len(e.views)-1], nil
}

// forget makes views anew, because the object is another one.
func (e *evaluation) forget() { e.views = nil }

// paramsOf are the objects of parameters with which a policy is to be evaluated for a binding: none where the binding is
// not about the request, a nil one where there are no parameters.
func (e *evaluation) paramsOf(h *hook, b *binding) ([]tree.Tree, error) {
	matched, err := b.criteria.Match(e.a, e.Namespaces)
	switch {
	case err != nil:
		return nil, err
	case matched == nil:
		return nil, nil
	case b.fault != nil:
		return nil, b.fault
	}
	return b.param.collect(h.from, e.a.Key.Namespace)
}

// namespaceName is that of the namespace of the request; "" for what is in none, and for a Namespace.
func (e *evaluation) namespaceName() string {
	if e.a.Kind.Group == "" && e.a.Kind.Resource == "namespaces" {
		return ""
	}
	return e.a.Key.Namespace
}

// checkNamespace refuses a request in a namespace that is not there. Without the check a policy that looks
// at the namespace would fail in its own words, and the client would look for the mistake there.
func (e *evaluation) checkNamespace() error {
	name := e.namespaceName()
	if name == "" {
		e.inNone = true
		return nil
	}
	if _, ok := e.Namespaces.Get(name); !ok {
		return meta.NewNotFound(meta.GroupResource{Resource: "namespaces"}, name)
	}
	return nil
}

// hiddenMetadata of a namespace is not shown to expressions. They are large or of no use for a rule, and
// the type of the variable does not have them.
var hiddenMetadata = []string{"managedFields", "ownerReferences", "selfLink"}

// namespaceObject is the namespace as expressions see it; nil if there is none. It is a copy of the top
// level only; the parts are shared, as expressions cannot change them.
func (e *evaluation) namespaceObject() tree.Tree {
	if e.namespace != nil || e.inNone {
		return e.namespace
	}
	o, ok := e.Namespaces.Get(e.namespaceName())
	if !ok {
		return nil
	}
	metadata := tree.Tree{}
	for name, v := range o.Tree.Object("metadata") {
		metadata[name] = v
	}
	for _, name := range hiddenMetadata {
		delete(metadata, name)
	}
	e.namespace = tree.Tree{"metadata": metadata, "spec": tree.Tree{}, "status": tree.Tree{}}
	for _, name := range []string{"spec", "status"} {
		if part := o.Tree.Object(name); part != nil {
			e.namespace[name] = part
		}
	}
	e.namespaceSize = cel.SizeOf(e.namespace)
	return e.namespace
}

// authorizer decides for expressions what the user may do.
func (e *evaluation) authorizer() *review.Authorizer {
	if e.authority == nil {
		e.authority = review.NewAuthorizer(e.a.User, e.Authorizer)
	}
	return e.authority
}

// ended is the error of a request that nobody waits for any more; nil otherwise. It is asked after each
// evaluation, because an expression that was interrupted looks like one that failed.
func (e *evaluation) ended() error {
	if e.ctx.Err() == nil {
		return nil
	}
	return meta.NewTimeout("the request ended before the admission policies had been evaluated")
}

// A scope is the variables of some expressions of one policy. Variables are computed once in it;
// expressions with another budget, or without some variables, get a scope of their own (with).
type scope struct {
	*evaluation
	hook   *hook
	view   *kindView
	params tree.Tree
	// noNamespace and noAuthorizer say what the expressions do not have.
	noNamespace, noAuthorizer bool
	budget                    *cel.Budget
	own                       cel.Budget // that of the validations, which budget points to
	variables                 *cel.Lazy  // nil until they are asked for
}

var _ cel.Sizer = (*scope)(nil)

// Lookup implements cel.Activation. Every value is made only here, when it is first asked for: most
// expressions read the object alone.
func (s *scope) Lookup(name string) (any, bool) {
	switch name {
	case "object":
		return orNull(s.view.Object), true
	case "oldObject":
		return orNull(s.view.OldObject), true
	case "params":
		return orNull(s.params), true
	case "request":
		if s.view.request == nil {
			s.view.request = s.view.Request(s.Naming)
		}
		return s.view.request, true
	case "namespaceObject":
		if s.noNamespace {
			return nil, true
		}
		return orNull(s.namespaceObject()), true
	case "authorizer":
		return cel.NewAuthorization(s.ctx, s.authorizer()), !s.noAuthorizer
	case "authorizer.requestResource":
		return cel.NewResourceAuthorization(s.ctx, s.authorizer(), review.Access(s.a)), !s.noAuthorizer
	case "variables":
		return s.lazy(), s.hook.compiled.VariablesType != nil
	}
	return nil, false
}

// Size implements cel.Sizer. An object is measured once for all policies. What is not a tree has no size.
func (s *scope) Size(name string) (cel.Size, bool) {
	switch name {
	case "object", "oldObject", "request":
		size, known := s.view.sizes[name]
		if !known {
			v, _ := s.Lookup(name)
			size = cel.SizeOf(v)
			if s.view.sizes == nil {
				s.view.sizes = make(map[string]cel.Size, 1)
			}
			s.view.sizes[name] = size
		}
		return size, true
	case "params":
		return cel.SizeOf(orNull(s.params)), true
	case "namespaceObject":
		if s.noNamespace || s.namespaceObject() == nil {
			return cel.Size{}, true
		}
		return s.namespaceSize, true
	}
	return cel.Size{}, false
}

// A nil Tree in an interface would not be null for expressions.
func orNull(t tree.Tree) any {
	if t == nil {
		return nil
	}
	return t
}
