// Package addresses holds the controllers for the address ranges of Services.
//
//	Repair        creates the default ServiceCIDR and missing IPAddresses of Services
//	ServiceCIDRs  maintains the Ready condition and protects ServiceCIDRs in use from deletion
//
// Package actors/allocation allocates the addresses. It observes ServiceCIDRs and IPAddresses and
// commits each IPAddress with its Service, so addresses do not leak. Repair only handles data from
// versions without IPAddresses, and IPAddresses that users have created for Services.
package addresses
