// Package autoscaler scales the targets of HorizontalPodAutoscalers by metrics from extension API
// servers.
//
//	Controller  reconciles each autoscaler once per period
//	source      reads metrics.*, custom.metrics.* and external.metrics.*
//	samples     holds the newest value of a metric per Pod
//	proposal    is the desired number of replicas for one metric, with its status
//	history     holds recent recommendations and changes of one autoscaler
//
// A proposal is computed from samples, Pods and a target (calculation.go). The desired replica
// count is computed from the largest proposal, the limits in the spec and the history
// (behavior.go). Metric values are in thousandths.
//
// Pods that are not ready or have no sample must not make the replica count oscillate. The
// controller assumes samples for these Pods, which dampen the change. If they would reverse its
// direction, the count stays the same. The history is kept in memory only. After a restart, it
// starts with the current replica count, so that nothing is scaled down before a stabilization
// window has passed.
package autoscaler
