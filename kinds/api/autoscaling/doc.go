// Package autoscaling validates and defaults HorizontalPodAutoscalers, which are stored as v2
// (horizontalpodautoscaler.go), and converts other versions without loss.
//
// Older versions serve the values that they have no field for as annotations. A write converts the
// annotations back to fields, so they are never stored. A v1 client can therefore update an
// autoscaler without losing metrics that v1 cannot represent.
package autoscaling
