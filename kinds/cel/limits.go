package cel

// Run-time cost limits, in units of CEL; a million units take about a tenth of a second. They are
// those of kube-apiserver, so that its expressions run here.
const (
	PerCallLimit          = 1_000_000  // one evaluation
	RuntimeBudget         = 10_000_000 // all of one object, or of one binding of a policy
	MatchConditionsBudget = RuntimeBudget / 4
)

// Limits of estimated costs of a CRD. They exceed the run-time limits, because estimates assume
// that every list and text has its maximum length.
const (
	EstimatedRuleLimit       = 10_000_000  // one rule
	EstimatedDefinitionLimit = 100_000_000 // all rules of one schema
)

// MaxMessage bounds the result of a messageExpression, in bytes.
const MaxMessage = 5 << 10

// checkFrequency is the number of loop steps between checks of the context.
const checkFrequency = 100

// maxRequest is the size of a request that estimates assume, in bytes.
const maxRequest = 3 << 20
