package cel

import (
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/decls"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/ext"
)

// A compiled program retains all functions of its environment, and a CRD may have a thousand rules.
// Most programs therefore use a smaller environment with only the functions that they call.

// runtimeEnv returns the environment for the program. Costs depend only on function names, so a
// smaller environment does not change them.
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
			continue // programs need no function for it
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

var emptyEnv = sync.OnceValues(func() (*cel.Env, error) { return cel.NewCustomEnv() })

// specialOverloads returns the overloads that work only in the full environment. Overloads for
// optionals are evaluated lazily, and the overloads of the CEL set and list libraries track
// their own cost.
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
