// Package resource validates and defaults the kinds of dynamic resource allocation. Drivers publish
// ResourceSlices, administrators write DeviceClasses, and users write ResourceClaims. Validation
// only compiles device selectors. The scheduler evaluates them.
package resource
