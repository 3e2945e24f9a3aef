// Package apply tests server-side apply and managed fields from outside, over HTTP: who owns
// what after which write, and what that does to the object.
package apply
