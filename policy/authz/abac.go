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

// ABAC allows what the lines of a policy file allow. It denies nothing.
type ABAC struct{ lines []policyLine }

// A policyLine allows one user, one group, or both at once, something. "*" stands for all; as a
// user or a group it stands for everybody with a credential.
type policyLine struct {
	User            string `json:"user"`
	Group           string `json:"group"`
	Readonly        bool   `json:"readonly"`
	APIGroup        string `json:"apiGroup"`
	Resource        string `json:"resource"`
	Namespace       string `json:"namespace"`
	NonResourcePath string `json:"nonResourcePath"`
}

// maxPolicyLine bounds a line of a policy file, in bytes.
const maxPolicyLine = 1 << 20

// ParseABAC reads a policy file: an object of JSON on each line, kind Policy of version v1beta1,
// save for empty lines and those that begin with "#". A line without a version has the fields of
// the spec at its top. Every faulty line is reported, by its number.
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
		return line, errors.New("spec names neither a user nor a group")
	}
	if line.User == "*" || line.Group == "*" {
		line.User, line.Group = "", authn.GroupAuthenticated
	}
	return line, nil
}

// decodeLine reads the one object of a line, which has no unknown fields.
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

// parseUnversionedLine reads a line of the format without versions. Fields that it leaves out match
// everything.
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
		return line, errors.New("the line names nothing, which would allow everything to everybody")
	}
	if policy.Resource == "" && policy.Namespace == "" {
		line.NonResourcePath = "*"
	}
	if line.User == "*" || line.Group == "*" || line.User == "" && line.Group == "" {
		line.User, line.Group = "", authn.GroupAuthenticated
	}
	return line, nil
}

// Authorize implements Authorizer.
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

// matchesUser tells whether the line is about a user.
func (l *policyLine) matchesUser(user *authn.User) bool {
	return user != nil && (l.User == "" || l.User == user.Name) && (l.Group == "" || user.InGroup(l.Group))
}

func matchesWildcard(pattern, value string) bool { return pattern == "*" || pattern == value }

// RulesFor are the lines about the user.
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
