package expressions

import (
	"container/list"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxRemembered is how many bytes of expressions a Compiler remembers the programs of, which are about fifty times as large.
const maxRemembered = 512 << 10

// A Compiler compiles the expressions of policies. What it has compiled lately it does not compile again: a policy is
// compiled when it is validated, and once more where it is put into effect.
type Compiler struct {
	naming *meta.Naming

	mu         sync.Mutex // guards the rest
	remembered map[string]*list.Element
	order      *list.List // of remembered policies, those used last in front
	size       int
}

// A remembered policy is in the order of a Compiler. The key is kept to remove the entry from the map when
// it is the oldest.
type remembered struct {
	key    string
	policy *Policy
}

// NewCompiler makes a Compiler whose faults have the names of a profile.
func NewCompiler(naming *meta.Naming) *Compiler {
	return &Compiler{naming: naming, remembered: map[string]*list.Element{}, order: list.New()}
}

// compiledFields are the fields of the spec of a policy that hold expressions, or decide what these may use.
var compiledFields = []string{"paramKind", "matchConditions", "variables", "validations", "auditAnnotations", "mutations"}

// Validating compiles the spec of a validating policy, Mutating that of a mutating one.
func (c *Compiler) Validating(spec tree.Tree) *Policy { return c.policy(spec, false) }

// Mutating compiles the spec of a mutating policy.
func (c *Compiler) Mutating(spec tree.Tree) *Policy { return c.policy(spec, true) }

// Policies are compiled when they are written and again where they are enforced; the second time they are
// remembered. Only the fields that are compiled are in the key.
func (c *Compiler) policy(spec tree.Tree, mutating bool) *Policy {
	relevant := tree.Tree{"mutating": mutating}
	for _, name := range compiledFields {
		relevant.CopyField(spec, name)
	}
	key := string(codec.AppendAny(nil, relevant))
	if p := c.recall(key); p != nil {
		return p
	}
	p := compilePolicy(c.naming, dynamic, spec, mutating)
	c.remember(key, p)
	return p
}

func (c *Compiler) recall(key string) *Policy {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.remembered[key]
	if at == nil {
		return nil
	}
	c.order.MoveToFront(at)
	return at.Value.(remembered).policy
}

// The memory is bounded by the text of what is remembered, to which the size of programs is about
// proportional.
func (c *Compiler) remember(key string, p *Policy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.remembered[key] != nil || len(key) > maxRemembered {
		return
	}
	c.remembered[key] = c.order.PushFront(remembered{key, p})
	for c.size += len(key); c.size > maxRemembered; {
		oldest := c.order.Remove(c.order.Back()).(remembered)
		delete(c.remembered, oldest.key)
		c.size -= len(oldest.key)
	}
}

// Conditions compiles the matchConditions of a webhook, which have no params.
func (c *Compiler) Conditions(conditions []tree.Tree) []*Expr {
	if len(conditions) == 0 {
		return nil
	}
	return compileConditions(newEnvironments(c.naming, dynamic, false, false), conditions)
}

// Conditions see the authorizer, and no variables.
func compileConditions(e *environments, conditions []tree.Tree) []*Expr {
	all := make([]*Expr, len(conditions))
	for i, condition := range conditions {
		all[i] = e.compile(scope{authorizer: true}, strings.TrimSpace(condition.String("expression")), cel.Bool)
		all[i].Name = condition.String("name")
	}
	return all
}

// compile compiles one expression.
func (e *environments) compile(s scope, text string, wanted ...*cel.Type) *Expr {
	env, err := e.get(s)
	if err != nil {
		return &Expr{Text: text, Err: err}
	}
	return compileExpr(env, text, wanted...)
}
