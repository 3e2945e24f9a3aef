package schema

import (
	"regexp"

	"google.golang.org/protobuf/proto"

	options "github.com/troupe-api/troupe/kinds/api"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Rule is a declared validation step, with names in the form of the profile.
type Rule = options.Rule

// Rules are the declared rules of a message and the Checks that package rules compiles from them.
type Rules struct {
	Validate, Update, Write, Status, Warnings, StatusWarnings []*Rule
	Checks                                                    Checks
}

// Checks are the compiled rules of a message; fields are nil without rules.
type Checks struct{ Validate, Update, Write, Status, Warnings, StatusWarnings Check }

// Checks returns the compiled rules of a message, which may be nil.
func (m *Message) Checks() Checks {
	if m == nil || m.Rules == nil {
		return Checks{}
	}
	return m.Rules.Checks
}

// A Check checks an object at path. old is its previous state, nil on create.
type Check interface {
	Run(obj, old tree.Tree, path string, faults *Faults)
}

// A CheckFunc is a function that declared rules call for a value at a path.
type CheckFunc func(v any, path string, faults *Faults)

// ObjectCheck adapts a function of objects to a CheckFunc.
func ObjectCheck(check func(obj tree.Tree, path string, faults *Faults)) CheckFunc {
	return func(v any, path string, faults *Faults) {
		obj, _ := v.(tree.Tree)
		check(obj, path, faults)
	}
}

// TextCheck adapts a function of texts to a CheckFunc.
func TextCheck(check func(s, path string, faults *Faults)) CheckFunc {
	return func(v any, path string, faults *Faults) {
		s, _ := v.(string)
		check(s, path, faults)
	}
}

// Run runs a check, which may be nil.
func Run(c Check, obj, old tree.Tree, path string, faults *Faults) {
	if c != nil {
		c.Run(obj, old, path, faults)
	}
}

// platformName matches names of the platform profile in expressions and texts.
var platformName = regexp.MustCompile(`[A-Za-z0-9.-]*platform(-[a-z]+|\.io(/[A-Za-z0-9._-]+)?)|\bPlatform\b`)

// newRules copies declared rules and translates their names to the profile.
func newRules(n *meta.Naming, declared []*options.Rule) []*Rule {
	all := make([]*Rule, len(declared))
	for i, rule := range declared {
		r := proto.CloneOf(rule)
		for _, text := range []*string{&r.If, &r.At, &r.Value, &r.Invalid, &r.Forbidden, &r.Warn, &r.Each, &r.In, r.Required, r.Path} {
			if text != nil {
				*text = platformName.ReplaceAllStringFunc(*text, n.Translate)
			}
		}
		r.Supported, r.Rules = translateAll(n, r.Supported), newRules(n, r.Rules)
		all[i] = r
	}
	return all
}
