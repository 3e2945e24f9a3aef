// Package amount adds and compares quantities, such as the cpu of all Pods of a namespace, and
// lists of them, such as the requests of all containers of a Pod. It computes usual amounts as
// integers and others with exact decimal arithmetic. An Amount keeps its format: suffixes of powers
// of 1000 or 1024.
package amount
