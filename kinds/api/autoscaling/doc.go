// Package autoscaling validates and defaults HorizontalPodAutoscalers, which are stored as v2
// (horizontalpodautoscaler.go), and converts other versions without loss.
//
// When a client reads an older version, annotations hold the values for which that version has no
// field. On a write, these values become fields again, so the annotations are never stored. A v1
// client can update an autoscaler without losing metrics that v1 cannot represent.
package autoscaling
