package catalog

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// rulesOf lists the functions for what declarations cannot say, by "group/Kind" in
// platform form; the core group is "". It is the one place that names them.
func rulesOf(n *meta.Naming) map[string]schema.Rules {
	return map[string]schema.Rules{
		"/ConfigMap": configMapRules(),
		"/Event":     eventRules(),
		"/Namespace": namespaceRules(n),
		"/Pod":       podRules(n),
		"/Secret":    secretRules(n),
	}
}
