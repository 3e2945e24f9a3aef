//go:build !unix

package main

func work() { panic("a worker needs sockets that carry files") }
