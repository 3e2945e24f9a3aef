// Package coordination holds the rules of Leases.
package coordination
