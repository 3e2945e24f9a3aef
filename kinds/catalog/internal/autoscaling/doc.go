// Package autoscaling holds the rules of HorizontalPodAutoscalers, which are stored as v2
// (horizontalpodautoscaler.go, metrics.go), and the conversions of the other versions. What a version has
// no field for is carried in annotations, so that no conversion loses anything.
//
// The annotations exist in converted objects only. They are made when a client asks for an old version and
// are taken back into fields when it writes, so that a client of v1 that reads, changes and writes an
// autoscaler leaves the metrics it knows nothing of as they were.
package autoscaling
