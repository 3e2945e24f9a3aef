package cel

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/ext"
)

// A program holds on to the functions of its environment, which are many. One that needs nothing but functions gets an
// environment with those that it calls.

// runtimeEnv is the environment in which the expression becomes a program. A definition with a thousand
// rules would otherwise hold as many copies of tables that are the same. Costs are tracked by names of
// functions, which stay.
func (c *Checked) runtimeEnv() (*cel.Env, error) {
	special, err := specialOverloads()
	if err != nil {
		return nil, err
	}
	checked := c.ast.NativeRep()
	names := map[string]bool{}
	for _, call := range ast.MatchDescendants(ast.NavigateAST(checked), ast.KindMatcher(ast.CallKind)) {
		name := call.AsCall().FunctionName()
		names[name] = true
		if name == operators.Index {
			continue // which programs know without a function
		}
		for _, id := range checked.GetOverloadIDs(call.ID()) {
			if special[id] {
				return c.env.env, nil
			}
		}
	}
	all := c.env.env.Functions()
	var called []*decls.FunctionDecl
	for name := range names {
		if f := all[name]; f != nil {
			called = append(called, f)
		}
	}
	empty, err := emptyEnv()
	if err != nil {
		return nil, err
	}
	return empty.Extend(cel.FunctionDecls(called...), cel.CustomTypeProvider(c.env.env.CELTypeProvider()), cel.CustomTypeAdapter(c.env.env.CELTypeAdapter()))
}

// emptyEnv is an environment without functions.
var emptyEnv = sync.OnceValues(func() (*cel.Env, error) { return cel.NewCustomEnv() })

// specialOverloads are the functions that need more than themselves when they run: optionals are evaluated lazily, and
// costs of sets and lists are counted by their libraries.
var specialOverloads = sync.OnceValues(func() (map[string]bool, error) {
	env, err := cel.NewCustomEnv(cel.OptionalTypes(), ext.Sets(), ext.Lists(ext.ListsVersion(3)))
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, f := range env.Functions() {
		for _, o := range f.OverloadDecls() {
			ids[o.ID()] = true
		}
	}
	return ids, nil
})
