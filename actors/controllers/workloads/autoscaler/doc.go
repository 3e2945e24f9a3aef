// Package autoscaler scales the targets of HorizontalPodAutoscalers by metrics from extension API
// servers.
//
//	Controller  takes one turn per autoscaler and period
//	source      reads metrics.*, custom.metrics.* and external.metrics.*
//	samples     holds the newest value of a metric per Pod
//	proposal    is the desired number of replicas for one metric, with its status
//	history     holds recent recommendations and changes of one autoscaler
//
// A proposal is computed from samples, Pods and a target (calculation.go). The size is computed
// from the largest proposal, the bounds and the history (behavior.go). Replicas are whole numbers.
// Metric values are in thousandths.
//
// Pods that are not ready or have no sample must not make the size oscillate. Assumed samples for
// these Pods make a change smaller. If they would reverse the change, the size is kept. The history
// is kept in memory only. After a restart it starts with the current size, so that nothing shrinks
// before a stabilization window has passed.
package autoscaler
