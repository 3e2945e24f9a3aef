package expressions

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Policy contains all expressions of an admission policy, in the order of its spec.
type Policy struct {
	// Conditions are the matchConditions, which cannot use variables.
	Conditions  []*Expr
	Variables   []*Expr
	Validations []*Expr
	// Messages contains the messageExpression of each validation, or nil.
	Messages    []*Expr
	Annotations []*Expr
	Mutations   []*Expr
	// VariablesType is the type of the variable named variables, or nil if the policy declares
	// none.
	VariablesType *cel.Type
	// Authorizes is true if any expression uses the authorizer.
	Authorizes bool

	byName map[string]*Expr
}

// Variable returns the variable with the given name, or nil.
func (p *Policy) Variable(name string) *Expr { return p.byName[name] }

// ofMutation maps a patchType to its expression field and result type.
var ofMutation = map[string]struct {
	field  string
	result *cel.Type
}{
	"ApplyConfiguration": {"applyConfiguration", cel.ObjectPatch},
	"JSONPatch":          {"jsonPatch", cel.JSONPatches},
}

// MutationField returns the expression field for a patchType, or "" for an unknown one.
func MutationField(patchType string) string { return ofMutation[patchType].field }

// compilePolicy compiles a policy. Only later expressions can use a variable.
func compilePolicy(naming *meta.Naming, types Types, spec tree.Tree, mutating bool) *Policy {
	params := spec.Has("paramKind")
	variables := spec.Objects("variables")
	p := &Policy{byName: map[string]*Expr{}}
	p.Conditions = compileConditions(newEnvironments(naming, types, params, false), spec.Objects("matchConditions"))
	e := newEnvironments(naming, types, params, mutating || len(variables) > 0)
	for _, v := range variables {
		p.addVariable(e, v.String("name"), v.String("expression"))
	}
	if len(variables) > 0 {
		p.VariablesType = e.lazy
	}
	for _, v := range spec.Objects("validations") {
		p.Validations = append(p.Validations, e.compile(scope{authorizer: true}, v.String("expression"), cel.Bool))
		var message *Expr
		if text := v.String("messageExpression"); strings.TrimSpace(text) != "" {
			message = e.compile(scope{}, text, cel.String)
		}
		p.Messages = append(p.Messages, message)
	}
	for _, a := range spec.Objects("auditAnnotations") {
		x := e.compile(scope{authorizer: true}, strings.TrimSpace(a.String("valueExpression")), cel.String, cel.Null)
		x.Name = a.String("key")
		p.Annotations = append(p.Annotations, x)
	}
	for _, m := range spec.Objects("mutations") {
		of := ofMutation[m.String("patchType")]
		text := strings.TrimSpace(m.Object(of.field).String("expression"))
		p.Mutations = append(p.Mutations, e.compile(scope{authorizer: true, patches: true}, text, of.result))
	}
	p.Authorizes = slices.ContainsFunc(slices.Concat(p.Conditions, p.Variables, p.Validations, p.Annotations, p.Mutations),
		func(x *Expr) bool { return x.Authorizes })
	return p
}

// addVariable adds a variable. An invalid one becomes dynamic, so that expressions that use it do
// not report its error again.
func (p *Policy) addVariable(e *environments, name, text string) {
	x := e.compile(scope{authorizer: true}, text)
	x.Name = name
	of := cel.Dyn
	if x.Program != nil {
		of = x.Program.Type()
	}
	e.add(name, of)
	p.Variables = append(p.Variables, x)
	p.byName[name] = x
}
