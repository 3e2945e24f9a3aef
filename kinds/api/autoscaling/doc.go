// Package autoscaling validates and defaults HorizontalPodAutoscalers, which are stored as v2
// (horizontalpodautoscaler.go), and converts other versions without loss.
//
// In older versions, annotations contain the values for which the version has no field. A write
// converts the annotations back to fields, so they are never stored. A v1 client can update an
// autoscaler without losing metrics that v1 cannot represent.
package autoscaling
