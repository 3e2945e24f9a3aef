package plugins

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

var namespaces = meta.GroupResource{Resource: "namespaces"}

// NamespacePlacements caches the scheduling annotations of namespaces. Two plugins share it.
type NamespacePlacements struct {
	objects policy.Objects
	cache   *policy.Cache[*namespacePlacement]

	nodeSelector, defaults, whitelist string // annotation keys in the naming profile
}

// NewNamespacePlacements returns a server's NamespacePlacements.
func NewNamespacePlacements(naming *meta.Naming, objects policy.Objects) *NamespacePlacements {
	n := &NamespacePlacements{
		objects:      objects,
		nodeSelector: naming.Translate("scheduler.alpha.platform.io/node-selector"),
		defaults:     naming.Translate("scheduler.alpha.platform.io/defaultTolerations"),
		whitelist:    naming.Translate("scheduler.alpha.platform.io/tolerationsWhitelist"),
	}
	n.cache = policy.NewCache(namespaces, n.parse)
	return n
}

// A namespacePlacement holds a namespace's parsed annotations. Absent annotations are nil. A
// malformed annotation does not invalidate the namespace, because its author may not know these
// plugins. Instead, Pods in the namespace are rejected.
type namespacePlacement struct {
	nodeSelector        map[string]string
	defaults, whitelist []tree.Tree // tolerations

	nodeSelectorErr, defaultsErr, whitelistErr error
}

func (n *NamespacePlacements) of(namespace string) *namespacePlacement {
	if placement, ok := n.cache.Get("", namespace); ok {
		return placement
	}
	if o := n.objects.Get(namespaces, "", namespace); o != nil {
		return n.parse(o)
	}
	return &namespacePlacement{}
}

// parse parses the annotations of a namespace. Unlike an absent annotation, an empty one disables
// the server's default.
func (n *NamespacePlacements) parse(o *policy.Object) *namespacePlacement {
	var p namespacePlacement
	annotations := o.Tree.Annotations()
	if text, ok := annotations[n.nodeSelector].(string); ok {
		p.nodeSelector, p.nodeSelectorErr = parseNodeSelector(text)
	}
	if text, ok := annotations[n.defaults].(string); ok {
		p.defaults, p.defaultsErr = parseTolerations(text)
	}
	if text, ok := annotations[n.whitelist].(string); ok {
		p.whitelist, p.whitelistErr = parseTolerations(text)
	}
	return &p
}

// parseNodeSelector parses "key=value,key=value". The map is never nil.
func parseNodeSelector(text string) (map[string]string, error) {
	selector := map[string]string{}
	if text == "" {
		return selector, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		parts := strings.Split(item, "=")
		if len(parts) != 2 {
			return selector, fmt.Errorf("invalid selector: %s", parts)
		}
		key, value := strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1])
		if faults := rules.QualifiedName(key); len(faults) > 0 {
			return selector, fmt.Errorf("invalid label key %q: %s", key, strings.Join(faults, "; "))
		}
		if faults := rules.LabelValue(value); len(faults) > 0 {
			return selector, fmt.Errorf("invalid label value: %q: at key: %q: %s", value, key, strings.Join(faults, "; "))
		}
		selector[key] = value
	}
	return selector, nil
}

// parseTolerations parses a JSON list of tolerations. The slice is never nil.
func parseTolerations(text string) ([]tree.Tree, error) {
	if text == "" {
		return []tree.Tree{}, nil
	}
	v, _, err := codec.DecodeAny([]byte(text))
	if err != nil {
		return []tree.Tree{}, err
	}
	list, ok := v.([]any)
	if !ok {
		return []tree.Tree{}, fmt.Errorf("tolerations: %s is not a list", text)
	}
	tolerations := make([]tree.Tree, 0, len(list))
	for i, item := range list {
		given, ok := item.(tree.Tree)
		if !ok {
			return tolerations, fmt.Errorf("tolerations[%d] is not an object", i)
		}
		t := tree.Tree{}
		for _, name := range []string{"key", "operator", "value", "effect"} {
			if given.Has(name) {
				text, ok := given[name].(string)
				if !ok {
					return tolerations, fmt.Errorf("tolerations[%d].%s is not a string", i, name)
				}
				t[name] = text
			}
		}
		if given.Has("tolerationSeconds") {
			seconds, ok := given.Int("tolerationSeconds")
			if !ok {
				return tolerations, fmt.Errorf("tolerations[%d].tolerationSeconds is not an integer", i)
			}
			t["tolerationSeconds"] = seconds
		}
		tolerations = append(tolerations, t)
	}
	return tolerations, nil
}
