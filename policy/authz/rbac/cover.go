package rbac

import (
	"fmt"
	"slices"
	"strings"
)

// breakDown is the rule as rules that each allow one verb on one resource, or path, and, with
// names, on one object.
//
// Example: verbs get,list on pods,services make four rules. What is broken down is compared piece by piece, since a
// user may hold the pieces by different roles.
func (r rule) breakDown() []rule {
	var single []rule
	names := [][]string{nil}
	if len(r.names) > 0 {
		names = singletons(r.names)
	}
	for _, group := range singletons(r.groups) {
		for _, resource := range singletons(r.resources) {
			for _, verb := range singletons(r.verbs) {
				for _, name := range names {
					single = append(single, rule{verbs: verb, groups: group, resources: resource, names: name})
				}
			}
		}
	}
	for _, path := range singletons(r.paths) {
		for _, verb := range singletons(r.verbs) {
			single = append(single, rule{verbs: verb, paths: path})
		}
	}
	return single
}

// singletons makes a list of each element of a list. They share its memory.
//
// The capacity ends with the element, so that an append to one of them cannot write into the next.
func singletons(list []string) [][]string {
	each := make([][]string, len(list))
	for i := range list {
		each[i] = list[i : i+1 : i+1]
	}
	return each
}

// maxBreakdown bounds the work that the rules of one role can ask for. What is beyond it is held
// only by those who hold a rule that covers a rule as a whole.
const maxBreakdown = 10_000

// breakDownSize is how many rules breakDown makes. Beyond maxBreakdown it is any number beyond it, for
// the product of four long lists is larger than what an int holds.
func (r rule) breakDownSize() int {
	size := func(list []string) int { return min(len(list), maxBreakdown+1) }
	return size(r.verbs) * (size(r.groups)*size(r.resources)*max(1, size(r.names)) + size(r.paths))
}

// uncovered is what wanted allows beyond held, broken down.
//
// A rule that would make too many pieces counts as lacking as a whole. That refuses more than it must and never less,
// and it bounds what a request with ten thousand verbs can cost.
func uncovered(held, wanted []rule) []rule {
	var lacks []rule
	left := maxBreakdown
	for _, w := range wanted {
		if slices.ContainsFunc(held, func(h rule) bool { return h.covers(w) }) {
			continue
		}
		if w.breakDownSize() > left {
			lacks = append(lacks, w)
			continue
		}
		left -= w.breakDownSize()
		for _, single := range w.breakDown() {
			if !slices.ContainsFunc(held, func(h rule) bool { return h.covers(single) }) {
				lacks = append(lacks, single)
			}
		}
	}
	return lacks
}

// covers tells whether a rule allows all that w does.
//
// All of w must be within this one rule. A rule with names covers only a
// rule whose names are among them, for one without names allows all.
func (r rule) covers(w rule) bool {
	if !containsAll(r.verbs, w.verbs, wildcard) || !containsAll(r.groups, w.groups, wildcard) {
		return false
	}
	for _, resource := range w.resources {
		if !r.coversResource(resource) {
			return false
		}
	}
	for _, path := range w.paths {
		if !r.allowsPath(path) {
			return false
		}
	}
	return len(r.names) == 0 || len(w.names) > 0 && containsAll(r.names, w.names, "")
}

// coversResource compares a resource as rules name it.
//
// "pods/*" is no pattern: only "*" and "*/sub" are. The same holds in allowsResource, and the two must not differ, or
// a user could hand out what they cannot use, or the other way round.
func (r rule) coversResource(resource string) bool {
	_, sub, ok := strings.Cut(resource, "/")
	for _, s := range r.resources {
		if s == wildcard || s == resource || ok && s == wildcard+"/"+sub {
			return true
		}
	}
	return false
}

// containsAll tells whether a list holds all values. all, if not "", stands for every one.
func containsAll(list, values []string, all string) bool {
	if all != "" && slices.Contains(list, all) {
		return true
	}
	for _, v := range values {
		if !slices.Contains(list, v) {
			return false
		}
	}
	return true
}

// compactRules puts the verbs of broken-down rules together that are about the same.
//
// It is for people who read the refusal: one line for pods with get,list,watch instead of three.
func compactRules(single []rule) []rule {
	var short []rule
	type about struct {
		group, resource string
		named           bool
		name            string
	}
	at := map[about]int{}
	for _, r := range single {
		if len(r.groups) != 1 || len(r.resources) != 1 || len(r.names) > 1 {
			short = append(short, r)
			continue
		}
		key := about{r.groups[0], r.resources[0], len(r.names) > 0, strings.Join(r.names, "")}
		i, known := at[key]
		if !known {
			at[key] = len(short)
			short = append(short, r)
		} else if verb := r.verbs[0]; !slices.Contains(short[i].verbs, verb) {
			short[i].verbs = append(short[i].verbs, verb)
		}
	}
	return short
}

// text is the rule in the words that users know, as in {APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}.
func (r rule) text() string {
	var parts []string
	for _, f := range []struct {
		name   string
		values []string
	}{{"APIGroups", r.groups}, {"Resources", r.resources}, {"NonResourceURLs", r.paths}, {"ResourceNames", r.names}, {"Verbs", r.verbs}} {
		if len(f.values) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", f.name, f.values))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// describeRules is the text of broken-down rules, one a line.
//
// The lines are sorted, for tests and people compare refusals.
func describeRules(single []rule) string {
	var lines []string
	for _, r := range compactRules(single) {
		lines = append(lines, r.text())
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}
