package flowcontrol

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/flowcontrol"
	"github.com/troupe-api/troupe/policy/authz"
)

// A classifier finds the flow schema of a request. It never changes.
//
// The rules of all schemas stand in one order, and each subject has the list of its rules. A request is compared with the
// rules of its own subjects only, so what is configured for others costs it nothing.
type classifier struct {
	rules                   []*orderedRule
	users, groups, accounts map[string][]int32 // indexes of rules, ascending
	everybody               []int32
	fallback                *bound
}

// An orderedRule is a rule and the schema that it belongs to.
type orderedRule struct {
	*rule
	schema *bound
}

// A bound schema is one whose level is there.
type bound struct {
	*schema
	level *level
	most  int // seats of one request
	stats *stats
}

// newClassifier orders the schemas; ties go to the name that comes first.
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

// add enters a rule for each of its subjects. Rules come in their order, so every list is ascending, on which first
// relies.
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

// classify is the first schema that matches, or catch-all. The index of the best rule so far goes from list to list,
// so that each list is read only up to it.
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

// first is the first of some rules that matches, if it comes before the best so far.
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

// matches tells whether what is asked for matches, whoever asks.
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
