package plugins

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// PodNodeSelectorConfig configures PodNodeSelector.
type PodNodeSelectorConfig struct {
	// Default is the node selector for namespaces without the annotation.
	Default map[string]string
	// Whitelist maps namespaces to the labels allowed in their Pods' node selectors. A missing or
	// empty entry allows all labels.
	Whitelist map[string]map[string]string
}

// ParsePodNodeSelectorConfig parses a configuration of the form
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

// PodNodeSelector returns the plugin that merges a namespace's node selector into new Pods. It can
// keep a tenant's Pods on the tenant's nodes.
func PodNodeSelector(config PodNodeSelectorConfig, placements *NamespacePlacements) admission.Registration {
	return admission.Register("PodNodeSelector", nodeSelectorPlugin{config: config, placements: placements}, placements.cache)
}

type nodeSelectorPlugin struct {
	request.HandlesAll
	config     PodNodeSelectorConfig
	placements *NamespacePlacements
}

// ofNamespace returns the node selector for the Pod's namespace. It rejects a conflict with the
// Pod's own selector, because overriding it would surprise the Pod's author.
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

// Validate repeats the checks, because a later plugin may have changed the selector.
func (p nodeSelectorPlugin) Validate(a *request.Attributes) error {
	if _, err := p.ofNamespace(a); err != nil {
		return err
	}
	return p.checkWhitelist(a)
}

// checkWhitelist checks the merged labels, including the namespace's selector.
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
