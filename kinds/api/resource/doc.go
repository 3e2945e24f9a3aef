// Package resource holds the rules of dynamic resource allocation. Drivers publish ResourceSlices,
// administrators write DeviceClasses, and users write ResourceClaims. The scheduler evaluates
// device selectors. The rules check that the selectors compile.
package resource
