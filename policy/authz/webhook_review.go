package authz

import (
	"encoding/json"
	"errors"
	"maps"

	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/remote"
)

const reviewKind = "SubjectAccessReview"

func encodeReview(a *Attributes, apiVersion string, beta bool) ([]byte, error) {
	spec := a.reviewSpec()
	omitEmpty(spec)
	if groups := spec["groups"]; beta && groups != nil {
		delete(spec, "groups")
		spec["group"] = groups
	}
	return json.Marshal(tree.Tree{"apiVersion": apiVersion, "kind": reviewKind, "spec": spec})
}

func omitEmpty(t tree.Tree) {
	for name, v := range t {
		if fields, ok := v.(tree.Tree); ok {
			omitEmpty(fields)
		}
		if tree.IsEmpty(v) {
			delete(t, name)
		}
	}
}

// reviewSpec returns the spec of a v1 review, which is also the variable request of
// matchConditions. It includes empty strings.
func (a *Attributes) reviewSpec() tree.Tree {
	spec := tree.Tree{"user": "", "uid": "", "groups": []any{}, "extra": tree.Tree{}}
	if a.User != nil {
		maps.Copy(spec, a.User.Tree())
		delete(spec, "username")
		spec["user"] = a.User.Name
	}
	if !a.ResourceRequest {
		spec["nonResourceAttributes"] = tree.Tree{"path": a.Path, "verb": a.Verb}
		return spec
	}
	resource := tree.Tree{
		"namespace": a.Namespace, "verb": a.Verb, "group": a.Group, "version": a.Version,
		"resource": a.Resource, "subresource": a.Subresource, "name": a.Name,
	}
	if s := a.Selectors; s != nil {
		addSelector(resource, "fieldSelector", s.Fields)
		addSelector(resource, "labelSelector", s.Labels)
	}
	spec["resourceAttributes"] = resource
	return spec
}

// addSelector adds requirements to a review. It omits Gt and Lt, because a review cannot express
// them. The decision then covers more objects than the request selects.
func addSelector(resource tree.Tree, name string, conditions []selector.Requirement) {
	var all []any
	for _, c := range conditions {
		if c.Operator != "Gt" && c.Operator != "Lt" {
			requirement := tree.Tree{"key": c.Key, "operator": c.Operator, "values": tree.ListOf(c.Values)}
			omitEmpty(requirement)
			all = append(all, requirement)
		}
	}
	if len(all) > 0 {
		resource[name] = tree.Tree{"requirements": all}
	}
}

func decodeReview(text []byte, apiVersion string) (webhookDecision, error) {
	s, err := remote.ReadReview[struct {
		Allowed bool   `json:"allowed"`
		Denied  bool   `json:"denied"`
		Reason  string `json:"reason"`
	}](text, apiVersion, reviewKind)
	a := webhookDecision{reason: s.Reason}
	switch {
	case err != nil:
		return webhookDecision{}, err
	case s.Allowed && s.Denied:
		return webhookDecision{}, errors.New("the response both allows and denies")
	case s.Allowed:
		a.decision = Allow
	case s.Denied:
		a.decision = Deny
	}
	return a, nil
}
