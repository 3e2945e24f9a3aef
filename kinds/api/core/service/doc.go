// Package service interprets and validates Service specs for the core group and for address and
// port allocation.
package service
