// Package authorization holds the rules of access reviews.
package authorization
