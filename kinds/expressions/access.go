package expressions

import (
	"crypto/x509"
	"fmt"
	"sync"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Access compiles an expression of an authentication or authorization configuration. variable is
// the name of its only variable: claims, user or request.
func (c *Compiler) Access(variable, text string, wanted ...*cel.Type) *Expr {
	key := fmt.Sprint(variable, wanted, text)
	if x, ok := c.access.Load(key); ok {
		return x.(*Expr)
	}
	types := map[string]*cel.Type{"claims": cel.MapOf(cel.Any), "user": userType, "request": c.request()}
	env, err := cel.NewEnv(c.naming, cel.Variable(variable, types[variable]))
	if err != nil {
		return &Expr{Text: text, Err: err}
	}
	x := compileExpr(env, text, wanted...)
	c.access.Store(key, x)
	return x
}

// AccessChecks returns the validation functions for authentication and authorization
// configurations. review declares the spec of a SubjectAccessReview, the type of the variable
// request.
func (c *Compiler) AccessChecks(review *schema.Declaration) map[string]schema.CheckFunc {
	c.request = sync.OnceValue(func() *cel.Type { return cel.MessageType(review.Message(), "platform") })
	check := func(variable string, wanted ...*cel.Type) schema.CheckFunc {
		return schema.TextCheck(func(s, path string, faults *schema.Faults) {
			if x := c.Access(variable, s, wanted...); x.Err != nil {
				faults.Invalid(path, s, x.Err.Error())
			}
		})
	}
	return map[string]schema.CheckFunc{
		"claimsExpression": check("claims"), "claimsCondition": check("claims", cel.Bool),
		"userCondition": check("user", cel.Bool), "requestCondition": check("request", cel.Bool),
		"certificates": schema.TextCheck(func(s, path string, faults *schema.Faults) {
			if !x509.NewCertPool().AppendCertsFromPEM([]byte(s)) {
				faults.Invalid(path, "<omitted>", "data does not contain any valid RSA or ECDSA certificates")
			}
		}),
	}
}
