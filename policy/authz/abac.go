package authz

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

// ABAC authorizes requests by the lines of a policy file. It has no opinion on requests that match
// no line.
type ABAC struct{ lines []policyLine }

// A policyLine grants rights to a user, a group, or a user in a group. "*" matches any value. As a
// user or group, it matches all authenticated users.
type policyLine struct {
	User, Group                                    string
	Readonly                                       bool
	APIGroup, Resource, Namespace, NonResourcePath string
}

const maxPolicyLine = 1 << 20

// ParseABAC parses a policy file with one ABACPolicy of kinds/api/apiserver per line. It ignores
// empty lines and lines that start with "#". The error lists all invalid lines by number.
func ParseABAC(r io.Reader, kinds *catalog.Catalog) (*ABAC, error) {
	p := &ABAC{}
	var faults []error
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxPolicyLine)
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		t, err := kinds.DecodeConfig("ABACPolicy", text)
		if !json.Valid(text) {
			err = errors.New("must be one JSON object")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("line %d: %w", n, err))
		}
		p.lines = append(p.lines, newPolicyLine(t))
	}
	if err := lines.Err(); err != nil {
		faults = append(faults, fmt.Errorf("line %d: %w", n+1, err))
	}
	return p, errors.Join(faults...)
}

// newPolicyLine converts a valid ABACPolicy. In the older format, omitted fields match any value.
func newPolicyLine(t tree.Tree) policyLine {
	spec, old := t.Object("spec"), !t.Has("spec")
	if old {
		spec = t
	}
	l := policyLine{
		spec.String("user"), spec.String("group"), spec.Bool("readonly"),
		spec.String("apiGroup"), spec.String("resource"), spec.String("namespace"), spec.String("nonResourcePath"),
	}
	if old {
		if l.Resource == "" && l.Namespace == "" {
			l.NonResourcePath = "*"
		}
		l.APIGroup, l.Resource, l.Namespace = "*", cmp.Or(l.Resource, "*"), cmp.Or(l.Namespace, "*")
	}
	if l.User == "*" || l.Group == "*" || l.User == "" && l.Group == "" {
		l.User, l.Group = "", authn.GroupAuthenticated
	}
	return l
}

func (p *ABAC) Authorize(a Attributes) (Decision, string) {
	for i := range p.lines {
		if p.lines[i].allows(&a) {
			return Allow, ""
		}
	}
	return NoOpinion, "No policy matched."
}

func (l *policyLine) allows(a *Attributes) bool {
	if !l.matchesUser(a.User) || l.Readonly && !a.ReadOnly() {
		return false
	}
	if a.ResourceRequest {
		return matchesWildcard(l.Namespace, a.Namespace) && matchesWildcard(l.Resource, a.Resource) && matchesWildcard(l.APIGroup, a.Group)
	}
	return l.NonResourcePath != "" && CoversPath(l.NonResourcePath, a.Path)
}

func (l *policyLine) matchesUser(user *authn.User) bool {
	return user != nil && (l.User == "" || l.User == user.Name) && (l.Group == "" || user.InGroup(l.Group))
}

func matchesWildcard(pattern, value string) bool { return pattern == "*" || pattern == value }

// RulesFor returns the rules of all lines that match the user and namespace.
func (p *ABAC) RulesFor(user *authn.User, namespace string) RuleSet {
	var all RuleSet
	for i := range p.lines {
		l := &p.lines[i]
		if !l.matchesUser(user) {
			continue
		}
		verbs := []string{"*"}
		if l.Readonly {
			verbs = []string{"get", "list", "watch"}
		}
		if matchesWildcard(l.Namespace, namespace) && l.Resource != "" {
			all.ResourceRules = append(all.ResourceRules, ResourceRule{Verbs: verbs, Groups: []string{l.APIGroup}, Resources: []string{l.Resource}})
		}
		if l.NonResourcePath != "" {
			all.NonResourceRules = append(all.NonResourceRules, NonResourceRule{Verbs: verbs, Paths: []string{l.NonResourcePath}})
		}
	}
	return all
}
