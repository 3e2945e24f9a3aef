package api

// A departure is a recorded case for which this server intentionally responds differently.
type departure struct {
	step int // index of the first different step
	code int // status code of its response
	why  string
}

const ratcheted = "rules of values that an update leaves as they were do not run, so they do not warn"

// differs contains the cases listed in docs/departures.md.
var differs = map[string]departure{
	"cr/data-immutable":                        {2, 200, "only the data may not change; the reference takes the same data in another text for other data"},
	"create/with-resourceVersion":              {0, 400, "the reference answers 500; a version in a create is the client's fault"},
	"csidriver/immutable":                      {2, 422, "the specification (2-resource-catalog.md) keeps fsGroupPolicy as it is"},
	"discovery/aggregated":                     {0, 200, "autoscaling/v2beta2 is served as the specification wants it"},
	"dryRun/deletecollection":                  {1, 200, "the specification (1-conventions.md, 2-resource-catalog.md) answers a Status, not the list"},
	"endpoint/metrics":                         {0, 200, "the metrics are those of another program"},
	"endpoint/readyz-verbose":                  {0, 200, "the checks are those of another program"},
	"rbac/enforced":                            {4, 200, "the reference had not yet seen the binding that it had just answered"},
	"rbac/escalation":                          {2, 201, "the reference had not yet seen the binding, whose verbs include escalate"},
	"review/sar-no-user":                       {0, 422, "the reference forgets which kind is at fault"},
	"review/tokenreview-bad":                   {0, 201, "the reference returns managed fields of an object that is not stored"},
	"webhook/service-defaults":                 {0, 201, "the specification (3-authn-authz-admission-certificates.md) defaults the path"},
	"definitions/missing-stored-field-warning": {0, 201, "a served version that has a field which the stored one lacks loses it: the warning says so"},
	"definitions/ratchet-atomic":               {3, 200, ratcheted},
	"definitions/ratchet-map":                  {3, 200, ratcheted},
	"definitions/ratchet-sibling":              {3, 422, ratcheted},
	"definitions/ratchet-unchanged":            {3, 200, ratcheted},
	"fieldValidation/apply-strict":             {0, 400, "the reference answers 500; a field that there is not is the client's fault"},
}
