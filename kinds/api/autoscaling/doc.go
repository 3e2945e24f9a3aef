// Package autoscaling holds the rules of HorizontalPodAutoscalers, which are stored as v2
// (horizontalpodautoscaler.go), and the lossless conversions of other versions.
//
// Annotations hold values for which a version has no field. They exist only in converted objects.
// The server creates the annotations when a client reads an old version. When the client writes the
// object, they become fields again. A v1 client can therefore read, change and write an autoscaler
// without losing metrics that it does not know.
package autoscaling
