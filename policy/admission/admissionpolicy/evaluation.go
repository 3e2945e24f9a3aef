package admissionpolicy

import (
	"context"
	"maps"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/admission/review"
	"github.com/troupe-api/troupe/policy/authz"
)

// An Evaluator creates the CEL variables for a request.
type Evaluator struct {
	Naming     *meta.Naming
	Namespaces *match.Namespaces
	Authorizer authz.Authorizer
}

// An evaluation belongs to one request and one goroutine. It creates values on first use.
type evaluation struct {
	*Evaluator
	ctx context.Context
	a   *request.Attributes

	views         []kindView
	namespace     tree.Tree // namespaceObject; nil until loaded, or if there is none
	namespaceSize cel.Size
	inNone        bool // the request is cluster-scoped
	authority     *review.Authorizer
}

// A kindView holds the request converted to a kind's version.
type kindView struct {
	kind *schema.Kind
	*review.View
	request tree.Tree // nil until used
	// sizes caches the sizes of object, oldObject and request.
	sizes map[string]cel.Size
}

func (e *Evaluator) newEvaluation(a *request.Attributes) *evaluation {
	return &evaluation{Evaluator: e, ctx: a.Context, a: a}
}

// view returns the request converted to a kind. A linear search is fast enough, because a kind has
// few versions.
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

func (e *evaluation) forget() { e.views = nil }

// paramsOf returns the params objects for a binding, or nothing if the binding does not match. If
// the policy has no paramKind, it returns a single nil.
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

func (e *evaluation) namespaceName() string {
	if e.a.Kind.Group == "" && e.a.Kind.Resource == "namespaces" {
		return ""
	}
	return e.a.Key.Namespace
}

// checkNamespace rejects requests whose namespace does not exist. Otherwise expressions that read
// namespaceObject would fail with a misleading error.
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

// hiddenMetadata lists the metadata fields missing from the CEL type of namespaceObject.
var hiddenMetadata = []string{"managedFields", "ownerReferences", "selfLink"}

// namespaceObject returns the namespace for expressions, or nil. It makes a shallow copy, because
// expressions cannot modify nested objects.
func (e *evaluation) namespaceObject() tree.Tree {
	if e.namespace != nil || e.inNone {
		return e.namespace
	}
	o, ok := e.Namespaces.Get(e.namespaceName())
	if !ok {
		return nil
	}
	metadata := tree.Tree{}
	maps.Copy(metadata, o.Tree.Object("metadata"))
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

func (e *evaluation) authorizer() *review.Authorizer {
	if e.authority == nil {
		e.authority = review.NewAuthorizer(e.a.User, e.Authorizer)
	}
	return e.authority
}

// ended returns a timeout error if the request has ended. Callers check it after each evaluation,
// because an interrupted expression looks like a failed one.
func (e *evaluation) ended() error {
	if e.ctx.Err() == nil {
		return nil
	}
	return meta.NewTimeout("the request ended before the admission policies had been evaluated")
}

// A scope provides the variables that the expressions of a policy can use, and caches their values.
// Expressions with a different budget or fewer variables get a separate scope (see with).
type scope struct {
	*evaluation
	hook                      *hook
	view                      *kindView
	params                    tree.Tree
	noNamespace, noAuthorizer bool
	budget                    *cel.Budget
	own                       cel.Budget // budget points here during validations
	variables                 *cel.Lazy  // nil until used
}

var _ cel.Sizer = (*scope)(nil)

// Lookup returns the value of a variable. It creates each value on first use, because most
// expressions read only the object.
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

// Size returns the size of a variable that is a tree. It measures each object once for all
// policies.
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

// orNull returns an untyped nil for a nil Tree, because CEL would not treat a nil Tree as null.
func orNull(t tree.Tree) any {
	if t == nil {
		return nil
	}
	return t
}
