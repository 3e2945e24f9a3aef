package audit

// DefaultPolicy is the Policy of those who have given none: Metadata of every request, but nothing
// of what is asked for all the time and tells nothing, which is health and discovery. No body
// is ever written, so no Secret, ConfigMap or token.
func DefaultPolicy() *Policy {
	return &Policy{
		omitStages: 1 << RequestReceived,
		rules: []rule{
			{level: None, verbs: []string{"get", "head"}, paths: []string{"/livez*", "/readyz*", "/healthz*", "/version", "/api*", "/openapi/*"}},
			{level: Metadata},
		},
	}
}
