// Package security attacks a running daemon over TLS, mostly with raw bytes, and checks the
// answers that the design's list of attacks demands. Each test names one attack.
package security
