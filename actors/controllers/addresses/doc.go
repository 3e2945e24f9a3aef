// Package addresses holds the controllers of Service address ranges.
//
// Repair        creates the default ServiceCIDR, and missing IPAddresses of Services
// ServiceCIDRs  keeps the condition Ready of ServiceCIDRs, and terminating ones while they are used
//
// Package actors/allocation allocates addresses. It follows ServiceCIDRs and IPAddresses, and
// commits each IPAddress with its Service, so no addresses leak. Repair only handles data of
// versions without IPAddresses, and IPAddresses that users have created for Services.
package addresses
