package expressions

import (
	"maps"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Types contains the types of object and params. Without it, both are dynamic.
type Types struct{ Object, Params *cel.Type }

// A scope determines whether an expression may use params, the authorizer and patch types.
// Expressions of a policy with equal scopes share an environment.
type scope struct {
	params, authorizer, patches bool
}

// newEnvironment returns an environment for the scope. If variables is not nil, it is the type of
// the variable named variables.
func newEnvironment(naming *meta.Naming, s scope, types Types, variables *cel.Type) (*cel.Env, error) {
	options := []cel.Option{
		cel.Sized(),
		cel.Variable("object", types.Object), cel.Variable("oldObject", types.Object),
		cel.Variable("request", RequestType), cel.Variable("namespaceObject", NamespaceType),
	}
	if s.params {
		options = append(options, cel.Variable("params", types.Params))
	}
	if s.authorizer {
		options = append(options, cel.Variable("authorizer", cel.Authorization), cel.Variable("authorizer.requestResource", cel.ResourceAuthorization))
	}
	if s.patches {
		options = append(options, cel.PatchTypes())
	}
	if variables != nil {
		options = append(options, cel.Variable("variables", variables))
	}
	return cel.NewEnv(naming, options...)
}

var dynamic = Types{Object: cel.Dyn, Params: cel.Dyn}

// environments caches a policy's environments, which are slow to create, by scope.
type environments struct {
	naming *meta.Naming
	types  Types
	params bool
	// composed is true if expressions can use the variables of the policy.
	composed  bool
	variables map[string]*cel.Type
	made      map[scope]*cel.Env
	lazy      *cel.Type // type of the variables so far
}

func newEnvironments(naming *meta.Naming, types Types, params, composed bool) *environments {
	e := &environments{naming: naming, types: types, params: params, composed: composed, variables: map[string]*cel.Type{}}
	e.reset()
	return e
}

func (e *environments) reset() {
	e.made = map[scope]*cel.Env{}
	e.lazy = cel.ObjectOf("platform.variables", maps.Clone(e.variables))
}

func (e *environments) add(name string, of *cel.Type) {
	e.variables[name] = of
	e.reset()
}

func (e *environments) get(s scope) (*cel.Env, error) {
	s.params = e.params
	if env := e.made[s]; env != nil {
		return env, nil
	}
	var variables *cel.Type
	if e.composed {
		variables = e.lazy
	}
	env, err := newEnvironment(e.naming, s, e.types, variables)
	if err == nil {
		e.made[s] = env
	}
	return env, err
}
