package authz

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

// ABAC authorizes requests by the lines of a policy file. It has no opinion on requests that match
// no line.
type ABAC struct{ lines []policyLine }

// A policyLine grants rights to a user, a group, or a user in a group. "*" matches any value. As a
// user or group, it matches all authenticated users.
type policyLine struct {
	User            string `json:"user"`
	Group           string `json:"group"`
	Readonly        bool   `json:"readonly"`
	APIGroup        string `json:"apiGroup"`
	Resource        string `json:"resource"`
	Namespace       string `json:"namespace"`
	NonResourcePath string `json:"nonResourcePath"`
}

// maxPolicyLine is the maximum length of a line in bytes.
const maxPolicyLine = 1 << 20

// ParseABAC parses a policy file with one JSON object of kind Policy, version v1beta1, per line. It
// ignores empty lines and lines that start with "#". In the older format without an apiVersion, the
// fields of spec are at the top level. The error lists all invalid lines by number.
func ParseABAC(r io.Reader, naming *meta.Naming) (*ABAC, error) {
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
		line, err := parsePolicyLine(text, naming.Translate("abac.authorization.platform.io/v1beta1"))
		if err != nil {
			faults = append(faults, fmt.Errorf("line %d: %w", n, err))
		}
		p.lines = append(p.lines, line)
	}
	if err := lines.Err(); err != nil {
		faults = append(faults, fmt.Errorf("line %d: %w", n+1, err))
	}
	return p, errors.Join(faults...)
}

func parsePolicyLine(text []byte, version string) (policyLine, error) {
	var policy struct {
		APIVersion string     `json:"apiVersion"`
		Kind       string     `json:"kind"`
		Spec       policyLine `json:"spec"`
	}
	var fields map[string]json.RawMessage
	if err := decodeLine(text, &fields); err != nil {
		return policyLine{}, err
	}
	if fields["apiVersion"] == nil && fields["spec"] == nil {
		return parseUnversionedLine(text)
	}
	if err := decodeLine(text, &policy); err != nil {
		return policyLine{}, err
	}
	if policy.APIVersion != version || policy.Kind != "Policy" {
		return policyLine{}, fmt.Errorf("apiVersion %q, kind %q: must be %q and \"Policy\"", policy.APIVersion, policy.Kind, version)
	}
	line := policy.Spec
	if line.User == "" && line.Group == "" {
		return line, errors.New("spec must have a user or a group")
	}
	if line.User == "*" || line.Group == "*" {
		line.User, line.Group = "", authn.GroupAuthenticated
	}
	return line, nil
}

func decodeLine(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("more than one object on the line")
	}
	return nil
}

// parseUnversionedLine parses a line without a version. Omitted fields match any value.
func parseUnversionedLine(text []byte) (policyLine, error) {
	var policy struct {
		Kind      string `json:"kind"`
		User      string `json:"user"`
		Group     string `json:"group"`
		Readonly  bool   `json:"readonly"`
		Resource  string `json:"resource"`
		Namespace string `json:"namespace"`
	}
	if err := decodeLine(text, &policy); err != nil {
		return policyLine{}, err
	}
	line := policyLine{
		User: policy.User, Group: policy.Group, Readonly: policy.Readonly, APIGroup: "*",
		Resource: cmp.Or(policy.Resource, "*"), Namespace: cmp.Or(policy.Namespace, "*"),
	}
	if line == (policyLine{APIGroup: "*", Resource: "*", Namespace: "*"}) {
		return line, errors.New("the line has no attributes and would allow everything to all users")
	}
	if policy.Resource == "" && policy.Namespace == "" {
		line.NonResourcePath = "*"
	}
	if line.User == "*" || line.Group == "*" || line.User == "" && line.Group == "" {
		line.User, line.Group = "", authn.GroupAuthenticated
	}
	return line, nil
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
