// Package autoscaler scales the targets of HorizontalPodAutoscalers by metrics of extension
// servers.
//
// Controller  one turn per autoscaler and period
// source      reads metrics.*, custom.metrics.* and external.metrics.*
// samples     the newest value of a metric per Pod
// proposal    the desired replicas of one metric, and its status
// history     recent recommendations and changes of one autoscaler
//
// Proposals are functions of samples, Pods and a target (calculation). The size is a function of
// the largest proposal, the bounds and the history (behavior). Replicas are whole numbers, values
// thousandths.
//
// A Pod without a sample, or not ready, must not make the size oscillate: it counts against the
// change, and a change that it would reverse is dropped. The history is in memory only. After a
// restart it starts with the current size, so nothing shrinks before a stabilization window has
// passed.
package autoscaler
