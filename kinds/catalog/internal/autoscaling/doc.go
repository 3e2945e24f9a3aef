// Package autoscaling holds the rules of HorizontalPodAutoscalers, which are stored as v2
// (horizontalpodautoscaler.go, metrics.go), and the conversions of the other versions. What a version has
// no field for is carried in annotations, so that no conversion loses anything.
package autoscaling
