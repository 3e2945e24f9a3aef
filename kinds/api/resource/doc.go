// Package resource validates and defaults the kinds of dynamic resource allocation. Drivers publish
// ResourceSlices, administrators write DeviceClasses, and users write ResourceClaims. The rules
// check that device selectors compile, and the scheduler evaluates the selectors.
package resource
