package expressions

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/cel"
)

// An Expr is one expression. Program is nil if Err says what is wrong with it.
type Expr struct {
	Name    string // of a match condition, an annotation or a variable
	Text    string
	Program *cel.Program
	Err     error
	// Authorizes: it asks the authorizer, by itself or by a variable that it may read.
	Authorizes bool
}

// compileExpr compiles an expression whose result must be of one of some types; without any, all will do.
// Whether it asks for authorization decides on which goroutine it is evaluated.
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
