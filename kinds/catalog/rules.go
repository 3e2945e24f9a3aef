package catalog

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// rulesOf lists the functions for what declarations cannot say, by
// "group/version/Kind" in platform form; the core group is "". It is the one place that names them.
func rulesOf(n *meta.Naming) map[string]schema.Rules {
	return map[string]schema.Rules{
		"/v1/ConfigMap": configMapRules(),
		"/v1/Event":     eventRules(),
		"/v1/Namespace": namespaceRules(n),
		"/v1/Pod":       podRules(n),
		"/v1/Secret":    secretRules(n),
	}
}
