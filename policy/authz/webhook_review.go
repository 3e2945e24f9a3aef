package authz

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

type (
	subjectAccessReview struct {
		APIVersion string                  `json:"apiVersion"`
		Kind       string                  `json:"kind"`
		Spec       subjectAccessReviewSpec `json:"spec"`
	}
	subjectAccessReviewSpec struct {
		Resource *resourceAttributes    `json:"resourceAttributes,omitempty"`
		Path     *nonResourceAttributes `json:"nonResourceAttributes,omitempty"`
		User     string                 `json:"user,omitempty"`
		Groups   []string               `json:"groups,omitempty"` // in v1
		Group    []string               `json:"group,omitempty"`  // in v1beta1
		Extra    map[string][]string    `json:"extra,omitempty"`
		UID      string                 `json:"uid,omitempty"`
	}
	resourceAttributes struct {
		Namespace   string              `json:"namespace,omitempty"`
		Verb        string              `json:"verb,omitempty"`
		Group       string              `json:"group,omitempty"`
		Version     string              `json:"version,omitempty"`
		Resource    string              `json:"resource,omitempty"`
		Subresource string              `json:"subresource,omitempty"`
		Name        string              `json:"name,omitempty"`
		Fields      *selectorAttributes `json:"fieldSelector,omitempty"`
		Labels      *selectorAttributes `json:"labelSelector,omitempty"`
	}
	nonResourceAttributes struct {
		Path string `json:"path,omitempty"`
		Verb string `json:"verb,omitempty"`
	}
	selectorAttributes struct {
		Requirements []selectorRequirement `json:"requirements"`
	}
	selectorRequirement struct {
		Key      string   `json:"key"`
		Operator string   `json:"operator"`
		Values   []string `json:"values,omitempty"`
	}
)

const reviewKind = "SubjectAccessReview"

func encodeReview(a *Attributes, apiVersion string, beta bool) ([]byte, error) {
	q := subjectAccessReview{APIVersion: apiVersion, Kind: reviewKind}
	if u := a.User; u != nil {
		q.Spec.User, q.Spec.UID, q.Spec.Extra = u.Name, u.UID, u.Extra
		if beta {
			q.Spec.Group = u.Groups
		} else {
			q.Spec.Groups = u.Groups
		}
	}
	if !a.ResourceRequest {
		q.Spec.Path = &nonResourceAttributes{a.Path, a.Verb}
		return json.Marshal(q)
	}
	q.Spec.Resource = &resourceAttributes{
		Namespace: a.Namespace, Verb: a.Verb, Group: a.Group, Version: a.Version,
		Resource: a.Resource, Subresource: a.Subresource, Name: a.Name,
	}
	if s := a.Selectors; s != nil {
		q.Spec.Resource.Fields, q.Spec.Resource.Labels = newSelectorAttributes(s.Fields), newSelectorAttributes(s.Labels)
	}
	return json.Marshal(q)
}

// conditionRequest returns the variable request of matchConditions: the spec of a v1 review, in
// which strings are never absent.
func (a *Attributes) conditionRequest() (tree.Tree, error) {
	body, err := encodeReview(a, "", false)
	if err != nil {
		return nil, err
	}
	var review tree.Tree
	err = json.Unmarshal(body, &review)
	spec := tree.Tree{"user": "", "uid": "", "groups": []any{}, "extra": tree.Tree{}}
	maps.Copy(spec, review.Object("spec"))
	if resource := spec.Object("resourceAttributes"); resource != nil {
		for _, name := range []string{"namespace", "verb", "group", "version", "resource", "subresource", "name"} {
			if !resource.Has(name) {
				resource[name] = ""
			}
		}
	}
	return spec, err
}

// newSelectorAttributes encodes requirements for a review. It omits Gt and Lt, because a review
// cannot express them. The service then decides about more objects than the request selects.
func newSelectorAttributes(conditions []selector.Requirement) *selectorAttributes {
	q := &selectorAttributes{}
	for _, c := range conditions {
		if c.Operator != "Gt" && c.Operator != "Lt" {
			q.Requirements = append(q.Requirements, selectorRequirement(c))
		}
	}
	if q.Requirements == nil {
		return nil
	}
	return q
}

func decodeReview(text []byte, apiVersion string) (webhookDecision, error) {
	var review struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Status     struct {
			Allowed bool   `json:"allowed"`
			Denied  bool   `json:"denied"`
			Reason  string `json:"reason"`
		} `json:"status"`
	}
	if err := json.Unmarshal(text, &review); err != nil {
		return webhookDecision{}, errors.New("the response is not a valid JSON object")
	}
	if review.APIVersion != apiVersion || review.Kind != reviewKind {
		return webhookDecision{}, fmt.Errorf("the response has apiVersion %q, kind %q", review.APIVersion, review.Kind)
	}
	a := webhookDecision{reason: review.Status.Reason}
	switch s := review.Status; {
	case s.Allowed && s.Denied:
		return webhookDecision{}, errors.New("the response both allows and denies")
	case s.Allowed:
		a.decision = Allow
	case s.Denied:
		a.decision = Deny
	}
	return a, nil
}
