package expressions

import (
	"strings"
	"sync"

	"github.com/troupe-api/troupe/internal/cache"
	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxRemembered limits the total size of cached expressions, in bytes. Compiled programs take about
// fifty times as much memory.
const maxRemembered = 512 << 10

// A Compiler compiles policy expressions. It caches recent results, because a policy is compiled
// once for validation and again for enforcement.
type Compiler struct {
	naming     *meta.Naming
	remembered *cache.Cache[string, *Policy]
	access     sync.Map         // *Expr by variable, type and text
	request    func() *cel.Type // set by AccessChecks
}

// NewCompiler returns a Compiler for a naming profile, which determines the names in errors.
func NewCompiler(naming *meta.Naming) *Compiler {
	return &Compiler{naming: naming, remembered: cache.New[string, *Policy](maxRemembered)}
}

// compiledFields lists the fields of a policy's spec that contain expressions or affect their
// environment.
var compiledFields = []string{"paramKind", "matchConditions", "variables", "validations", "auditAnnotations", "mutations"}

// Validating compiles the spec of a ValidatingAdmissionPolicy.
func (c *Compiler) Validating(spec tree.Tree) *Policy { return c.policy(spec, false) }

// Mutating compiles the spec of a MutatingAdmissionPolicy.
func (c *Compiler) Mutating(spec tree.Tree) *Policy { return c.policy(spec, true) }

// policy returns a compiled policy. The cache key consists only of the compiled fields, so that
// other changes do not compile the policy again.
func (c *Compiler) policy(spec tree.Tree, mutating bool) *Policy {
	relevant := tree.Tree{"mutating": mutating}
	for _, name := range compiledFields {
		relevant.CopyField(spec, name)
	}
	key := string(codec.AppendAny(nil, relevant))
	p, ok := c.remembered.Get(key)
	if !ok {
		p = compilePolicy(c.naming, dynamic, spec, mutating)
		c.remembered.Put(key, p, len(key))
	}
	return p
}

// Conditions compiles the matchConditions of a webhook, which cannot use params.
func (c *Compiler) Conditions(conditions []tree.Tree) []*Expr {
	if len(conditions) == 0 {
		return nil
	}
	return compileConditions(newEnvironments(c.naming, dynamic, false, false), conditions)
}

func compileConditions(e *environments, conditions []tree.Tree) []*Expr {
	all := make([]*Expr, len(conditions))
	for i, condition := range conditions {
		all[i] = e.compile(scope{authorizer: true}, strings.TrimSpace(condition.String("expression")), cel.Bool)
		all[i].Name = condition.String("name")
	}
	return all
}

func (e *environments) compile(s scope, text string, wanted ...*cel.Type) *Expr {
	env, err := e.get(s)
	if err != nil {
		return &Expr{Text: text, Err: err}
	}
	return compileExpr(env, text, wanted...)
}
