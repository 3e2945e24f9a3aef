package crd

import (
	"errors"
	"strings"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

type rule struct {
	source     tree.Tree
	check      *cel.Program
	message    *cel.Program // nil without messageExpression
	transition bool         // uses oldSelf
	optional   bool         // also runs without an old value
	fieldPath  string       // in errors, relative to the value; "" for the value itself

	cost, messageCost uint64 // estimated upper bounds
}

type ruleFault struct {
	member string
	err    error
}

const (
	selfName    = "self"
	oldSelfName = "oldSelf"
)

type ruleCompiler struct {
	naming       *meta.Naming
	self         *cel.Type
	envs         [2]*cel.Env // the second has an optional oldSelf; created on demand
	withEstimate bool
}

// env returns the CEL environment, with an optional oldSelf if optional is true. Environments are
// expensive, so they are created on first use.
func (c *ruleCompiler) env(optional bool) (*cel.Env, error) {
	i, old := 0, cel.Variable(oldSelfName, c.self)
	if optional {
		i, old = 1, cel.OptionalVariable(oldSelfName, c.self)
	}
	if c.envs[i] != nil {
		return c.envs[i], nil
	}
	env, err := cel.NewEnv(c.naming, cel.Variable(selfName, c.self), old)
	c.envs[i] = env
	return env, err
}

// compile compiles source, one of a node's rules. If only the messageExpression is invalid, it
// returns both a rule and a fault: a new CRD is rejected, but a stored rule uses its static
// message.
//
// Example of source: {rule: "self.min <= self.max", message: "min is above max", fieldPath: ".min"}
func (c *ruleCompiler) compile(n *node, source tree.Tree) (*rule, *ruleFault) {
	r := &rule{source: source, optional: source.Bool("optionalOldSelf")}
	if c.self == nil {
		return r, &ruleFault{"rule", errors.New("failed to convert to declType for CEL validation rules")}
	}
	env, err := c.env(r.optional)
	if err != nil {
		return r, &ruleFault{"rule", err}
	}
	checked, program, cost, err := c.expression(env, source.String("rule"))
	if err == nil && !checked.Returns(cel.Bool) {
		err = errors.New("cel expression must evaluate to a bool")
	}
	if err != nil {
		return r, &ruleFault{"rule", err}
	}
	r.check, r.cost, r.transition = program, cost, checked.Uses(oldSelfName)
	r.fieldPath, _ = n.fieldPath(source.String("fieldPath"))
	text := source.String("messageExpression")
	if text == "" {
		return r, nil
	}
	checked, program, cost, err = c.expression(env, text)
	var issues *cel.CompileError
	switch {
	case errors.As(err, &issues):
		err = errors.New("messageExpression " + err.Error())
	case err == nil && !checked.Returns(cel.String):
		err = errors.New("messageExpression must evaluate to a string")
	}
	if err != nil {
		return r, &ruleFault{"messageExpression", err}
	}
	r.message, r.messageCost = program, cost
	return r, nil
}

// expression compiles one expression. It estimates the cost only to check a CRD, because the
// estimate walks the whole expression with the sizes of all types.
func (c *ruleCompiler) expression(env *cel.Env, text string) (checked *cel.Checked, program *cel.Program, cost uint64, err error) {
	if checked, err = env.Check(text); err != nil {
		return nil, nil, 0, err
	}
	if program, err = checked.Program(); err == nil && c.withEstimate {
		cost, err = checked.EstimateCost()
	}
	return checked, program, cost, err
}

func (r *rule) name() string {
	if message := strings.TrimSpace(r.source.String("message")); message != "" {
		return message
	}
	return strings.TrimSpace(r.source.String("rule"))
}
