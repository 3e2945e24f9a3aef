// Package addresses holds what keeps the ranges and the addresses of Services in order.
//
//	Repair        makes the default ServiceCIDR, and the IPAddresses that Services of older data lack
//	ServiceCIDRs  keeps the condition Ready of ServiceCIDRs, and those that are being deleted while they are needed
//
// Addresses are given out by package actors/allocation, which learns of ServiceCIDRs and IPAddresses as they are
// published, and has each IPAddress committed with its Service. So nothing here runs in order to find addresses that were
// lost: what Repair mends can only come from data of a version without IPAddresses, or from users who make IPAddresses
// that claim to be those of a Service.
package addresses
