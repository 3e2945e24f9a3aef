package plugins

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// PodNodeSelectorConfig is the configuration of PodNodeSelector. The whitelist is for the operator, while
// the annotation on a namespace is for whoever may write that.
type PodNodeSelectorConfig struct {
	// Default is the node selector of namespaces that have none.
	Default map[string]string
	// Whitelist are, by namespace, the labels that the node selectors of its Pods may have; a namespace that has
	// none, or is not named, allows all.
	Whitelist map[string]map[string]string
}

// ParsePodNodeSelectorConfig reads the configuration, of the form
//
//	podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: "key=value", <namespace>: "key=value,key=value"}
func ParsePodNodeSelectorConfig(t tree.Tree) (PodNodeSelectorConfig, error) {
	c := PodNodeSelectorConfig{Whitelist: map[string]map[string]string{}}
	selectors := t.Object("podNodeSelectorPluginConfig")
	for _, name := range selectors.SortedKeys() {
		selector, err := parseNodeSelector(selectors.String(name))
		if err != nil {
			return c, fmt.Errorf("podNodeSelectorPluginConfig.%s: %w", name, err)
		}
		if name == "clusterDefaultNodeSelector" {
			c.Default = selector
		} else {
			c.Whitelist[name] = selector
		}
	}
	return c, nil
}

// PodNodeSelector adds to the node selector of every new Pod that of its namespace. It keeps the Pods of a
// tenant on the nodes of the tenant.
func PodNodeSelector(config PodNodeSelectorConfig, placements *NamespacePlacements) admission.Registration {
	p := nodeSelectorPlugin{config: config, placements: placements}
	return admission.Registration{
		Name: "PodNodeSelector", Resources: []string{"/pods"}, Caches: []policy.Follower{placements.cache},
		Plugin: request.Plugin{Operations: request.OnCreate, Mutator: p, Validator: p},
	}
}

// nodeSelectorPlugin shares the placements with PodTolerationRestriction, which reads other annotations of a namespace.
type nodeSelectorPlugin struct {
	request.HandlesAll
	config     PodNodeSelectorConfig
	placements *NamespacePlacements
}

// ofNamespace is the node selector of the Pod's namespace. It refuses a Pod whose own is another. A
// conflict is refused rather than overridden: the Pod's author would not expect to run elsewhere.
func (p nodeSelectorPlugin) ofNamespace(a *request.Attributes) (map[string]string, error) {
	placement := p.placements.of(a.Key.Namespace)
	if placement.nodeSelectorErr != nil {
		return nil, a.Forbidden("the node selector of namespace " + a.Key.Namespace + " cannot be read: " + placement.nodeSelectorErr.Error())
	}
	selector := placement.nodeSelector
	if selector == nil {
		selector = p.config.Default
	}
	own := a.New.Object("spec", "nodeSelector")
	for key, value := range selector {
		if given, ok := own[key].(string); ok && given != value {
			return nil, a.Forbidden("pod node label selector conflicts with its namespace node label selector")
		}
	}
	return selector, nil
}

// Admit implements request.Mutator.
func (p nodeSelectorPlugin) Admit(a *request.Attributes) error {
	selector, err := p.ofNamespace(a)
	if err != nil {
		return err
	}
	for key, value := range selector {
		a.New.EnsureObject("spec", "nodeSelector")[key] = value
	}
	return p.checkWhitelist(a)
}

// Validate implements request.Validator. A later plugin may have changed the selector.
func (p nodeSelectorPlugin) Validate(a *request.Attributes) error {
	if _, err := p.ofNamespace(a); err != nil {
		return err
	}
	return p.checkWhitelist(a)
}

// checkWhitelist looks at the labels of both together, so that not even a namespace can leave the
// whitelist.
func (p nodeSelectorPlugin) checkWhitelist(a *request.Attributes) error {
	whitelist := p.config.Whitelist[a.Key.Namespace]
	if len(whitelist) == 0 {
		return nil
	}
	own := a.New.Object("spec", "nodeSelector")
	for key := range own {
		if allowed, ok := whitelist[key]; !ok || allowed != own.String(key) {
			return a.Forbidden("pod node label selector labels conflict with its namespace whitelist")
		}
	}
	return nil
}
