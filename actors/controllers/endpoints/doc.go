// Package endpoints holds the controllers that say where the backends of Services are.
//
//	Slices     keeps the EndpointSlices of Services with a selector
//	Endpoints  keeps their Endpoints objects, for clients that do not know slices
//	Mirror     writes the Endpoints that users make for Services without a selector into slices as well
//
// Backends is what the first two stand on: which Pods each Service selects, and of each Pod what counts. It begins to watch
// Pods and nodes when a Service has a selector, and keeps nothing of a Pod that no Service selects.
//
// What is computed are pure functions of a Service, its Pods and what is stored: pack puts endpoints into slices and
// changes as few of these as it can, subsetsOf packs addresses into the subsets of an Endpoints object, truncate leaves as
// many as one may have, mirroredGroups takes a user's Endpoints apart.
//
// Invariants:
//
//   - A slice has at most 100 endpoints of one address type, a mirrored one 1,000; an Endpoints object 1,000 addresses.
//   - An endpoint is in one slice. It stays there while it serves.
//   - A controller changes only slices that name it as their manager, and deletes those whose owner is another object of
//     the same name.
//   - A Service with a selector has at least one slice of each of its families, if need be one without endpoints.
package endpoints
