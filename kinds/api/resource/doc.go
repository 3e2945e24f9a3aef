// Package resource holds the rules of dynamic resource allocation. Drivers publish ResourceSlices,
// administrators write DeviceClasses, and users write ResourceClaims. The scheduler evaluates
// device selectors. These rules check that they compile.
package resource
