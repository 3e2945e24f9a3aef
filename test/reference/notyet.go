package reference

// What the cases of notYet wait for.
const (
	applies         = "server-side apply is not served yet"
	impersonation   = "impersonation is not served yet"
	everyKind       = "discovery lists every kind of the reference"
	serviceAccounts = "tokens of service accounts are not signed yet"
	customKinds     = "custom kinds are not served yet"
	roles           = "roles and their bindings are not served yet"
	storage         = "the kinds of storage are not served yet"
	nodes           = "nodes, leases and priority classes are not served yet"
)

// notYet lists the cases that need something that is not served yet, and what it is.
var notYet = map[string]string{
	"apply/no-manager":                        applies,
	"apply/yaml":                              applies,
	"apply/no-apiversion":                     applies,
	"apply/conflict":                          applies,
	"apply/update-takes-ownership":            applies,
	"apply/noop":                              applies,
	"apply/name-mismatch":                     applies,
	"apply/rv-conflict":                       applies,
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
	"discovery-apis-apps-v1":                  everyKind,
	"discovery-apis-discovery.k8s.io-v1":      everyKind,
	"discovery/aggregated":                    everyKind,
	"discovery/aggregated-core":               everyKind,
	"fieldValidation/apply-strict":            applies,
	"generation/PersistentVolumeClaimv1":      storage,
	"node/create":                             nodes,
	"node/status":                             nodes,
	"node/taint-on-create":                    nodes,
	"pv/quantity-canonical":                   storage,
	"rbac/enforced":                           roles,
	"rbac/escalation":                         roles,
	"rbac/bootstrap-system-discovery":         roles,
	"rbac/bootstrap-system-node-bootstrapper": roles,
	"sa/token":                                serviceAccounts,
	"sa/token-short":                          serviceAccounts,
}
