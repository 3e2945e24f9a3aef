package audit

// DefaultPolicy returns the default Policy: Metadata of every request, except for frequent health
// and discovery requests. It writes no bodies, and thus no Secrets, ConfigMaps or tokens.
func DefaultPolicy() *Policy {
	return &Policy{
		omitStages: 1 << RequestReceived,
		rules: []rule{
			{level: None, verbs: []string{"get", "head"}, paths: []string{"/livez*", "/readyz*", "/healthz*", "/version", "/api*", "/openapi/*"}},
			{level: Metadata},
		},
	}
}
