package flowcontrol

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/api/flowcontrol"
	"github.com/troupe-api/troupe/policy/authz"
)

// A classifier finds the FlowSchema of a request. It is immutable.
//
// Rules are indexed by user and group, so that rules for other users add no cost.
type classifier struct {
	rules                   []*orderedRule
	users, groups, accounts map[string][]int32 // ascending indexes into rules
	everybody               []int32
	fallback                *bound
}

type orderedRule struct {
	*rule
	schema *bound
}

type bound struct {
	*schema
	level *level
	most  int // maximum seats per request
	stats *stats
}

func newClassifier(schemas []*bound) *classifier {
	c := &classifier{users: map[string][]int32{}, groups: map[string][]int32{}, accounts: map[string][]int32{}}
	slices.SortFunc(schemas, func(a, b *bound) int {
		return cmp.Or(cmp.Compare(a.precedence, b.precedence), strings.Compare(a.name, b.name))
	})
	for _, s := range schemas {
		if s.name == flowcontrol.CatchAll {
			c.fallback = s
		}
		for i := range s.rules {
			c.add(&orderedRule{&s.rules[i], s})
		}
	}
	return c
}

// add indexes a rule by its subjects. Rules must be added in order of precedence, so that the
// indexes of each subject ascend.
func (c *classifier) add(r *orderedRule) {
	at := int32(len(c.rules))
	c.rules = append(c.rules, r)
	for _, s := range r.subjects {
		switch s.kind {
		case subjectEverybody:
			c.everybody = append(c.everybody, at)
		case subjectUser:
			c.users[s.name] = append(c.users[s.name], at)
		case subjectGroup:
			c.groups[s.name] = append(c.groups[s.name], at)
		case subjectAccounts:
			c.accounts[s.name] = append(c.accounts[s.name], at)
		}
	}
}

// classify returns the first schema with a matching rule, or catch-all. It looks up the rules for
// the user and for each group, and skips rules that follow the best match so far.
func (c *classifier) classify(a *authz.Attributes) *bound {
	verb, best := verbOf(a.Verb), int32(math.MaxInt32)
	best = c.first(c.everybody, a, verb, best)
	if a.User != nil {
		best = c.first(c.users[a.User.Name], a, verb, best)
		for _, group := range a.User.Groups {
			best = c.first(c.groups[group], a, verb, best)
		}
		if rest, ok := strings.CutPrefix(a.User.Name, accountPrefix); ok {
			namespace, _, _ := strings.Cut(rest, ":")
			best = c.first(c.accounts[namespace], a, verb, best)
		}
	}
	if int(best) < len(c.rules) {
		return c.rules[best].schema
	}
	return c.fallback
}

// first returns the index of the first matching rule. If no rule before best matches, it returns
// best.
func (c *classifier) first(rules []int32, a *authz.Attributes, verb verbs, best int32) int32 {
	for _, i := range rules {
		if i >= best {
			break
		}
		if c.rules[i].matches(a, verb) {
			return i
		}
	}
	return best
}

func (r *rule) matches(a *authz.Attributes, verb verbs) bool {
	if a.ResourceRequest {
		for i := range r.resources {
			if r.resources[i].matches(a, verb) {
				return true
			}
		}
		return false
	}
	for i := range r.paths {
		if r.paths[i].matches(a, verb) {
			return true
		}
	}
	return false
}
