// Package endpoints holds the controllers that publish the backends of Services.
//
// Slices     keeps the EndpointSlices of Services with a selector
// Endpoints  keeps their Endpoints objects, for clients that do not know slices
// Mirror     copies users' Endpoints of Services without a selector into slices
//
// Backends tracks, for the first two, which Pods each Service selects. It watches Pods and nodes
// once a Service has a selector, and keeps only selected Pods.
//
// Results are pure functions: pack distributes endpoints over slices with few changes, subsetsOf
// packs addresses into subsets, truncate limits these, and mirroredGroups splits a user's
// Endpoints.
//
// Invariants:
//
//   - A slice has at most 100 endpoints of one address type, a mirrored one 1,000; an Endpoints
//     object 1,000 addresses.
//   - An endpoint is in one slice. It stays there while it serves.
//   - A controller changes only slices that name it as their manager, and deletes those whose owner
//     is another object of the same name.
//   - A Service with a selector has at least one slice per family, if need be without endpoints.
package endpoints
