package expressions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Checked is a kind that a policy matches, and the type of its objects.
type Checked struct {
	Kind meta.GroupVersionKind
	Type *cel.Type
}

// A Warning describes the type errors of one expression, for all kinds that the policy matches.
type Warning struct{ FieldRef, Text string }

// CheckTypes checks the validations and messages of a validating policy against the types of the
// objects that the policy matches. params is the type of the policy's parameters, or nil if
// unknown. Warnings are stored in the status, so their size is limited to maxWarningBytes.
// CheckTypes stops when ctx is done, because many expressions and kinds take time. It returns no
// other error.
func (c *Compiler) CheckTypes(ctx context.Context, spec tree.Tree, kinds []Checked, params *cel.Type) ([]Warning, error) {
	var checkers []typeChecker
	for _, k := range kinds {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		checkers = append(checkers, newTypeChecker(c.naming, k, params, spec.Objects("variables")))
	}
	var warnings []Warning
	size := 0
	for i, v := range spec.Objects("validations") {
		for _, name := range []string{"expression", "messageExpression"} {
			text := v.String(name)
			if text == "" {
				continue
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			var found []string
			for _, checker := range checkers {
				if fault := checker.check(text); fault != "" {
					found = append(found, fault)
				}
			}
			if len(found) == 0 {
				continue
			}
			w := Warning{tree.IndexPath("spec.validations", i) + "." + name, strings.Join(found, "\n")}
			if size += len(w.FieldRef) + len(w.Text); size > maxWarningBytes {
				return warnings, nil
			}
			warnings = append(warnings, w)
		}
	}
	return warnings, nil
}

const maxWarningBytes = 256 << 10

// A typeChecker checks expressions for objects of one kind. Its results are only warnings in a
// policy's status, because admission evaluates objects dynamically.
type typeChecker struct {
	kind         meta.GroupVersionKind
	environments *environments
}

func newTypeChecker(naming *meta.Naming, k Checked, params *cel.Type, variables []tree.Tree) typeChecker {
	c := typeChecker{k.Kind, newEnvironments(naming, Types{Object: k.Type, Params: params}, params != nil, true)}
	for _, v := range variables {
		of := cel.Dyn
		if env, err := c.environments.get(scope{authorizer: true}); err == nil {
			if checked, err := env.Check(v.String("expression")); err == nil {
				of = checked.Result()
			}
		}
		c.environments.add(v.String("name"), of)
	}
	return c
}

func (c *typeChecker) check(text string) string {
	env, err := c.environments.get(scope{authorizer: true})
	if err != nil {
		return fmt.Sprintf("%s: type checking error: %v\n", KindText(c.kind), err)
	}
	if _, err = env.Check(text); err == nil {
		return ""
	}
	issues := err.Error()
	if fault := (*cel.CompileError)(nil); errors.As(err, &fault) {
		issues = fault.Issues
	}
	return fmt.Sprintf("%s: %s\n", KindText(c.kind), issues)
}

// KindText formats a kind as kube-apiserver's errors do: "apps/v1, Kind=Deployment".
func KindText(k meta.GroupVersionKind) string {
	return fmt.Sprintf("%s/%s, Kind=%s", k.Group, k.Version, k.Kind)
}
