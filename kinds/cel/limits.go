package cel

// Run-time cost limits, in CEL cost units, as in kube-apiserver. A million units take about 100 ms.
const (
	PerCallLimit          = 1_000_000  // per evaluation
	RuntimeBudget         = 10_000_000 // per object or policy binding
	MatchConditionsBudget = RuntimeBudget / 4
)

// Limits on the estimated cost of a CRD's rules. They exceed the run-time limits, because estimates
// assume that every list and string has its maximum length.
const (
	EstimatedRuleLimit       = 10_000_000  // per rule
	EstimatedDefinitionLimit = 100_000_000 // per schema, for all rules
)

// MaxMessage is the maximum length of a messageExpression result, in bytes.
const MaxMessage = 5 << 10

// checkFrequency is the number of loop steps between checks of the context.
const checkFrequency = 100

// maxRequest is the request size that cost estimates assume, in bytes.
const maxRequest = 3 << 20
