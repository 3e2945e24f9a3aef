// Package amount adds up and compares quantities of resources, such as the cpu of all Pods of a
// namespace. The usual amounts are computed as integers, all others by exact decimal arithmetic. An Amount
// keeps how it was written, with suffixes of powers of 1000 or of 1024, as quantities do.
package amount
