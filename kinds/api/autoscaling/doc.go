// Package autoscaling holds the rules of HorizontalPodAutoscalers, which are stored as v2
// (horizontalpodautoscaler.go), and the lossless conversions of other versions.
//
// Annotations hold values for which a version has no field. They exist only in converted objects:
// they are created when a client requests an old version, and become fields again when it writes.
// So a v1 client that reads, changes and writes an autoscaler preserves metrics that it does not
// know.
package autoscaling
