package cel

// What expressions may cost when they run, in the units of CEL. A million units take about a tenth of a
// second. The limits are those of the public API, so an expression that runs there is not stopped here.
const (
	PerCallLimit          = 1_000_000  // one evaluation
	RuntimeBudget         = 10_000_000 // all for one object, or for one binding of a policy
	MatchConditionsBudget = RuntimeBudget / 4
)

// What expressions of a definition may cost at most by their estimates. The limits are higher than those of
// running, because an estimate takes every list and text to be as long as it may be.
const (
	EstimatedRuleLimit       = 10_000_000  // one of them
	EstimatedDefinitionLimit = 100_000_000 // all of one schema
)

// MaxMessage bounds the result of a messageExpression, in bytes.
const MaxMessage = 5 << 10

// checkFrequency is the number of steps of a loop after which an expression checks whether its context has ended.
const checkFrequency = 100

// maxRequest is the size of a request that estimates assume, in bytes.
const maxRequest = 3 << 20
