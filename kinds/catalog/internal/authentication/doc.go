// Package authentication holds the rules of token requests, and the bounds of the life of a token,
// which everything that asks for tokens shares.
package authentication
