package reference

// What the cases of notYet wait for.
const (
	impersonation   = "impersonation is not served yet"
	serviceAccounts = "tokens of service accounts are not signed yet"
	customKinds     = "custom kinds are not served yet"
	roles           = "roles and their bindings are not served yet"
)

// notYet lists the cases that need something that is not served yet, and what it is.
var notYet = map[string]string{
	"authn/impersonate":                       impersonation,
	"authn/impersonate-group-only":            impersonation,
	"authn/impersonate-sa":                    impersonation,
	"authn/impersonate-ssar":                  impersonation,
	"crd/bad-cel":                             customKinds,
	"crd/use":                                 customKinds,
	"crd/status":                              customKinds,
	"crd/protobuf-refused":                    customKinds,
	"crd/transition-rule":                     customKinds,
	"crd/versions":                            customKinds,
	"crd/delete-removes":                      customKinds,
	"rbac/enforced":                           roles,
	"rbac/escalation":                         roles,
	"rbac/bootstrap-system-discovery":         roles,
	"rbac/bootstrap-system-node-bootstrapper": roles,
	"sa/token":                                serviceAccounts,
	"sa/token-short":                          serviceAccounts,
}
