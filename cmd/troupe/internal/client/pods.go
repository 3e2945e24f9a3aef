package client

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podFor returns the Pod for NAME or pod/NAME. For a workload, it returns one of its Pods,
// preferably a running one.
func (s *session) podFor(arg string) (object, error) {
	pods, err := s.own("", "pods")
	if err != nil {
		return object{}, err
	}
	word, name, slashed := strings.Cut(arg, "/")
	if !slashed {
		word, name = "pods", arg
	}
	r, err := s.catalog.Find(word)
	if err != nil {
		return object{}, err
	}
	t, err := s.Get(s.ctx, r.Path(s.namespaceOf(r, false), name), nil)
	if err != nil {
		return object{}, err
	}
	if r.Name == pods.Name && r.Group == "" {
		return object{resource: r, tree: t}, nil
	}
	selector := selectorOf(t.Object("spec"))
	if selector == "" {
		return object{}, fmt.Errorf("%s/%s has no Pod selector", r.TypeName(), name)
	}
	found, err := s.list(pods, s.Namespace, url.Values{"labelSelector": {selector}})
	if err != nil {
		return object{}, err
	}
	if len(found) == 0 {
		return object{}, fmt.Errorf("%s/%s has no Pods", r.TypeName(), name)
	}
	i := max(0, slices.IndexFunc(found, func(o object) bool { return o.tree.Object("status").String("phase") == "Running" }))
	if len(found) > 1 {
		s.notef("Found %d pods, using pod/%s\n", len(found), found[i].name())
	}
	return found[i], nil
}

func selectorOf(spec tree.Tree) string {
	selector := spec.Object("selector")
	if labels := selector.Object("matchLabels"); labels != nil {
		selector = labels
	}
	if len(selector) == 0 {
		return ""
	}
	return printer.LabelsText(selector)
}

func containerNames(pod object, fields ...string) (names []string) {
	for _, field := range fields {
		for _, c := range pod.tree.Object("spec").Objects(field) {
			names = append(names, c.String("name"))
		}
	}
	return names
}

// containerOf returns the named container. The default is the container in the default-container
// annotation, or else the first container.
func (s *session) containerOf(pod object, name string) (string, error) {
	names := containerNames(pod, "containers", "initContainers", "ephemeralContainers")
	if name != "" {
		if !slices.Contains(names, name) {
			return "", fmt.Errorf("container %s is not valid for pod %s: it has %s", name, pod.name(), strings.Join(names, ", "))
		}
		return name, nil
	}
	if len(names) == 0 {
		return "", errors.New("the Pod has no containers")
	}
	if wanted := pod.tree.Annotations().String("kubectl." + s.catalog.Naming.Domains()[0] + "/default-container"); slices.Contains(names, wanted) {
		return wanted, nil
	}
	if many := pod.tree.Object("spec").Objects("containers"); len(many) > 1 {
		s.notef("Defaulted container %q out of: %s\n", names[0], strings.Join(names, ", "))
	}
	return names[0], nil
}
