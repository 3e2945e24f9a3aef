// Package warning finds what several kinds warn of in objects that are valid: addresses in unusual forms
// (Addresses), deprecated labels of nodes (NodeLabels), fractional amounts of bytes (FractionalBytes), and names
// that make no host names (HostName).
//
// The words are those that clients know. Where nothing is to be warned of, nothing is allocated: so most
// functions return only what follows the path of the field, and callers make the path once there is something.
package warning
