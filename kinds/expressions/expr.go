package expressions

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/cel"
)

// An Expr is one expression. Program is nil if Err is set.
type Expr struct {
	Name    string // name of a match condition, annotation or variable
	Text    string
	Program *cel.Program
	Err     error
	// Authorizes is true if the expression uses the authorizer, directly or through a variable.
	Authorizes bool
}

// compileExpr compiles an expression. If wanted is not empty, the result must have one of its
// types. If the expression uses the authorizer, compileExpr sets Authorizes. Such an expression may
// block and must be evaluated on another goroutine.
func compileExpr(env *cel.Env, text string, wanted ...*cel.Type) *Expr {
	x := &Expr{Text: text}
	checked, err := env.Check(text)
	if err != nil {
		x.Err = err
		return x
	}
	x.Authorizes = slices.ContainsFunc([]string{"authorizer", "authorizer.requestResource"}, checked.Uses)
	x.Program, x.Err = env.Compile(text, wanted...)
	return x
}
