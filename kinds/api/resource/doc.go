// Package resource validates and defaults the kinds of dynamic resource allocation. Drivers
// publish ResourceSlices, administrators write DeviceClasses, and users write ResourceClaims.
// Validation checks that device selectors compile. The scheduler evaluates them.
package resource
