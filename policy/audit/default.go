package audit

// DefaultPolicy returns the policy used without a policy file. It records metadata, but no bodies,
// of every request except frequent health and discovery requests.
func DefaultPolicy() *Policy {
	return &Policy{[]rule{
		{level: None, verbs: []string{"get", "head"}, paths: []string{"/livez*", "/readyz*", "/healthz*", "/version", "/api*", "/openapi/*"}},
		{level: Metadata, omitStages: 1 << RequestReceived},
	}}
}
