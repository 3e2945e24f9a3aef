package schema

import (
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	options "github.com/troupe-api/troupe/kinds/api"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Rule is a declared validation rule, with names translated to the naming profile.
type Rule = options.Rule

// Rules contains the declared rules of a message, and the Checks that package rules compiles from
// them.
type Rules struct {
	Validate, Update, Write, Status, Warnings, StatusWarnings []*Rule
	Checks                                                    Checks
}

// Checks contains the compiled rules of a message. A field is nil if it has no rules.
type Checks struct{ Validate, Update, Write, Status, Warnings, StatusWarnings Check }

// Checks returns the compiled rules. It accepts a nil message.
func (m *Message) Checks() Checks {
	if m == nil || m.Rules == nil {
		return Checks{}
	}
	return m.Rules.Checks
}

// A Check validates the object at path. old is the previous object, or nil on create.
type Check interface {
	Run(obj, old tree.Tree, path string, faults *Faults)
}

// A CheckFunc is a validation function that declared rules can call for the value at path.
type CheckFunc func(v any, path string, faults *Faults)

// ObjectCheck adapts an object check to a CheckFunc. A value of another type is checked as a nil
// object.
func ObjectCheck(check func(obj tree.Tree, path string, faults *Faults)) CheckFunc {
	return func(v any, path string, faults *Faults) {
		obj, _ := v.(tree.Tree)
		check(obj, path, faults)
	}
}

// TextCheck adapts a string check to a CheckFunc. A value of another type is checked as "".
func TextCheck(check func(s, path string, faults *Faults)) CheckFunc {
	return func(v any, path string, faults *Faults) {
		s, _ := v.(string)
		check(s, path, faults)
	}
}

// Run runs c unless c is nil.
func Run(c Check, obj, old tree.Tree, path string, faults *Faults) {
	if c != nil {
		c.Run(obj, old, path, faults)
	}
}

var platformName = regexp.MustCompile(`[A-Za-z0-9.-]*platform(-[a-z]+|\.io(/[A-Za-z0-9._-]+)?)|\bPlatform\b`)

func newRules(n *meta.Naming, declared []*options.Rule) []*Rule {
	all := make([]*Rule, len(declared))
	for i, rule := range declared {
		if !mentionsPlatform(rule) {
			all[i] = rule
			continue
		}
		r := proto.CloneOf(rule)
		for _, text := range texts(r) {
			if text != nil {
				*text = platformName.ReplaceAllStringFunc(*text, n.Translate)
			}
		}
		r.Supported, r.Rules = translateAll(n, r.Supported), newRules(n, r.Rules)
		all[i] = r
	}
	return all
}

func texts(r *options.Rule) [10]*string {
	return [10]*string{&r.If, &r.At, &r.Value, &r.Invalid, r.Forbidden, &r.Warn, &r.Each, &r.In, r.Required, r.Path}
}

// mentionsPlatform reports whether a rule may contain names to translate. Few rules do, and copying
// and searching all rules would slow down startup.
func mentionsPlatform(r *options.Rule) bool {
	has := func(text string) bool { return strings.Contains(text, "latform") } // or Platform
	for _, text := range texts(r) {
		if text != nil && has(*text) {
			return true
		}
	}
	return slices.ContainsFunc(r.Supported, has) || slices.ContainsFunc(r.Rules, mentionsPlatform)
}
