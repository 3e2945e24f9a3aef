package admissionpolicy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A paramRef is a binding's parsed paramRef. The zero value means that the binding has none.
type paramRef struct {
	given           bool
	name, namespace string
	selects         bool // has a label selector
	labels          selector.Labels
	denies          bool // parameterNotFoundAction is Deny
}

func parseParamRef(t tree.Tree) (paramRef, error) {
	if t == nil {
		return paramRef{}, nil
	}
	r := paramRef{given: true, name: t.String("name"), namespace: t.String("namespace"), denies: t.String("parameterNotFoundAction") == "Deny"}
	by, ok := t["selector"].(tree.Tree)
	if ok {
		if r.labels, ok = selector.FromLabelSelector(by); !ok {
			return r, errors.New("a label selector has an unknown operator")
		}
		r.selects = true
	}
	return r, nil
}

// noParams makes a policy without params run exactly once.
var noParams = []tree.Tree{nil}

// collect returns the params for a request. namespace is "" for a cluster-scoped object. from is
// nil if the policy has no paramKind. A paramRef without a namespace uses the request's namespace.
// If no params exist and parameterNotFoundAction is Deny, collect returns an error.
func (r *paramRef) collect(from *paramKind, namespace string) ([]tree.Tree, error) {
	if from == nil || !r.given {
		return noParams, nil
	}
	switch {
	case !from.namespaced && r.namespace != "":
		return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	case !from.namespaced:
		namespace = ""
	case r.namespace != "":
		namespace = r.namespace
	case namespace == "":
		return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	}
	var all []tree.Tree
	switch {
	case r.name != "" && r.selects:
		return nil, errors.New("paramRef.name and paramRef.selector are mutually exclusive")
	case r.name != "":
		if p, ok := from.objects.Get(namespace, r.name); ok {
			all = append(all, p.tree)
		}
	case r.selects:
		from.objects.Each(namespace, func(_ string, p param) bool {
			if r.labels.Matches(p.labels) {
				all = append(all, p.tree)
			}
			return true
		})
	default:
		return nil, errors.New("one of name or selector must be provided")
	}
	if len(all) == 0 && r.denies {
		return nil, errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	return all, nil
}

func splitAPIVersion(text string) (group, version string, err error) {
	switch strings.Count(text, "/") {
	case 0:
		return "", text, nil
	case 1:
		group, version, _ = strings.Cut(text, "/")
		return group, version, nil
	}
	return "", "", fmt.Errorf("failed to parse paramKind APIVersion: unexpected GroupVersion string: %v", text)
}

// errUnknownKind returns the same error message as Kubernetes, including its group format.
func errUnknownKind(k meta.GroupVersionKind) error {
	group := k.Group
	if group != "" {
		group += "/"
	} else {
		group = "/"
	}
	return fmt.Errorf("failed to find resource referenced by paramKind: '%s%s, Kind=%s'", group, k.Version, k.Kind)
}
