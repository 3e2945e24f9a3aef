// Package endpoints provides the controllers that publish the backends of Services.
//
//	Slices     maintains the EndpointSlices of Services with a selector
//	Endpoints  maintains these Services' Endpoints for clients that do not use slices
//	Mirror     copies users' Endpoints of Services without a selector into slices
//
// For Slices and Endpoints, Backends tracks which Pods each Service selects. It watches Pods and
// nodes once a Service has a selector, and keeps only selected Pods.
//
// Pure functions compute the results. pack distributes endpoints over slices with few changes,
// subsetsOf packs addresses into subsets, truncate limits the subsets, and mirroredGroups splits a
// user's Endpoints.
//
// Invariants:
//
//   - A slice has at most 100 endpoints of one address type, and a mirrored slice at most
//     1,000. An Endpoints object has at most 1,000 addresses.
//   - Each endpoint is in exactly one slice and stays there while it serves.
//   - A controller changes only slices that name it as their manager. It deletes slices whose
//     owner was recreated with another uid.
//   - A Service with a selector has at least one slice per family, which may have no
//     endpoints.
package endpoints
