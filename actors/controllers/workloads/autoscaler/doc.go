// Package autoscaler sizes what HorizontalPodAutoscalers name, by metrics that other servers have.
//
//	Controller  one turn for each autoscaler, every period
//	source      reads metrics from the servers of the groups metrics, custom.metrics and external.metrics
//	samples     the newest value of a metric for each Pod
//	proposal    how many replicas one metric asks for, and what it says of itself in the status
//	history     what was recommended and done lately, for one autoscaler
//
// Proposals are functions of samples, Pods and a target (calculation), and the size is one of the largest proposal, the bounds
// and the history (behavior): neither reads nor writes anything. Replicas are whole numbers, values thousandths.
//
// A Pod that has no sample, or is not ready, must not make the size swing: it counts as what argues against the change that the
// others ask for, and a change that it would turn around is none. The history is in memory only: after a restart
// it begins with the size that there is, so nothing shrinks before a stabilization window has passed.
package autoscaler
