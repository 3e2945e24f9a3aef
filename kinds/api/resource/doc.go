// Package resource holds the rules of dynamic resource allocation. Drivers publish ResourceSlices,
// administrators write DeviceClasses, and users ResourceClaims. The scheduler evaluates device
// selectors, which must compile here.
package resource
