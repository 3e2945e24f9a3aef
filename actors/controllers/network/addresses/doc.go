// Package addresses provides the controllers for Service IP ranges.
//
//	Repair        creates the default ServiceCIDR and Services' missing IPAddresses
//	ServiceCIDRs  maintains the Ready condition and protects ServiceCIDRs in use from deletion
//
// Package actors/allocation allocates the addresses. It commits each IPAddress with its Service, so
// addresses do not leak. Repair only handles data written by versions without IPAddresses, and
// IPAddresses that users created for Services.
package addresses
