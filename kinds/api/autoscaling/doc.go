// Package autoscaling holds the rules of HorizontalPodAutoscalers, which are stored as v2
// (horizontalpodautoscaler.go), and the lossless conversions of other versions.
//
// When a client reads an older version, annotations hold the values for which that version has no
// field. On a write, the annotations become fields again, so they are never stored. A v1 client can
// update an autoscaler without losing metrics that v1 cannot represent.
package autoscaling
